"""Retrieval: tiny banks, order independence, bonuses that re-rank and never filter."""

import pytest
from bank_samples import bank, delta, function, skill
from hypothesis import given, settings
from hypothesis import strategies as st

from injectors.apps import GAIA2_FAMILIES
from injectors.bank import Bank, BankSettings, RetrievalConstants
from injectors.cards import Skill
from injectors.edits import add_skill, apply, deactivate
from injectors.retrieve import Bm25Retriever, Query

TOPICS = ("alarm", "payment", "playlist", "receipt", "calendar", "invoice", "roommate", "album")
PAYMENT = skill(
    "Pay a debt once",
    applies_when="money is owed to a friend",
    tags=("payment", "debt", "state_write"),
    skill=Skill(core_rule="Send the amount once, then look at the balance."),
    functions_used=("venmo.create_transaction",),
)


def topic_card(n):
    topic = TOPICS[n % len(TOPICS)]
    return skill(
        f"Lesson {n} on the {topic}",
        applies_when=f"a {topic} is at stake",
        solves=f"trouble number {n}",
        tags=(topic, "care", "lesson"),
        skill=Skill(core_rule=f"Handle each {topic} with care."),
    )


def find(whole, text, **query):
    return Bm25Retriever(whole).skills(Query(instruction=text, **query))


@pytest.mark.parametrize("size", [1, 2, 6, 300])
def test_a_card_is_selected_if_and_only_if_it_shares_a_term(size):
    whole = bank([topic_card(n) for n in range(size)])
    found = find(whole, "Settle the payment with the roommate, then set an alarm")
    expected = {
        card.card_id
        for card in whole.skills()
        if any(topic in card.title for topic in ("payment", "roommate", "alarm"))
    }
    assert {item.card_id for item in found} == expected
    assert all(item.bm25 > 0 and item.shared_terms for item in found)
    assert not find(whole, "Nothing of the sort whatsoever")
    assert not find(whole, "and then the of to")


@pytest.mark.parametrize("size", [1, 2, 6, 300])
def test_a_bank_where_every_card_matches_still_ranks_positively(size):
    cards = [delta(f"Payment {'twice ' * (n % 3)}{n}") for n in range(size)]
    whole = bank([skill(card.title) for card in cards])
    found = find(whole, "a payment")
    assert len(found) == size
    assert all(item.score > 0 for item in found)


def test_an_empty_bank_finds_nothing():
    assert find(bank(), "a payment") == ()
    assert Bm25Retriever(bank()).functions(Query(instruction="a payment")) == ()


def test_words_too_common_to_mean_anything_select_no_card():
    assert not find(bank([PAYMENT]), "What is it that I have to do with all of them?")


def test_singular_and_plural_are_one_term():
    (found,) = find(bank([PAYMENT]), "my debts and payments")
    assert found.shared_terms == ("debt", "payment")


@settings(max_examples=60)
@given(st.data())
def test_order_of_cards_changes_nothing(data):
    cards = [topic_card(n) for n in range(data.draw(st.integers(1, 24)))]
    text = " ".join(data.draw(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=4)))
    shuffled = data.draw(st.permutations(cards))
    apps = tuple(data.draw(st.sets(st.sampled_from(("venmo", "phone")))))
    assert find(bank(cards), text, apps=apps) == find(bank(shuffled), text, apps=apps)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=6), st.integers(0, 8))
def test_topk_is_a_prefix_and_scores_fall(words, topk):
    retriever = Bm25Retriever(bank([topic_card(n) for n in range(30)]))
    query = Query(instruction=" ".join(words))
    whole = retriever.skills(query)
    assert retriever.skills(query, topk) == whole[:topk]
    assert list(whole) == sorted(whole, key=lambda item: (-item.score, item.card_id))
    assert retriever.skills(query) == whole


def test_ties_go_by_card_id():
    cards = [skill("Payment", solves=letter) for letter in "abcdef"]
    found = find(bank(cards), "payment")
    assert len({item.score for item in found}) == 1
    assert [item.card_id for item in found] == sorted(card.card_id for card in cards)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(TOPICS), min_size=1, max_size=4),
    st.sets(st.sampled_from(("venmo", "phone", "spotify"))),
    st.floats(0, 50),
)
def test_bonuses_re_rank_and_never_filter(words, apps, bonus):
    constants = RetrievalConstants(app_bonus=bonus, signature_hint=bonus)
    cards = [PAYMENT, *(topic_card(n) for n in range(10))]
    whole = bank(cards, settings=BankSettings(retrieval=constants))
    text = " ".join(words)
    plain = find(bank(cards), text)
    found = find(whole, text, apps=tuple(sorted(apps)), signature="state_write")
    assert {item.card_id for item in found} == {item.card_id for item in plain}


def test_a_shared_app_adds_lambda_once():
    (found,) = find(bank([PAYMENT]), "pay the debt", apps=("phone", "venmo"))
    assert found.app_bonus == 2.0
    assert found.score == pytest.approx(found.bm25 + 2.0)
    (other,) = find(bank([PAYMENT]), "pay the debt", apps=("phone",))
    assert other.app_bonus == 0.0


def test_a_tag_that_names_an_app_of_the_bank_counts_as_its_app():
    card = skill("Pay a debt", tags=("venmo", "payment", "debt"))
    whole = bank([card], [function("venmo.create_transaction")])
    (found,) = find(whole, "pay the debt", apps=("venmo",))
    assert found.app_bonus == 2.0


def test_the_runtime_signature_is_a_hint():
    (found,) = find(bank([PAYMENT]), "pay the debt", signature="state_write")
    assert found.signature_hint == 0.5
    (other,) = find(bank([PAYMENT]), "pay the debt", signature="cross_app")
    assert other.signature_hint == 0.0


@pytest.mark.parametrize(
    ("apps", "bonus"),
    [
        ((), 0.0),
        (("emails",), 2.0),
        (("chats",), 2.0),
        (("emails", "messages"), 3.0),
        (("cabs",), -1.0),
    ],
)
def test_families_share_a_capped_bonus_and_a_penalty(apps, bonus):
    card = skill("Send the payment", functions_used=("Emails.send_email", "Messages.send_message"))
    families = BankSettings(app_families=dict(GAIA2_FAMILIES))
    whole = Bank.of("gaia2", skills={"Execution": [card]}, settings=families)
    (found,) = find(whole, "send a payment", apps=apps)
    assert found.app_bonus == bonus


def test_inactive_cards_are_never_found_and_weigh_nothing():
    cards = [topic_card(n) for n in range(6)]
    whole = bank([*cards, PAYMENT])
    off = apply(whole, deactivate(whole, PAYMENT.card_id))
    assert find(off, "payment") == find(bank(cards), "payment")


def test_cards_from_an_excluded_scenario_are_left_out():
    whole = bank()
    edit = add_skill(whole, "global", delta("Payment"), provenance={"generator_ids": ["s1", "s2"]})
    whole = apply(whole, edit)
    assert find(whole, "payment", exclude_generator_ids=frozenset({"s3"}))
    assert not find(whole, "payment", exclude_generator_ids=frozenset({"s2"}))


def test_an_ability_searches_its_own_set():
    sets = {"Search": [skill("Payment found")], "Time": [skill("Payment waited for")]}
    whole = Bank.of("gaia2", skills=sets)
    assert [whole.card(item.card_id).title for item in find(whole, "payment", ability="Time")] == [
        "Payment waited for"
    ]
    assert len(find(whole, "payment")) == 2


def test_function_cards_are_ranked_apart():
    functions = [function("venmo.create_transaction"), function("spotify.show_liked_songs")]
    retriever = Bm25Retriever(bank([PAYMENT], functions))
    query = Query(instruction="Which songs have I liked?", apps=("spotify",))
    (found,) = retriever.functions(query)
    assert found.card_id == "function::spotify.show_liked_songs"
    assert retriever.skills(query) == ()
    assert found.shared_terms == ("liked", "song")


def test_cards_without_words_do_not_break_the_index():
    blank = skill("!!!", applies_when="...", tags=("-", "--", "---"), skill=Skill(core_rule="?"))
    assert len(find(bank([blank, PAYMENT]), "payment")) == 1
    assert not find(bank([blank]), "payment")
