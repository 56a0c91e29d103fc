"""Requests of cells as calls of the table: one canonical form, everything else refused."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.appworld.routes import Routes
from runtime.bridge.world import Route, Unrouted
from runtime.contracts import Kind

ROWS = [
    ("notes.show_note", "READ", "GET", "/notes/notes/{note_id}", ["note_id:integer"]),
    ("notes.search_notes", "READ", "GET", "/notes/notes", ["query:string", "page:integer"]),
    ("notes.create_note", "WRITE", "POST", "/notes/notes", ["title:string"]),
    ("notes.delete_note", "WRITE", "DELETE", "/notes/notes/{note_id}", ["note_id:integer"]),
    ("notes.login", "READ", "POST", "/notes/auth/token", ["username:string"]),
    ("notes.special", "READ", "GET", "/notes/notes/special", []),
]


@pytest.fixture(scope="module")
def routes() -> Routes:
    return table()


def table() -> Routes:
    def parameter(spec: str) -> dict[str, Any]:
        name, _, type_ = spec.partition(":")
        shared = {"required": True, "default": None, "has_default": False}
        return {"name": name, "type": type_, **shared}

    return Routes(
        {
            "name": name,
            "kind": kind,
            "reason": "test",
            "method": method,
            "path": path,
            "parameters": [parameter(spec) for spec in specs],
        }
        for name, kind, method, path, specs in ROWS
    )


def call(method: str, url: str, **fields: Any) -> dict[str, Any]:
    return {"op": "call", "method": method, "url": url, **fields}


def routed(routes: Routes, method: str, url: str, **fields: Any) -> Route:
    route = routes.route(call(method, url, **fields))
    assert isinstance(route, Route), route
    return route


@pytest.mark.parametrize(
    "url",
    [
        "/notes/notes/7",
        "notes/notes/7",
        "/notes/notes/7/",
        "/notes/notes/%37",
        "/no%74es/notes/7",
        "http://testserver/notes/notes/7",
        "/notes/notes/7?x=1",
        "/notes/notes/7#part",
    ],
)
def test_spellings_of_one_path_are_one_call(routes: Routes, url: str) -> None:
    route = routed(routes, "get", url)
    assert route.function == "notes.show_note"
    assert route.arguments["note_id"] == 7
    assert route.frame["path"] == "/notes/notes/7"


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("POST", "/dbs"),
        ("POST", "/date_time"),
        ("GET", "/"),
        ("GET", "/notes"),
        ("GET", "//notes//notes"),
        ("GET", "/notes/../notes/notes"),
        ("DELETE", "/notes/notes/.."),
        ("DELETE", "/notes/notes/%2e%2e"),
        ("DELETE", "/notes/notes/a%2Fb"),
        ("DELETE", "/notes/notes/"),
        ("GET", "http://elsewhere/notes/notes/7"),
        ("GET", "http://testserver.evil/notes/notes/7"),
        ("GET", "http://testserver@evil/notes/notes/7"),
        ("PURGE", "/notes/notes"),
        ("GET", "/notes/notes/7\0"),
    ],
)
def test_what_is_no_function_is_refused(routes: Routes, method: str, url: str) -> None:
    assert isinstance(routes.route(call(method, url)), Unrouted)


def test_a_literal_path_comes_before_one_with_arguments(routes: Routes) -> None:
    assert routed(routes, "GET", "/notes/notes/special").function == "notes.special"


def test_arguments_come_from_the_one_place_the_engine_reads(routes: Routes) -> None:
    places = {"params": {"title": "p"}, "json": {"title": "j"}, "data": {"title": "d"}}
    create = routed(routes, "POST", "/notes/notes?title=q", **places)
    assert create.arguments == create.frame["arguments"] == {"title": "j"}
    login = routed(routes, "POST", "/notes/auth/token", data={"username": "a"}, json={"x": 1})
    assert login.arguments == login.frame["arguments"] == {"username": "a"}
    search = routed(routes, "GET", "/notes/notes?query=q&page=1", params={"query": "p"})
    assert search.arguments == search.frame["arguments"] == {"query": "p", "page": "1"}


def test_a_path_argument_wins_over_one_of_the_same_name(routes: Routes) -> None:
    route = routed(routes, "DELETE", "/notes/notes/7", params={"note_id": 8})
    assert route.arguments == {"note_id": 7}
    assert route.kind is Kind.WRITE


def test_an_unknown_function_is_named_as_the_engine_names_it(routes: Routes) -> None:
    replies = {
        "/paypal/pay": (404, "No app named 'paypal' found."),
        "/notes/teleport": (404, "No API named 'teleport' found in the notes app."),
        "/notes/notes": (405, "Method Not Allowed"),
    }
    for url, (status, words) in replies.items():
        unrouted = routes.route(call("PATCH", url))
        assert isinstance(unrouted, Unrouted)
        assert unrouted.reply["status"] == status
        assert words in str(unrouted.reply["body"])


def token(subject: object) -> str:
    body = base64.urlsafe_b64encode(json.dumps({"sub": subject}).encode()).decode().rstrip("=")
    return f"Bearer head.{body}.tail"


@pytest.mark.parametrize(
    ("auth", "account", "seen"),
    [
        (token("notes+a@b"), "notes+a@b", True),
        (token("\ud800"), "?", True),
        (token(["x"]), "['x']", True),
        (None, None, False),
        (7, None, False),
    ],
)
def test_the_account_is_read_off_the_token(
    routes: Routes, auth: object, account: str | None, seen: bool
) -> None:
    route = routed(routes, "GET", "/notes/notes", auth=auth)
    assert (route.account, route.token_seen) == (account, seen)


def test_an_unreadable_token_is_told_apart_without_being_kept(routes: Routes) -> None:
    one, other = (routed(routes, "GET", "/notes/notes", auth=f"Bearer {x}") for x in "ab")
    assert one.account != other.account
    assert str(one.account).startswith("unreadable token ")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=8,
)
names = st.sampled_from(["op", "method", "url", "params", "json", "data", "auth", "order", "n"])
urls = st.sampled_from([row[3] for row in ROWS]) | st.text(
    alphabet="/notes.%2Ff?#=&:7", max_size=30
)
frames = st.dictionaries(names, json_values) | st.fixed_dictionaries(
    {
        "op": st.sampled_from(["call", "note", "hash"]),
        "method": st.sampled_from(["GET", "POST", "DELETE", "patch"]),
        "url": urls,
        "params": json_values,
        "json": json_values,
        "auth": st.text(),
        "order": json_values,
    }
)
TABLE = table()


@given(frames)
def test_no_frame_makes_it_raise_and_only_table_paths_come_out(frame: dict[str, Any]) -> None:
    found = TABLE.route(frame)
    if isinstance(found, Route):
        path = str(found.frame["path"])
        assert path.count("/") in {2, 3}
        assert not {"?", "#", "//"} & set(path)
        assert found.function in TABLE.catalogue.functions
