"""Every API of the engine's table has a kind and a reason: 457 decisions."""

from collections import Counter

import pytest

from adapters.appworld.benchmark import AppWorld
from adapters.appworld.kinds import kind_of
from runtime.catalogue import Catalogue
from runtime.contracts import Kind


@pytest.fixture(scope="module")
async def catalogue(appworld: AppWorld) -> Catalogue:
    return await appworld.catalogue()


def test_every_api_has_a_decision_with_its_reason(catalogue: Catalogue) -> None:
    functions = catalogue.functions.values()
    assert len(functions) == 457
    assert [function.name for function in functions if not function.reason.strip()] == []


def test_the_counts_are_those_of_the_review(catalogue: Catalogue) -> None:
    kinds = Counter(function.kind for function in catalogue.functions.values())
    assert kinds == {Kind.READ: 165 - 9 + 20, Kind.WRITE: 457 - 176 - 1, Kind.FINISH: 1}


def test_the_exceptions_to_the_rule_are_the_reviewed_ones(catalogue: Catalogue) -> None:
    """GETs that write, and other methods that do not: the lists that were read and measured."""
    reads = [f for f in catalogue.functions.values() if f.kind is Kind.READ and f.reason != "GET"]
    assert Counter(function.name.partition(".")[2] for function in reads) == {
        "login": 9,
        "logout": 9,
        "show_person_balance": 1,
        "show_people_balance": 1,
    }
    downloads = [f for f in catalogue.functions.values() if f.reason.startswith("creates a file")]
    assert len(downloads) == 9
    assert all(".download_" in function.name for function in downloads)
    assert {function.kind for function in downloads} == {Kind.WRITE}
    assert catalogue.kind("supervisor.complete_task") is Kind.FINISH


def test_what_nobody_knows_is_a_write(catalogue: Catalogue) -> None:
    assert catalogue.kind("venmo.teleport") is Kind.WRITE
    assert kind_of("venmo.teleport", "PURGE")[0] == "WRITE"


@pytest.mark.parametrize(
    "name",
    [
        "venmo.signup",
        "gmail.send_password_reset_code",
        "spotify.verify_account",
        "amazon.reset_password",
        "phone.send_text_message",
        "file_system.delete_directory",
    ],
)
def test_account_and_message_functions_write(catalogue: Catalogue, name: str) -> None:
    assert name in catalogue.functions or name == "phone.send_text_message"
    assert catalogue.kind(name) is Kind.WRITE
