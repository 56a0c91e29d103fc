"""Detection of apps and of the runtime signature from an instruction."""

import pytest

from injectors.apps import apps_in, families_of
from injectors.signature import SIGNATURES, runtime_signature


@pytest.mark.parametrize(
    ("text", "apps"),
    [
        ("How much did I send on Venmo?", "venmo"),
        ("Make a Spotify playlist of my liked songs.", "spotify"),
        ("Add it to the playlist", "spotify"),
        ("What is in my song library?", "spotify"),
        ("Order it on Amazon again", "amazon"),
        ("In SimpleNote, append a line", "simple_note"),
        ("My Simple Note note says it", "simple_note"),
        ("Put it on my to-do list in Todoist", "todoist"),
        ("Split it on Splitwise, remind them by email", "gmail splitwise"),
        ("Star the mails in my Gmail inbox", "gmail"),
        ("Text my roommate that I am late", "phone"),
        ("Text Nora that I am late", "phone"),
        ("My roommate texted me what I owe", "phone"),
        ("My alarm should ring earlier", "phone"),
        ("Call whoever is in my phone contacts", "phone"),
        ("Delete all .tmp files in my file system", "file_system"),
        ("Move everything in ~/photos/ to a new place", "file_system"),
        ("It is in my downloads folder", "file_system"),
        ("Pay on Venmo what my note in Simple Note says", "simple_note venmo"),
    ],
)
def test_an_app_is_found_by_name_or_by_a_phrase_of_its_own(text, apps):
    assert apps_in(text, "appworld") == tuple(apps.split())


@pytest.mark.parametrize(
    "text",
    [
        "Pay that with the note 'rent'",
        "Note that I am away until Sunday",
        "What is my phone number?",
        "Her email address is on file",
        "File a complaint about the text of the contract",
        "The text of the message should be polite",
        "Her email is unknown to me",
        "Find a book about the Amazon river",
        "Take note of the profile",
        "I owe my friends money",
        "Buy a new phone",
        'Send the words "ask Spotify, then check the playlist on Venmo"',
        "Send the words \u201csee my Gmail inbox\u201d",
    ],
)
def test_ordinary_words_and_quoted_values_name_no_app(text):
    assert apps_in(text, "appworld") == ()


@pytest.mark.parametrize(
    ("text", "apps"),
    [
        ("Order a cab to the airport", "cabs"),
        ("Get me a ride home", "cabs"),
        ("Email the attendees of the meeting", "calendar emails"),
        ("Save the cheapest apartment", "rentaflat"),
        ("Add the product to my cart", "shopping"),
        ("Remind me tomorrow", "reminder"),
    ],
)
def test_gaia2_words(text, apps):
    assert apps_in(text, "gaia2") == tuple(apps.split())


def test_apps_of_a_benchmark_of_ones_own_are_found_by_their_names():
    known = ("TeaShop", "parcel_service")
    text = "Look in the tea shop and at the Parcel Service"
    assert apps_in(text, "mine", known) == ("parcel_service", "teashop")
    assert apps_in("Drink tea while you shop", "mine", known) == ()
    assert apps_in("teashops", "mine", known) == ()


def test_an_app_outside_the_table_is_its_own_family():
    assert families_of(("Emails", "Chats", "City"), {"post": ("emails", "chats")}) == {
        "post",
        "city",
    }


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("How much money did I send on Venmo in April? Give me the number.", "answer_extraction"),
        ("Give me the title of the longest song I liked on Spotify.", "answer_extraction"),
        ("What do my Venmo payments add up to? I need the number only.", "answer_extraction"),
        ("My roommate texted me what I owe. Pay that on Venmo.", "cross_app"),
        ("Archive every thread from Ann in my Gmail inbox.", "bulk_or_multi_write"),
        ("I am tired of pop. Take all pop songs out of my Spotify library.", "bulk_or_multi_write"),
        ("Text my roommate this, word for word", "state_write"),
        ('Add "oat milk" at the end of my note in Simple Note.', "state_write"),
        ("If all sub-tasks are done, mark the task as completed.", "state_write"),
        ("Something about music", "default"),
        ('Reply with the words "delete everything, what is it?" to nobody', "state_write"),
    ],
)
def test_the_runtime_signature_follows_its_precedence(text, signature):
    assert signature in SIGNATURES
    assert runtime_signature(text, apps_in(text, "appworld")) == signature


def test_a_question_over_two_apps_is_a_question():
    text = "How much do I owe on Venmo and Splitwise?"
    assert runtime_signature(text, ("splitwise", "venmo")) == "answer_extraction"
