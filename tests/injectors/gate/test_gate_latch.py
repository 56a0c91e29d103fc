"""When two calls are one: the canonical form."""

from __future__ import annotations

import base64
import json

import pytest
from gate_world import CATALOGUE
from hypothesis import given
from hypothesis import strategies as st

from injectors.gate.latch import CallKey, call_key
from runtime.contracts import Json, Kind, ToolCall


def key(name: str, account: str | None = None, **arguments: Json) -> CallKey:
    call = ToolCall(
        n=1, cell=1, function=name, arguments=arguments, kind=Kind.WRITE, account=account
    )
    return call_key(call, CATALOGUE.get(name))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"amount": 25}, {"amount": 25.0}),
        ({"amount": 25}, {"amount": "25"}),
        ({"amount": 25}, {"amount": " 25.00 "}),
        ({"amount": 0.5}, {"amount": ".5"}),
        ({"to": "a b"}, {"to": " a b\n"}),
        ({"to": "5"}, {"to": 5}),
        ({"to": "a", "amount": 1}, {"amount": 1, "to": "a"}),
        ({"to": "a"}, {"to": "a", "no_such_argument": 3}),
        ({"to": "a"}, {"to": "a", "note": ""}),
    ],
)
def test_equal_in_all_but_form(one: dict[str, Json], other: dict[str, Json]) -> None:
    assert key("shop.pay", **one) == key("shop.pay", **other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"amount": 25}, {"amount": 25.01}),
        ({"amount": 25}, {"amount": True}),
        ({"amount": 2**60}, {"amount": 2**60 + 1}),
        ({"to": "a"}, {"to": "A"}),
        ({"to": "a b"}, {"to": "a  b"}),
        ({"to": "a"}, {"to": "a", "note": "x"}),
        ({"to": "a"}, {"to": None}),
    ],
)
def test_different_in_meaning(one: dict[str, Json], other: dict[str, Json]) -> None:
    assert key("shop.pay", **one) != key("shop.pay", **other)


def test_key_order_inside_arguments_does_not_matter_but_list_order_does() -> None:
    assert key("x.y", a={"p": 1, "q": 2}) == key("x.y", a={"q": 2.0, "p": 1})
    assert key("x.y", a=[1, 2]) != key("x.y", a=[2, 1])


def test_the_account_counts_and_the_token_does_not() -> None:
    assert key("shop.pay", "ann", to="a") == key("shop.pay", "ann", to="a")
    assert key("shop.pay", "ann", to="a") != key("shop.pay", "bo", to="a")


def test_another_apps_token_counts_as_its_account() -> None:
    def token(n: int) -> str:
        claims = base64.urlsafe_b64encode(json.dumps({"sub": "files+ann", "n": n}).encode())
        return f"head.{claims.decode().rstrip('=')}.sign{n}"

    assert key("x.y", files_access_token=token(1)) == key("x.y", files_access_token=token(2))
    assert key("x.y", files_access_token="a.%.b") != key("x.y", files_access_token="a.b.c")


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@given(st.dictionaries(st.sampled_from(["to", "amount", "note", "other"]), VALUES))
def test_every_call_has_one_form(arguments: dict[str, Json]) -> None:
    again = json.loads(json.dumps(arguments))
    assert key("shop.pay", **arguments) == key("shop.pay", **again)


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_a_number_has_one_form_whatever_its_type(number: int) -> None:
    forms = {key("shop.pay", amount=form) for form in (number, float(number), f" {number} ")}
    assert len(forms) == 1
