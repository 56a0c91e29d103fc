"""Profiles and the flags that override them."""

import pytest

from injectors.profiles import PROFILES, MemorySettings, settings_for
from runtime.errors import UnknownName, UsageError

BANK = {"memory": "a/bank"}


def test_the_default_is_no_memory_and_no_gate():
    settings = settings_for("none")
    assert (settings.memory, settings.gate, settings.jit) == (None, False, False)
    assert settings == MemorySettings()


@pytest.mark.parametrize(
    ("profile", "gate", "time_rules"),
    [
        ("appworld-start", False, False),
        ("gaia2-start-gate", True, False),
        ("time", False, True),
        ("full", True, False),
    ],
)
def test_what_each_profile_fixes(profile, gate, time_rules):
    settings = settings_for(profile, BANK)
    assert (settings.gate, settings.time_rules, settings.memory) == (gate, time_rules, "a/bank")
    assert (settings.skill_topk, settings.function_topk_start) == (3, 2)
    assert settings.profile == profile


def test_the_benchmarks_latch_is_a_default():
    assert settings_for("full", BANK, latch="call").latch == "call"
    assert settings_for("full", {**BANK, "latch": "cell"}, latch="call").latch == "cell"


def test_single_flags_override_and_none_does_not():
    overrides = {**BANK, "gate": False, "jit": True, "cards": "skill", "risk_stop": None}
    settings = settings_for("full", overrides)
    assert (settings.gate, settings.jit, settings.cards, settings.risk_stop) == (
        False,
        True,
        "skill",
        True,
    )


def test_a_bank_may_come_with_any_profile():
    assert settings_for("none", BANK).memory == "a/bank"


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "none"])
def test_a_profile_with_memory_needs_a_bank_or_a_word_that_none_is_wanted(profile):
    with pytest.raises(UsageError, match="--memory BANK"):
        settings_for(profile)
    assert settings_for(profile, {"memory": "none"}).memory is None


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="appworld-start"):
        settings_for("appworld")
    with pytest.raises(UnknownName, match="skill_topk"):
        settings_for("none", {"skil_topk": 1})


@pytest.mark.parametrize("wrong", [{"latch": "loop"}, {"skill_topk": -1}, {"cards": "all"}])
def test_a_wrong_value_names_its_setting(wrong):
    (name,) = wrong
    with pytest.raises(UsageError, match=f"Memory setting {name}"):
        settings_for("none", wrong)


def test_the_record_in_a_manifest_makes_the_same_settings_again():
    settings = settings_for("full", {**BANK, "jit": True}, latch="call")
    assert MemorySettings.model_validate(settings.describe()) == settings
