"""models.toml: what it may hold, and what is said of what it may not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.errors import BadFile, NotReady, UnknownName, UsageError
from runtime.models.config import find_models_file, read_models_file, user_models_file
from runtime.models.resolve import Models
from runtime.models.toml_lines import line_of

EXAMPLE = """\
# Models of this folder.
[providers.local]
base_url = "http://127.0.0.1:8080/v1/"
concurrency = 2
requests_per_minute = 60

[models.small]
provider = "local"
model = "qwen2.5-coder"
roles = ["user", "assistant"]
send_seed = true
timeout_s = 900

[models.small.parameters]
temperature = 0
max_tokens = 1024
extra_body = { cache_prompt = false }

[models."vendor/large:v2"]
base_url = "https://api.example.com/v1"
api_key_env = "EXAMPLE_KEY"
model = "large-v2"
prices = { input = 2, cached = 0.5, output = 8.0 }
"""


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """An empty working folder and an empty user config folder."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_whole(tmp_path):
    file = read_models_file(write(tmp_path / "models.toml", EXAMPLE))
    small, large = file.endpoint("small"), file.endpoint("vendor/large:v2")
    assert small.provider.base_url == "http://127.0.0.1:8080/v1"
    assert (small.provider.concurrency, small.provider.requests_per_minute) == (2, 60)
    assert small.settings.parameters == {
        "temperature": 0,
        "max_tokens": 1024,
        "extra_body": {"cache_prompt": False},
    }
    assert small.settings.roles == ("user", "assistant")
    assert small.settings.send_seed
    assert small.settings.prices.input is None
    assert large.provider.api_key_env == "EXAMPLE_KEY"
    assert large.settings.prices.cached == 0.5
    assert large.provider_name != small.provider_name


def model(*lines: str) -> str:
    return "\n".join(("[models.m]", 'model = "x"', *lines))


URL = 'base_url = "http://h/v1"'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[models.m]\nmodel = = 1\n", 2, "not TOML"),
        ('[models.m]\nmodel = "x\n', 2, "not TOML"),
        ("[models.m]\n\nmodel = [1,\n", 3, "not TOML"),
        (model(URL, "temprature = 1"), 4, "models.m.temprature: unknown key"),
        ("\n[model.m]\n", 2, "unknown key"),
        (f"[models.m]\n{URL}\n", 1, "models.m.model: Field required"),
        ("\n[models.m.parameters]\nx = 1\n", 2, "models.m.model: Field required"),
        (model(), 1, "provider or base_url"),
        (model(URL, 'provider = "p"'), 1, "provider or base_url"),
        (model('provider = "p"', "concurrency = 1", "[providers.p]", URL), 1, "concurrency"),
        (model('provider = "locl"', "[providers.local]", URL), 3, "Nearest: local"),
        (model('base_url = "127.0.0.1:80"'), 3, "base_url looks like"),
        (model('base_url = "http://me:pw@h/v1"'), 3, "no password"),
        (model('base_url = "http://h:abc/v1"'), 3, "'abc'"),
        (model('base_url = "http://h:99999/v1"'), 3, "out of range"),
        (model('base_url = "http://h:-1/v1"'), 3, "base_url looks like"),
        (model('base_url = "http://h:0/v1"'), 3, "base_url looks like"),
        (model('base_url = "http://[::1/v1"'), 3, "base_url looks like"),
        (model('base_url = "http://my host/v1"'), 3, "without spaces"),
        (model('base_url = "http://h\\tx/v1"'), 3, "without spaces"),
        (model('base_url = "http://-\u2603-/v1"'), 3, "in ASCII"),
        (model('base_url = "http://h/v1?version=2"'), 3, "without ? and #"),
        (model(URL, f"parameters.deep = {'[' * 20_000}", "retries = 1"), 4, "recursion"),
        (model(URL, f"retries = {'9' * 6000}", "send_seed = true"), 4, "digits"),
        (model(URL, "[models.m.prices]", "input = -1"), 5, "models.m.prices.input"),
        (model(URL, "[models.m.prices]", "input = nan"), 5, "models.m.prices.input"),
        (model(URL, 'prices = { input = "1" , outptu = 2}'), 4, "models.m.prices.outptu"),
        (model(URL, "roles = ['system']"), 1, "roles must hold user"),
        (model(URL, "roles = ['user', 'assistant', 'god']"), 4, "models.m.roles.2"),
        (model(URL, "concurrency = 0"), 4, "models.m.concurrency"),
        (model(URL, "retries = 1000"), 4, "models.m.retries"),
        (model(URL, "parameters.stream = true"), 1, "cannot hold stream"),
        (model(URL, "parameters.extra_body.model = 'y'"), 1, "cannot hold model"),
        (model(URL, "parameters.seed = 1", "send_seed = true"), 1, "not both"),
        (model(URL, "parameters.when = 2020-01-01"), 4, "models.m.parameters.when"),
        ("x = 1", 1, "unknown key"),
    ],
)
def test_a_malformed_file_is_named_with_the_line(tmp_path, text, line, words):
    path = write(tmp_path / "models.toml", text)
    with pytest.raises(BadFile) as caught:
        read_models_file(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "pasted",
    [
        "",
        "MY-KEY",
        "$LAB_KEY",
        "sk-abcdefghijklmnop",
        "gsk_abcdefghijk1lmnopqrstuvwx",
        "hf_AbCdEfGhIjKlMnOpQrStUvWxYz",
        "AKIAIOSFODNN7EXAMPLE",
        "abcdefabcdefabcdefabcdefabcdefab",
    ],
)
def test_a_key_in_place_of_its_variable_is_refused_and_never_quoted(tmp_path, pasted):
    path = write(tmp_path / "models.toml", model(URL, f'api_key_env = "{pasted}"'))
    with pytest.raises(BadFile, match=r"line 4: .*api_key_env: this is no name") as caught:
        read_models_file(path)
    assert not pasted or pasted not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "_k2", "my_key_2", "AZURE_OPENAI_KEY_EU_WEST_2"]
)
def test_names_of_variables_are_taken(tmp_path, name):
    path = write(tmp_path / "models.toml", model(URL, f'api_key_env = "{name}"'))
    assert read_models_file(path).endpoint("m").provider.api_key_env == name


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(BadFile, match="No such file"):
        read_models_file(tmp_path / "models.toml")
    (tmp_path / "models.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadFile, match="UTF-8"):
        read_models_file(tmp_path / "models.toml")


def test_a_line_is_found_for_dotted_quoted_and_nested_keys():
    text = 'a.b = 1\n[c]\n"d e" = { f = 2 }\n[c.g]\nh = 3\n'
    assert line_of(text, ("a", "b")) == 1
    assert line_of(text, ("c", "d e", "f")) == 3
    assert line_of(text, ("c", "g", "h")) == 5
    assert line_of(text, ("c", "missing")) == 2
    assert line_of(text, ("nowhere",)) is None
    assert line_of(text, ()) is None


def test_the_given_file_wins_then_the_working_folder_then_the_users(home):
    assert find_models_file() is None
    user = write(user_models_file(), EXAMPLE)
    assert home in user.parents
    assert find_models_file() == user
    write(Path("models.toml"), EXAMPLE)
    assert find_models_file() == Path("models.toml")
    assert find_models_file(home / "other.toml") == home / "other.toml"


def test_an_unknown_name_is_answered_with_the_nearest(home):
    write(Path("models.toml"), EXAMPLE)
    with pytest.raises(UnknownName, match=r"'smal'.*Nearest: .*small.*models\.toml"):
        Models().resolve("smal")


def test_without_a_file_it_says_where_to_write_one(home):
    with pytest.raises(UnknownName) as caught:
        Models().resolve("gpt")
    assert str(user_models_file()) in str(caught.value)
    assert "openai:MODEL" in str(caught.value)


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_its_variable(home, value):
    write(Path("models.toml"), EXAMPLE)
    environ = {} if value is None else {"EXAMPLE_KEY": value}
    with pytest.raises(NotReady, match="export EXAMPLE_KEY="):
        Models(environ=environ).resolve("vendor/large:v2")


def test_a_key_with_stray_characters_is_not_quoted(home):
    write(Path("models.toml"), EXAMPLE)
    with pytest.raises(NotReady, match="EXAMPLE_KEY") as caught:
        Models(environ={"EXAMPLE_KEY": "abc\ndef"}).resolve("vendor/large:v2")
    assert "abc" not in str(caught.value)


async def test_a_configured_model_answers_and_hides_its_key(home, server):
    text = f'[models.m]\nmodel = "x"\nbase_url = "{server.base_url}"\napi_key_env = "K"\n'
    source = Models(
        models_file=write(home / "mine.toml", text), environ={"K": "a-secret-of-mine"}
    ).resolve("m")
    assert source.name == "m"
    assert source.secrets() == ("a-secret-of-mine",)
    assert source.describe()["base_url"] == server.base_url
    await source.close()


async def test_openai_is_configured_by_the_environment(home, server):
    environ = {"OPENAI_API_KEY": "a-secret-of-mine", "OPENAI_BASE_URL": server.base_url}
    source = Models(environ=environ).resolve("openai:gpt-x")
    assert (source.name, source.describe()["model"]) == ("openai:gpt-x", "gpt-x")
    await source.check()
    assert server.requests[-1].headers["authorization"] == "Bearer a-secret-of-mine"
    await source.close()


async def test_openai_without_a_base_url_is_openai_itself(home):
    source = Models(environ={"OPENAI_API_KEY": "a-secret-of-mine"}).resolve("openai:gpt-x")
    assert source.describe()["base_url"] == "https://api.openai.com/v1"
    await source.close()


def test_openai_without_a_key_names_the_variable(home):
    with pytest.raises(NotReady, match="export OPENAI_API_KEY="):
        Models(environ={}).resolve("openai:gpt-x")


@pytest.mark.parametrize("address", ["localhost", "http://h:abc/v1", "http://h:99999/v1"])
def test_openai_with_a_base_url_that_is_none(home, address):
    environ = {"OPENAI_API_KEY": "a-secret-of-mine", "OPENAI_BASE_URL": address}
    with pytest.raises(UsageError, match="OPENAI_BASE_URL: a base_url looks like"):
        Models(environ=environ).resolve("openai:gpt-x")


async def test_models_of_one_provider_share_its_limits(home, server):
    text = f"""
        [providers.p]
        base_url = "{server.base_url}"
        concurrency = 1
        [models]
        a = {{ provider = "p", model = "a" }}
        b = {{ provider = "p", model = "b" }}
        c = {{ base_url = "{server.base_url}", model = "c", concurrency = 1 }}
    """
    models = Models(models_file=write(home / "mine.toml", text))
    a, again, b, c = (models.resolve(name) for name in "aabc")
    assert a._throttle is again._throttle is b._throttle
    assert a._throttle is not c._throttle
    for source in (a, again, b, c):
        await source.close()


def test_a_misspelt_scheme_offers_the_personas(home, tmp_path):
    write(tmp_path / "personas" / "careful" / "t_1.md", "## turn\nhi\n")
    models = Models(personas=[tmp_path / "personas"])
    with pytest.raises(UnknownName, match="Nearest: scripted:careful"):
        models.resolve("sripted:careful")
    assert models.names() == ("scripted:careful",)


def test_resolving_what_needs_no_endpoint_does_not_import_openai(tmp_path):
    write(tmp_path / "careful" / "t_1.md", "## turn\nhi\n")
    program = (
        "import sys, pathlib; from runtime.models.resolve import Models; "
        f"Models(personas=[pathlib.Path({str(tmp_path)!r})]).resolve('scripted:careful'); "
        "sys.exit('openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
