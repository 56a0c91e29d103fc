"""Each risk speaks where it should, and stays silent where a correct run would be."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from gate_world import TASK, CallFailed, Runner, failure, ok, pays, runner

from injectors.gate.risks import RISKS
from runtime.contracts import CallResult, Json, Task

Write = tuple[str, dict[str, Json]]
NOW = datetime(2024, 10, 16, 9, 0, tzinfo=UTC).timestamp()


def task(instruction: str) -> Task:
    return TASK.model_copy(update={"instruction": instruction})


def risks_of(
    write: Write,
    *reads: tuple[str, dict[str, Json], Json],
    instruction: str = "Do it.",
    source: str | None = None,
    now: float | None = None,
) -> list[str]:
    """The risks that the advisory of one write names, after some reads."""
    run = runner(task=task(instruction))
    run.now = now
    answers = iter(reads)

    def read_all(cell: Runner) -> None:
        for name, arguments, _ in reads:
            cell.call(name, **arguments)

    run.answers = lambda name, arguments: ok(next(answers)[2])
    run.run("reads", read_all)
    name, arguments = write
    run.run(source or f"apis.{name}()", lambda cell: cell.call(name, **arguments))
    return run.risks


def cancel(order_id: Json) -> Write:
    return "shop.cancel_order", {"order_id": order_id}


def pay(to: str, amount: Json = 5) -> Write:
    return "shop.pay", {"to": to, "amount": amount}


def found(value: Json) -> tuple[str, dict[str, Json], Json]:
    return "people.search", {}, value


def test_ids_are_stable_and_confidences_fixed() -> None:
    assert {risk.id: risk.confidence for risk in RISKS} == {
        "id_never_observed": "high",
        "address_never_observed": "high",
        "identical_write_already_executed": "high",
        "completing_after_failed_write": "high",
        "date_in_the_past": "high",
        "recipient_name_ambiguous": "medium",
        "amount_not_observed": "medium",
        "date_not_observed": "medium",
        "first_page_only": "medium",
        "calendar_overlap": "medium",
        "variant_not_stated": "medium",
        "ride_not_as_quoted": "medium",
        "write_after_empty_read": "low",
    }


# --- an id or address that was never observed


def test_an_id_that_nobody_showed() -> None:
    assert risks_of(cancel(77)) == ["id_never_observed"]
    assert risks_of(cancel(77), found([{"order_id": 78, "rating": 77}])) == ["id_never_observed"]


@pytest.mark.parametrize(
    "value",
    [
        {"order_id": 77},
        [{"deep": [{"order": {"id": "77"}}]}],
        {"77": {"title": "by key"}},
        "Order #77 was placed.",
        {"message": "created", "order_id": 77.0},
        77,
    ],
)
def test_an_id_is_known_in_whatever_form_it_was_seen(value: Json) -> None:
    assert risks_of(cancel(77), found(value)) == []
    assert risks_of(cancel("77"), found(value)) == []


def test_an_id_in_the_task_is_known() -> None:
    assert risks_of(cancel(77), instruction="Cancel order 77.") == []


def test_what_a_failed_read_said_is_observed_too() -> None:
    run = runner(task=task("Do it."))
    run.answers = lambda name, arguments: failure("order 77 is closed")

    def read(cell: Runner) -> None:
        cell.call("people.search")

    run.run("read", read)
    run.run("apis.shop.cancel_order()", lambda cell: cell.call("shop.cancel_order", order_id=77))
    assert run.risks == []


def test_an_address_that_nobody_showed() -> None:
    assert risks_of(pay("ann@x.org", 5), instruction="Pay 5.") == ["address_never_observed"]


@pytest.mark.parametrize("seen", ["ANN@x.org", "write to ann@x.org.", {"a": ["ann@X.org"]}])
def test_an_address_is_known_whatever_its_case(seen: Json) -> None:
    assert risks_of(pay("Ann@x.org"), found(seen), instruction="Pay 5.") == []


def test_every_recipient_of_a_list_counts() -> None:
    mail: Write = ("mail.send_email", {"recipients": ["ann@x.org", "eve@x.org"]})
    assert risks_of(mail, found(["ann@x.org"])) == ["address_never_observed"]


def test_words_are_no_address() -> None:
    assert risks_of(("notes.create_note", {"title": "call eve at eve@x.org"})) == []


def test_after_more_than_the_index_holds_nothing_is_called_never_observed() -> None:
    assert risks_of(cancel(77), found([{"id": n + 1000} for n in range(30_000)])) == []


def test_what_the_user_says_later_is_heard() -> None:
    run = runner("call", task=task("Pay Bob."))
    run.answers = lambda name, arguments: ok(BOBS)
    run.run("read", lambda cell: cell.call("people.search"))
    run.run("apis.shop.pay(33)", lambda c: c.call("shop.pay", to="bob.stone@x.org", amount=33))
    assert run.risks == ["recipient_name_ambiguous", "amount_not_observed"]
    run.gate.observe("I mean Bob Stone, and make it 34.")
    run.run("apis.shop.pay(34)", lambda c: c.call("shop.pay", to="bob.stone@x.org", amount=34))
    assert run.reasons == ["stopped", "stopped"]
    assert run.risks == []


# --- amounts and dates


def test_an_amount_from_nowhere() -> None:
    assert risks_of(pay("a", 33), instruction="Pay a share.") == ["amount_not_observed"]


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (5, "Pay $5."),
        (1200, "Pay 1,200 dollars."),
        (5.5, "5.50 it is"),
        ("20", "Pay twenty."),
        (0, "Go"),
    ],
)
def test_an_amount_of_the_task(amount: Json, words: str) -> None:
    assert risks_of(pay("a", amount), instruction=words) == []


def test_an_amount_of_an_output() -> None:
    assert risks_of(pay("a", 17.25), found({"bill": {"price": 17.25}})) == []


def event(start: str, end: str = "2024-10-17 11:00:00") -> Write:
    return "calendar.add_event", {"title": "x", "start_datetime": start, "end_datetime": end}


def test_a_day_from_nowhere() -> None:
    assert risks_of(event("2024-10-17 10:00:00"), instruction="Book it.") == ["date_not_observed"]


@pytest.mark.parametrize(
    "words",
    ["on 2024-10-17", "on October 17th", "on 17 Oct", "on 10/17", "tomorrow", "next Friday"],
)
def test_a_day_of_the_task(words: str) -> None:
    assert risks_of(event("2024-10-17 10:00:00"), instruction=f"Book it {words}.") == []


def test_a_date_in_the_past_of_the_clock() -> None:
    past = event("2024-10-15 10:00:00", "2024-10-15 11:00:00")
    assert "date_in_the_past" in risks_of(past, now=NOW)
    assert "date_in_the_past" not in risks_of(past)
    assert "date_in_the_past" not in risks_of(event("2024-10-16 09:00:00"), now=NOW)


def test_where_calls_carry_no_time_the_clock_is_that_of_the_task() -> None:
    frozen = task("Book it.").model_copy(update={"context": {"datetime": "2023-05-18T12:00:00"}})
    run = runner("call", task=frozen)
    for day, risks in (("17", ["date_in_the_past", "date_not_observed"]), ("18", [])):
        name, arguments = event(f"2023-05-{day} 13:00:00", f"2023-05-{day} 14:00:00")
        run.run(f"apis.{name}()", lambda cell, n=name, a=arguments: cell.call(n, **a))
        assert run.risks == risks
        context = run.advisory["observed_calendar_context"]
        assert context["current_date"] == "2023-05-18 12:00, Thursday"


# --- people, pages, contexts

BOBS: Json = [
    {"first_name": "Bob", "last_name": "Stone", "email": "bob.stone@x.org"},
    {"name": "Bob Marsh", "email": "bob.marsh@x.org", "phone_number": "555 0100"},
]


def test_a_name_that_fits_two_people() -> None:
    found_bobs = found(BOBS)
    write = pay("bob.stone@x.org")
    assert risks_of(write, found_bobs, instruction="Pay Bob 5.") == ["recipient_name_ambiguous"]
    for clear in ("Pay Bob Stone 5.", "Pay bob.stone@x.org 5.", "Pay my plumber 5."):
        assert risks_of(write, found_bobs, instruction=clear) == []


def test_one_person_in_two_apps_is_one_person() -> None:
    one: Json = [
        {"name": "Bob Stone", "email": "b@x.org", "phone": "555 0100 77"},
        {"name": "Bob Stone", "email": "b@x.org"},
    ]
    assert risks_of(pay("b@x.org"), found(one), instruction="Pay Bob 5.") == []


def test_a_person_known_by_phone_here_and_by_email_there_is_no_namesake_of_their_own() -> None:
    one: Json = [
        {"name": "Bob Stone", "phone": "555 0100 77"},
        {"name": "Bob Stone", "email": "b@x.org"},
    ]
    assert risks_of(pay("b@x.org"), found(one), instruction="Pay Bob 5.") == []
    two: Json = [{"name": "Bob Stone", "email": "other@x.org"}, one[1]]
    assert risks_of(pay("b@x.org"), found(two), instruction="Pay Bob 5.") == [
        "recipient_name_ambiguous"
    ]


def page(ids: range, **arguments: Json) -> tuple[str, dict[str, Json], Json]:
    return "shop.show_orders", arguments, [{"order_id": n} for n in ids]


LOOP = "for o in orders: apis.shop.cancel_order(order_id=o['order_id'])"


def test_targets_from_a_full_first_page() -> None:
    assert risks_of(cancel(101), page(range(100, 105)), source=LOOP) == ["first_page_only"]


def test_targets_from_a_listing_that_was_read_on() -> None:
    pages = (page(range(100, 105)), page(range(105, 108), page_index=1))
    assert risks_of(cancel(101), *pages, source=LOOP) == []


def test_targets_from_a_short_or_a_counted_page_and_single_targets() -> None:
    assert risks_of(cancel(101), page(range(100, 103)), source=LOOP) == []
    assert risks_of(cancel(101), page(range(100, 105))) == []
    counted = (
        "shop.show_orders",
        {},
        {"orders": [{"order_id": n} for n in range(100, 105)], "total": 5},
    )
    assert risks_of(cancel(101), counted, source=LOOP) == []


@pytest.mark.parametrize(
    ("told", "risks"),
    [
        ({"total_orders": 5, "total_returned_orders": 5}, []),
        ({"total_orders": 9, "total_returned_orders": 5}, ["first_page_only"]),
        ({"total_returned_orders": 5}, ["first_page_only"]),
        ({"total_pages": 3, "total_price": 4}, ["first_page_only"]),
    ],
)
def test_a_total_under_the_listings_own_name_counts(
    told: dict[str, Json], risks: list[str]
) -> None:
    rows: Json = [{"order_id": n} for n in range(100, 105)]
    listing = ("shop.show_orders", {}, {"orders": rows, "orders_range": [0, 5], **told})
    assert risks_of(cancel(101), listing, source=LOOP) == risks


EVENT: Json = {
    "event_id": "e1",
    "title": "Dentist",
    "start_datetime": datetime(2024, 10, 17, 10, 30, tzinfo=UTC).timestamp(),
    "end_datetime": datetime(2024, 10, 17, 11, 30, tzinfo=UTC).timestamp(),
}


def test_an_event_that_overlaps_another() -> None:
    write = event("2024-10-17 10:00:00")
    assert risks_of(write, found([EVENT])) == ["calendar_overlap"]
    touching = event("2024-10-17 11:30:00", "2024-10-17 12:00:00")
    assert risks_of(touching, found([EVENT])) == []


@pytest.mark.parametrize(
    "change",
    [
        ("calendar.delete_event", {}),
        (
            "calendar.edit_event",
            {"start_datetime": "2024-10-17 15:00:00", "end_datetime": "2024-10-17 16:00:00"},
        ),
    ],
)
@pytest.mark.parametrize("succeeds", [True, False])
def test_an_event_that_was_deleted_or_moved_leaves_its_slot(change: Write, succeeds: bool) -> None:
    run = runner("call", task=task("Have yoga in place of the dentist on October 17."))
    run.answers = lambda name, arguments: ok([EVENT])
    run.run("read", lambda cell: cell.call("people.search"))
    run.answers = lambda name, arguments: ok(EVENT) if succeeds else failure()
    name, arguments = change
    for _ in range(2):
        run.run(f"apis.{name}()", lambda cell: cell.call(name, event_id="e1", **arguments))
    added, times = event("2024-10-17 10:00:00")
    run.run(f"apis.{added}()", lambda cell: cell.call(added, **times))
    assert run.risks == ([] if succeeds else ["calendar_overlap"])


def sent(run: Runner, write: Write) -> list[str]:
    """The risks that one write was stopped with before it was made."""
    name, arguments = write
    for _ in range(2):
        run.run(f"apis.{name}()", lambda cell: cell.call(name, **arguments))
    return run.risks


GYM = event("2024-10-17 08:00:00", "2024-10-17 09:00:00")
CLASS = event("2024-10-17 10:00:00")
DURING_GYM = event("2024-10-17 08:30:00", "2024-10-17 09:30:00")
DURING_CLASS = event("2024-10-17 10:30:00", "2024-10-17 11:30:00")
DELETE_GYM: Write = ("calendar.delete_event", {"event_id": "e7"})


@pytest.mark.parametrize("answer", ["e7", {"event_id": "e7"}, {"id": 7}, None, "ok", True])
def test_events_that_the_episode_added_itself_are_overlapped_too(answer: Json) -> None:
    run = runner("call", task=task("Add four events on 2024-10-17."))
    run.answers = lambda name, arguments: ok(answer)
    assert sent(run, GYM) == []
    assert sent(run, CLASS) == []
    assert sent(run, DURING_GYM) == ["calendar_overlap"]
    assert sent(run, DURING_CLASS) == ["calendar_overlap"]


@pytest.mark.parametrize("answer", ["e7", {"event_id": "e7"}, {"event": {"id": "e7", **GYM[1]}}])
def test_an_event_that_was_added_and_deleted_leaves_its_slot(answer: Json) -> None:
    run = runner("call", task=task("Add an event on 2024-10-17."))
    run.answers = lambda name, arguments: ok(answer)
    sent(run, GYM)
    sent(run, DELETE_GYM)
    assert sent(run, DURING_GYM) == []


def test_an_added_event_that_is_read_later_is_one_event() -> None:
    run = runner("call", task=task("Add an event on 2024-10-17."))
    run.answers = lambda name, arguments: ok("added")
    sent(run, GYM)
    run.answers = lambda name, arguments: ok([{**GYM[1], "event_id": "e7"}])
    run.run("read", lambda cell: cell.call("people.search"))
    run.answers = lambda name, arguments: ok({})
    sent(run, DELETE_GYM)
    assert sent(run, DURING_GYM) == []


PRODUCT: Json = {
    "name": "Mug",
    "product_id": "p1",
    "variants": {
        "a": {"item_id": "i1", "price": 5, "options": {"color": "red", "size": "big"}},
        "b": {"item_id": "i2", "price": 5, "options": {"color": "blue", "size": "big"}},
    },
}


def test_a_variant_that_the_task_does_not_state() -> None:
    cart: Write = ("store.add_to_cart", {"item_id": "i1"})
    assert risks_of(cart, found(PRODUCT), instruction="Buy a mug.") == ["variant_not_stated"]
    for words in (
        "Buy a red mug.",
        "Buy the mug (Red).",
        "Buy it in 'Red'.",
        "In \u2018Red\u2019.",
    ):
        assert risks_of(cart, found(PRODUCT), instruction=words) == []


@pytest.mark.parametrize(
    ("size", "words"), [("M", "I'm out of my shirts."), ("red", "The one I ordered before.")]
)
def test_an_option_inside_another_word_is_not_stated(size: str, words: str) -> None:
    variants = {key: {"item_id": key, "options": {"size": key}} for key in (size, "other")}
    cart: Write = ("store.add_to_cart", {"item_id": size})
    shirt = found({"name": "Shirt", "variants": variants})
    assert risks_of(cart, shirt, instruction=words) == ["variant_not_stated"]
    assert risks_of(cart, shirt, instruction=f"{words} Size {size}, please.") == []


RIDE: dict[str, Json] = {"start_location": "home", "end_location": "port", "service_type": "Van"}


def test_a_ride_other_than_quoted() -> None:
    quote = ("cabs.get_quotation", RIDE, {**RIDE, "price": 12.5})
    assert risks_of(("cabs.order_ride", RIDE), quote) == []
    other: Write = ("cabs.order_ride", {**RIDE, "service_type": "Default"})
    assert risks_of(other, quote) == ["ride_not_as_quoted"]


def test_a_ride_that_an_earlier_quotation_of_several_gave() -> None:
    rides = [{**RIDE, "service_type": name} for name in ("Default", "Premium", "Van")]
    quotes = [("cabs.get_quotation", ride, {**ride, "price": 12.5}) for ride in rides]
    for ride in rides:
        assert risks_of(("cabs.order_ride", ride), *quotes) == []
    far: Write = ("cabs.order_ride", {**RIDE, "end_location": "airport"})
    assert risks_of(far, *quotes) == ["ride_not_as_quoted"]


def test_a_ride_at_the_quoted_moment_in_another_spelling() -> None:
    quote = ("cabs.get_quotation", {**RIDE, "ride_time": "2024-10-17 10:00:00"}, {"price": 12.5})
    words = "Go on 2024-10-17."
    for time, risks in (
        ("2024-10-17T10:00:00", []),
        ("2024-10-17T11:00:00", ["ride_not_as_quoted"]),
    ):
        ride: Write = ("cabs.order_ride", {**RIDE, "ride_time": time})
        assert risks_of(ride, quote, instruction=words) == risks


def test_a_write_after_an_empty_read() -> None:
    assert risks_of(pay("a", 0), found([])) == ["write_after_empty_read"]
    assert risks_of(pay("a", 0), found([]), found([1])) == []
    assert risks_of(pay("a", 0), found({"items": [], "total": 0})) == ["write_after_empty_read"]
    assert risks_of(pay("a", 0), found({"service": "Van", "delays": []})) == []


# --- stops for a risk


def test_a_new_high_risk_stops_a_verified_cell_in_the_middle_twice_at_most() -> None:
    run = runner(task=task("Cancel order 12."))
    source = "for o in (12, 101, 102, 103, 104): apis.shop.cancel_order(order_id=o)"

    def loop(cell: Runner) -> None:
        for order in (12, 101, 102, 103, 104):
            cell.call("shop.cancel_order", order_id=order)

    ends = [run.run(source, loop) for _ in range(4)]
    assert ends == ["stopped", "stopped", "stopped", "finished"]
    assert [a["order_id"] for _, a in run.writes] == [12, 101, 102, 103, 104]


def test_a_risk_that_an_advisory_named_does_not_stop_the_same_call_again() -> None:
    run = runner(task=task("Cancel it."))
    write: Callable[[Runner], object] = lambda cell: cell.call("shop.cancel_order", order_id=77)  # noqa: E731
    assert run.run("apis.shop.cancel_order()", write) == "stopped"
    assert run.risks == run.advisory["new_detected_risks"] == ["id_never_observed"]
    assert run.run("apis.shop.cancel_order()", write) == "finished"


def test_without_risk_stop_a_risk_is_told_but_does_not_stop() -> None:
    run = runner(task=task("Cancel order 12."), risk_stop=False)
    for order in (12, 12, 77):
        run.run(
            "apis.shop.cancel_order()",
            lambda cell, n=order: cell.call("shop.cancel_order", order_id=n),
        )
    assert run.reasons == ["stopped", "verified", "verified"]


def test_repeating_a_call_without_arguments_is_no_risk() -> None:
    run = runner()
    for _ in range(4):
        run.run("apis.shop.next_song()", lambda cell: cell.call("shop.next_song"))
    assert run.reasons == ["stopped", *["verified"] * 3]


# --- FINISH


def finish(cell: Runner) -> None:
    cell.call("desk.complete", answer="x")


def test_finish_passes_when_nothing_failed() -> None:
    run = runner()
    assert run.run("apis.desk.complete()", finish) == "finished"
    assert run.reasons == ["finish"]


def after_a_failure(result: CallResult) -> Runner:
    run = runner()
    run.answers = lambda name, arguments: result if name == "shop.pay" else ok({})
    for _ in range(2):
        run.run("apis.shop.pay()", pays([5]))
    return run


def test_finish_after_a_failed_write_is_stopped_once() -> None:
    run = after_a_failure(failure("declined"))
    assert run.run("apis.desk.complete()", finish) == "stopped"
    assert run.risks == ["completing_after_failed_write"]
    assert (
        run.run("apis.desk.complete('y')", lambda c: c.call("desk.complete", answer="y"))
        == "finished"
    )
    assert [name for name, _ in run.writes] == ["shop.pay", "desk.complete"]


def test_finish_after_a_failure_that_was_made_good_passes() -> None:
    run = after_a_failure(failure("declined"))
    run.answers = lambda name, arguments: ok({})
    run.run("apis.shop.pay(amount=7)", pays([7]))
    assert run.run("apis.desk.complete()", finish) == "finished"


def test_finish_after_a_write_that_was_already_in_force_passes() -> None:
    run = after_a_failure(failure("You have already paid this."))
    assert run.run("apis.desk.complete()", finish) == "finished"


def test_finish_is_not_excused_by_another_success_of_the_same_loop() -> None:
    run = runner()
    run.answers = lambda name, arguments: failure() if arguments.get("amount") == 5 else ok({})

    def tolerant(cell: Runner) -> None:
        for amount in (5, 7):
            try:
                cell.call("shop.pay", to="ann@x.org", amount=amount)
            except CallFailed:
                continue

    for _ in range(2):
        run.run("apis.shop.pay()", tolerant)
    assert run.run("apis.desk.complete()", finish) == "stopped"
