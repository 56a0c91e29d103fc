"""Offline token counts, and the words that retrieval compares."""

import pytest

from injectors.seen import SeenCards
from injectors.terms import terms
from injectors.time_rules import same_verb_family
from injectors.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("hello world", 2), ("<|endoftext|>", 7), ("\ud800", 1)]
)
def test_o200k_counts(text, count):
    assert count_tokens(text) == count


@pytest.mark.parametrize("run", ["a", "é", "-", " ", "\n", "\u4e2d\u6587"])
def test_a_run_without_end_is_counted_at_once(run):
    assert 0 < count_tokens(run * 200_000) <= 400_000


def test_terms_split_names_fold_plurals_and_leave_empty_words_out():
    assert terms("The showSongLibrary of two_playlists") == (
        "show",
        "song",
        "library",
        "two",
        "playlist",
    )
    assert terms("libraries, libraries' glasses; status") == (
        "library",
        "library",
        "glasse",
        "status",
    )
    assert terms("Überweisung für 3 Freunde") == ("überweisung", "für", "3", "freunde")


def test_a_card_is_first_seen_once():
    seen = SeenCards()
    assert "a" not in seen
    assert seen.show("a")
    assert not seen.show("a")
    seen.show_all(["a", "b"])
    assert (seen.count("a"), seen.count("b"), seen.count("c")) == (3, 1, 0)


@pytest.mark.parametrize(
    ("tool", "text", "same"),
    [
        ("Emails.reply_to_email", "Send him a message", True),
        ("Emails.delete_email", "Reply to the email", False),
        ("Calendar.add_calendar_event", "Schedule a meeting", True),
        ("City.crime", "Schedule a meeting", False),
    ],
)
def test_verb_families(tool, text, same):
    assert same_verb_family(tool, text) is same
