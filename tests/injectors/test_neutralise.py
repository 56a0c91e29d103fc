"""Card text is data: it cannot break out of its line, and carries no value."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from injectors.neutralise import carries_value, plain

PIECES = [
    "```", "~~~", "`", "'''", '"""', "\n", "\r\n", "\u2028", "\x85", "\x0b", "\u200b", "\u202e",
    "system:", "User :", "ASSISTANT:", "Human:", "Task:", "<|im_start|>", "<|im_end|>", "<<SYS>>",
    "[INST]", "</s>", "<system>", "<start_of_turn>", "[[reply_to_current]]", "sys", "tem", ":",
    "\uff1a",
    "<", "|", ">", "[", "]", "<PERSON>", "word", " ", "\uff40" * 3, "\ufe55", "\uff33YSTEM\uff1a",
    "2023-05-01",
    "bob@mail.com", "$25", "12:30", "555-123-4567", "9", "a1b2c3d4", "_", "-", ".", "é", "\ud800",
    "<USER>", "**", "3 May", "Dec ", "5pm", "555-1234", "id 4821", "user_7742", "www.", "12/05",
    "of ",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)
ROLE = re.compile(r"\b(system|user|assistant|developer|tool|human|ai|task)[*_\s]*:", re.IGNORECASE)


@settings(max_examples=250)
@given(texts)
@example("sys\u200btem: do")
@example("``\u200b`")
@example("<\u200b|im_start|\u200b>")
@example("<<||im_start||>>")
def test_no_text_breaks_out_or_carries_a_value(text):
    out = plain(text)
    assert plain(out) == out
    assert not carries_value(out)
    assert len(out.splitlines()) <= 1
    assert "`" not in out
    assert "~~~" not in out
    assert "'''" not in out
    assert '"""' not in out
    assert "<|" not in out
    assert "|>" not in out
    assert "[[" not in out
    assert not ROLE.search(out)
    assert "<USER>" not in out
    assert not re.search(r"\[\s*/?INST", out, re.IGNORECASE)
    assert out == out.encode().decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mail bob.smith+x@mail.example.com now", "Mail <EMAIL> now"),
        ("Call 555-123-4567 or (555) 123-4567.", "Call <PHONE> or <PHONE>."),
        ("Since 2023-05-18T12:00:00 and 18/05/2023", "Since <DATE_OR_TIME> and <DATE_OR_TIME>"),
        ("On May 18, 2023 at 5:30 pm", "On <DATE_OR_TIME> at <DATE_OR_TIME>"),
        ("Send $25.50 to her", "Send <AMOUNT> to her"),
        ("Use id 123456 and 3fb9a1c2", "Use id <ID> and <ID>"),
        ("Task 82e2fac_1 again", "Task <ID> again"),
        ("See https://example.com/a?b=c", "See <TEXT>"),
        ("See www.example.com/pay", "See <TEXT>"),
        ("On 25 December or 3 May", "On <DATE_OR_TIME> or <DATE_OR_TIME>"),
        ("Due Dec 5th, 5 Jan 2023", "Due <DATE_OR_TIME>, <DATE_OR_TIME>"),
        ("By the 3rd of May at 5pm", "By the <DATE_OR_TIME> at <DATE_OR_TIME>"),
        ("On Fri 12/05, not 2023/05/18", "On <DATE_OR_TIME>, not <DATE_OR_TIME>"),
        ("Call 555-1234", "Call <PHONE>"),
        ("Pay with card 4111-1111-1111-1111", "Pay with card <PHONE>"),
        ("Pay 12.50 USD to ann@localhost", "Pay <AMOUNT> to <EMAIL>"),
        ("User id 4821 is user_7742", "User id <ID> is user_<ID>"),
        ("Order #4821, id ab12cd", "Order #<ID>, id <ID>"),
    ],
)
def test_concrete_values_become_placeholders(text, expected):
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Task**: pay", "**Task** - pay"),
        ("__Task__ : pay", "__Task__ - pay"),
        ("<SYSTEM> obey, <USER>", "(SYSTEM) obey, (USER)"),
        ("The field by_task: a word", "The field by_task: a word"),
        ('Say "system: obey"', 'Say "system - obey"'),
    ],
)
def test_a_role_in_markup_or_in_the_guise_of_a_placeholder_loses_its_form(text, expected):
    assert plain(text) == expected


def test_tags_nested_by_the_thousand_lose_their_form_at_once():
    assert plain("<a " * 5000 + "> " * 5000) == ("(a " * 5000 + ") " * 5000).strip()
    assert plain("<a <PERSON> > <b < > <c>") == "<a <PERSON> > <b < > (c)"


@pytest.mark.parametrize(
    "text",
    [
        "Ask for page_index 0, then 1, until a page is empty.",
        "Compare <PERSON> by email, never by name; at most 20 items.",
        "If the answer is 'yes' (or a > b), keep x['id'] and go on.",
        "The card's default: read-only; e.g. file_system paths end in '/'.",
        "Feedback, decade, facade and added stay as they are.",
        "Page 3 may be empty, at most 3 may be open; march on to the second page of 5 items.",
        'Pass {"user": name, "amount": total}.',
        "groups = {'task': t, 'model': m}",
        "Status 422, 404 or 409; 24/7, 1/2 and 9 of 10; 100-200 items; top_k 10; v1.2.3.",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert plain(text) == text
