"""Arguments and results of any kind under guard: none is used up, none makes the guard raise."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest
from around_samples import contents, reply, tool_call
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from injectors.around.describe import as_json, result_json
from injectors.around.guard import Guard, UnfitCall, WriteStopped


class Colour(Enum):
    RED = "red"


class Thing(BaseModel):
    name: str
    rest: Any = None
    key: SecretStr = SecretStr("hunter22")


@dataclass
class Node:
    name: str
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Plain:
    def __init__(self, name: str) -> None:
        self.name = name


class BrokenError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def cyclic() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


def family() -> Node:
    root = Node("root")
    root.children = [Node(str(n), root) for n in range(30)]
    return root


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


ODD: list[Callable[[], object]] = [
    lambda: b"\xff\xfe\x00",
    cyclic,
    family,
    lambda: nested(5_000),
    lambda: "[" * 400 + "]" * 400,
    lambda: {"deep": nested(300)},
    lambda: 10**6_000,
    lambda: [float("nan"), float("inf")],
    lambda: "\ud800",
    Broken,
    lambda: {Broken(): Broken()},
    lambda: Thing(name="a", rest=cyclic()),
    lambda: memoryview(b"x"),
    lambda: (n for n in range(3)),
    object,
]


@pytest.mark.parametrize("make", ODD)
def test_a_write_with_an_odd_result_is_not_told_as_failed(make: Callable[[], object]) -> None:
    made = []

    def pay() -> object:
        made.append(1)
        return make()

    guard = Guard([pay])
    for _ in range(2):
        message = guard.answer(reply(tool_call(1, "pay", {})))[0]
    assert made == [1]
    assert '"error"' not in message["content"]
    assert '"executed"' not in message["content"]


@pytest.mark.parametrize("make", ODD)
def test_an_odd_result_is_handed_through(make: Callable[[], object]) -> None:
    value = make()
    read = Guard(kinds={"read": "READ"}).wrap(lambda: value, name="read")
    assert read() is value


@pytest.mark.parametrize("make", ODD)
def test_the_guard_goes_on_after_an_odd_result(make: Callable[[], object]) -> None:
    guard = Guard(kinds={"read": "READ"})
    read, pay = guard.wrap(make, name="read"), guard.wrap(lambda to_id: "paid", name="pay")
    read()
    with pytest.raises(WriteStopped):
        pay("x1")
    assert pay("x1") == "paid"


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_is_json_stays_as_it_is(value: object) -> None:
    assert as_json(value) == value
    assert result_json(json.dumps(value)) in (value, json.dumps(value))


def test_values_have_a_plain_form() -> None:
    assert as_json({1: (Colour.RED, {"b", "a"}), "n": Node("x")}) == {
        "1": ["red", ["a", "b"]],
        "n": {"name": "x", "parent": None, "children": []},
    }
    assert as_json(Thing(name="a", rest=[Thing(name="b")])) == {
        "name": "a",
        "rest": [{"name": "b", "rest": None, "key": "**********"}],
        "key": "**********",
    }


# --- what can be read only once


@pytest.mark.parametrize(
    "make",
    [
        lambda: (name for name in "ab"),
        lambda: map(str, "ab"),
        lambda: iter(["a", "b"]),
        lambda: {"people": [(name for name in "ab")]},
    ],
)
def test_a_write_refuses_a_generator_instead_of_sending_nothing(
    make: Callable[[], object],
) -> None:
    sent: list[object] = []
    send = Guard().wrap(sent.extend, name="send")
    for _ in range(3):
        with pytest.raises(UnfitCall, match="only once: pass a list"):
            send(make())
    assert sent == []


def test_a_generator_argument_reaches_a_read_unread() -> None:
    total = Guard(kinds={"total": "READ"}).wrap(sum, name="total")
    assert total(number for number in (1, 2)) == 3


def test_handles_are_no_generators() -> None:
    cursor = sqlite3.connect(":memory:").cursor()
    cursor.execute("select 7")
    save = Guard().wrap(lambda file, cursor: (file.read(), cursor.fetchall()), name="save")
    file = io.StringIO("text")
    with pytest.raises(WriteStopped):
        save(file, cursor)
    assert save(file, cursor) == ("text", [(7,)])
    cursor.connection.close()


def rows() -> Iterator[int]:
    yield from (1, 2)


async def rows_later() -> AsyncIterator[int]:
    for n in (1, 2):
        yield n


def test_a_generator_result_is_left_to_the_caller() -> None:
    assert list(Guard(kinds={"rows": "READ"}).wrap(rows)()) == [1, 2]


async def test_a_generator_result_is_read_out_for_a_model() -> None:
    guard = Guard([rows, rows_later], kinds={"rows": "READ", "rows_later": "READ"})
    assert contents(guard.answer([tool_call(1, "rows", {})])) == [[1, 2]]
    both = [tool_call(1, "rows", {}), tool_call(2, "rows_later", {})]
    assert contents(await guard.answer_async(both)) == [[1, 2], [1, 2]]
    assert "answer_async" in guard.answer(both)[1]["content"]


def test_a_write_that_is_a_generator_is_made_when_a_model_asks() -> None:
    sent = []

    def send(to: str) -> Iterator[str]:
        sent.append(to)
        yield "sent"

    guard = Guard([send])
    for _ in range(2):
        told = guard.answer([tool_call(1, "send", {"to": "ann"})])
    assert contents(told) == [["sent"]]
    assert sent == ["ann"]


def test_what_the_guard_did_not_read_is_not_called_unseen() -> None:
    guard = Guard(kinds={"rows": "READ"})
    guard.wrap(rows)()
    with pytest.raises(WriteStopped) as stopped:
        guard.wrap(lambda row_id: None, name="drop")(2)
    assert stopped.value.advisory["detected_risks"] == []


# --- what has no value of its own


def test_a_new_object_at_the_address_of_an_old_one_is_another_argument() -> None:
    bought = []
    buy = Guard().wrap(lambda thing: bought.append(thing.name), name="buy")
    for n in range(200):
        with pytest.raises(WriteStopped):
            buy(Plain(f"thing {n}"))
    assert bought == []
    thing = Plain("lamp")
    with pytest.raises(WriteStopped):
        buy(thing)
    buy(thing)
    assert bought == ["lamp"]


class Table:
    """A table whose repr leaves out its rows, like that of pandas."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return "Table(...)"


def test_two_objects_whose_reprs_are_cut_short_alike_are_two_arguments() -> None:
    saved = []
    save = Guard().wrap(lambda table: saved.append(table.rows), name="save")
    with pytest.raises(WriteStopped):
        save(Table([1]))
    with pytest.raises(WriteStopped):
        save(Table([2]))
    table = Table([3])
    with pytest.raises(WriteStopped):
        save(table)
    save(table)
    assert saved == [[3]]


def test_arguments_compare_by_value_where_they_have_one() -> None:
    buy = Guard().wrap(lambda thing: "bought", name="buy")
    for make in (lambda: Node("lamp"), lambda: Thing(name="lamp"), lambda: {"lamp", "cable"}):
        with pytest.raises(WriteStopped):
            buy(make())
        assert buy(make()) == "bought"


def test_an_argument_that_cannot_be_told_from_another_is_refused() -> None:
    buy = Guard().wrap(lambda thing: "bought", name="buy")
    for thing in (cyclic(), nested(500)):
        with pytest.raises(UnfitCall, match="nested too deeply"):
            buy(thing)


def test_an_error_without_a_text_is_told_by_its_kind() -> None:
    def read() -> None:
        raise BrokenError

    told = Guard([read], kinds={"read": "READ"}).answer([tool_call(1, "read", {})])
    assert contents(told) == [{"error": "BrokenError"}]
