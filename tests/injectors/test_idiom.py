"""Code idioms: each rule is refused by name; long ones are told in words."""

import pytest
from bank_samples import function

from injectors.cards import Argument
from injectors.idiom import idiom_problems, idiom_shape

CALL = "items = apis.music.show_songs(page_index=0, access_token=access_token)"


def problems(code):
    arguments = (Argument(name="page_index", value_form="integer, the first is 0"),)
    return idiom_problems(function(arguments=arguments, code_idiom=code))


def test_a_good_idiom_passes():
    assert problems(None) == ()
    assert problems(CALL) == ()
    assert not problems(f"found = []\n{CALL}\nfor item in items:\n    found.append(item)")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("\n".join([CALL] * 6), "longer than 5 lines"),
        (f"{CALL}\nresult = apis.music.like_song(access_token=token)", "calls music.like_song"),
        ("found = []", "does not call"),
        (f"import re\n{CALL}", "imports"),
        (CALL.replace("=0", "=7"), "literal 7"),
        (f"{CALL}\nname = 'Ann'", "literal 'Ann'"),
        (CALL.replace("items", "anns_songs"), "variable 'anns_songs'"),
        ("items = apis.music.show_songs(", "no Python"),
    ],
)
def test_each_rule_is_refused_by_name(code, said):
    assert any(said in problem for problem in problems(code))


def test_the_shape_names_what_the_code_does_and_none_of_it():
    shape = idiom_shape(f"for item in items:\n    if item:\n        {CALL}\n        break")
    assert shape == (
        "a loop over items; a check; a way out of the loop; the call with keyword arguments"
    )
    assert idiom_shape("no python (") == ""
