"""Programs and files that the documentation shows work as they stand."""

import re
from pathlib import Path

import pytest

from adapters.appworld.prompt import Template
from injectors.memory_injector import MemoryInjector
from runtime.contracts import Task
from tests.support.chat_server import ChatServer, completion

ROOT = Path(__file__).parents[1]
TASK = Task(
    benchmark="appworld",
    id="t_1",
    scenario_id="t",
    dataset="all",
    instruction="Pay my roommate Ann back on Venmo.",
    context={"first_name": "Bo", "last_name": "Li", "email": "bo@x.org", "phone_number": "1"},
)


def block(page: str, language: str) -> str:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[-1]


def test_the_template_of_the_prompts_page_is_one(tmp_path):
    file = tmp_path / "template.txt"
    file.write_text(block("prompts.md", "jinja"))
    prompt = Template.load(file).prompt(TASK)
    system, user = prompt.messages
    assert "for Bo Li (bo@x.org)" in system.content
    assert user.content.endswith("back on Venmo.")
    assert "\n\nMEMORY\n\nNow write code" in prompt.with_block("MEMORY")[-1].content


def test_the_program_of_the_memory_page_makes_an_injector(monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(block("memory.md", "python"), names)
    injector = names["injector"]
    assert isinstance(injector, MemoryInjector)
    assert injector.task_start(TASK).cards


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_program_of_the_models_page_asks_a_model(tmp_path, monkeypatch, capsys):
    with ChatServer() as server:
        server.will(completion("hi"))
        text = f'[models.large]\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        (tmp_path / "models.toml").write_text(text)
        monkeypatch.chdir(tmp_path)
        exec(block("models.md", "python"), {})
    assert capsys.readouterr().out.startswith("hi ")
