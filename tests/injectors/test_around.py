"""The gate around one's own functions: a small shop, sync, async and in a tool-call loop."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from around_samples import contents, decisions, lines, reply, tool_call

from injectors.around.asking import Answer, Question
from injectors.around.guard import Guard, WriteDenied, WriteStopped
from injectors.bank import Bank
from injectors.cards import FunctionCard
from injectors.gate.risks import RISKS, Risk
from runtime.errors import TraceError, UnknownName, UsageError

TASK = "Order 2 mugs for ann@x.org."


@dataclass
class Shop:
    """What an agent of one's own acts on; `orders` is what really happened."""

    orders: list[tuple[str, int]] = field(default_factory=list)
    broken: bool = False

    def search(self, query: str) -> str:
        """Find things."""
        return json.dumps([{"item_id": "mug-7", "price": 4.5, "query": query}])

    def order(self, item_id: str, quantity: int = 1, note: str | None = None) -> dict[str, object]:
        """Order a thing."""
        if self.broken:
            raise RuntimeError("out of stock")
        self.orders.append((item_id, quantity))
        return {"order_id": len(self.orders), "item_id": item_id}

    async def order_later(self, item_id: str, quantity: int = 1) -> dict[str, object]:
        """Order a thing without blocking."""
        await asyncio.sleep(0)
        return self.order(item_id, quantity)

    def done(self, answer: str = "") -> str:
        """Close the task."""
        return "closed"


KINDS = {"search": "READ", "done": "FINISH"}


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def guard(shop: Shop, **options: Any) -> Guard:
    tools = [shop.search, shop.order, shop.order_later, shop.done]
    return Guard(tools, kinds=KINDS, task=TASK, **options)


# --- plain functions


def test_a_write_is_stopped_once_and_then_runs(shop: Shop, log: Path) -> None:
    watch = guard(shop, audit=log)
    search, order = watch.wrap(shop.search), watch.wrap(shop.order)
    assert "mug-7" in search("mug")
    with pytest.raises(WriteStopped) as stopped:
        order("mug-7", 2)
    assert shop.orders == []
    assert stopped.value.advisory["function"] == "tools.order"
    assert json.loads(str(stopped.value)) == stopped.value.advisory
    assert order(quantity=2, item_id=" mug-7 ") == {"order_id": 1, "item_id": " mug-7 "}
    assert decisions(log) == ["read", "stopped", "verified"]


def test_other_arguments_are_another_call(shop: Shop) -> None:
    order = guard(shop).wrap(shop.order)
    for quantity in (1, 2):
        with pytest.raises(WriteStopped):
            order("mug", quantity)


def test_the_advisory_can_be_the_return_value(shop: Shop) -> None:
    order = guard(shop, on_stop="return").wrap(shop.order)
    advisory = json.loads(str(order("mug")))
    assert advisory["rtm_pre_tool_memory"] == "VERIFY_BEFORE_WRITE"
    assert shop.orders == []


def test_the_signature_stays(shop: Shop) -> None:
    watch = guard(shop)
    assert inspect.signature(watch.wrap(shop.order)) == inspect.signature(shop.order)
    assert watch.wrap(shop.order).__doc__ == "Order a thing."
    assert inspect.iscoroutinefunction(watch.wrap(shop.order_later))


async def test_async_functions(shop: Shop) -> None:
    order = guard(shop).wrap(shop.order_later)
    with pytest.raises(WriteStopped):
        await order("mug", 2)
    assert (await order("mug", 2))["order_id"] == 1


def test_an_unnamed_tool_is_a_write_and_a_wrong_name_is_told(shop: Shop) -> None:
    with pytest.raises(WriteStopped):
        Guard().wrap(shop.search)("mug")
    with pytest.raises(UnknownName, match="serach"):
        Guard([shop.search], kinds={"serach": "READ"})
    with pytest.raises(UsageError, match="READ, WRITE or FINISH"):
        Guard([shop.search], kinds={"search": "read-only"})


def test_a_retry_loop_inside_one_turn_cannot_confirm_itself(shop: Shop) -> None:
    watch = guard(shop)
    order = watch.wrap(shop.order)
    with watch.turn():
        for _ in range(4):
            with pytest.raises(WriteStopped):
                order("mug")
    assert shop.orders == []
    with watch.turn():
        order("mug")
    assert len(shop.orders) == 1


def test_a_repeated_payment_is_stopped_by_its_risk(shop: Shop) -> None:
    order = guard(shop).wrap(shop.order)
    with pytest.raises(WriteStopped):
        order("mug")
    order("mug")
    with pytest.raises(WriteStopped) as stopped:
        order("mug")
    assert "identical_write_already_executed" in str(stopped.value)
    order("mug")
    assert len(shop.orders) == 2


def test_a_failing_tool_raises_its_own_error_and_may_be_tried_again(shop: Shop) -> None:
    shop.broken = True
    order = guard(shop).wrap(shop.order)
    with pytest.raises(WriteStopped):
        order("mug")
    with pytest.raises(RuntimeError, match="out of stock"):
        order("mug")
    shop.broken = False
    assert order("mug")["order_id"] == 1


def test_closing_after_a_failed_write_is_stopped_once(shop: Shop) -> None:
    shop.broken = True
    watch = guard(shop)
    order, done = watch.wrap(shop.order), watch.wrap(shop.done)
    for error in (WriteStopped, RuntimeError):
        with pytest.raises(error):
            order("mug")
    with pytest.raises(WriteStopped, match="completing_after_failed_write"):
        done("x")
    assert done("x") == "closed"


def test_own_risks_checklists_and_cards(shop: Shop) -> None:
    card = FunctionCard(
        card_id="function::tools.order",
        tool="tools.order",
        app="tools",
        function="order",
        what_it_does="Orders one item.",
        common_mistakes=("Ordering the wrong size.",),
    )
    many = Risk("many", "high", lambda s: "Ten or more." if s.arguments["quantity"] > 9 else None)
    watch = guard(
        shop,
        bank=Bank.of("own", [card]),
        risks=[*RISKS, many],
        checklists={"tools.order": ["Is the size right?"]},
    )
    with pytest.raises(WriteStopped) as stopped:
        watch.wrap(shop.order)("mug-7", 12)
    advisory = stopped.value.advisory
    assert [risk["id"] for risk in advisory["detected_risks"]] == ["id_never_observed", "many"]
    assert advisory["write_checklist"] == ["Is the size right?"]
    assert advisory["function_memory"]["what_it_does"] == "Orders one item."


def test_what_the_user_said_is_observed(shop: Shop) -> None:
    watch = guard(shop)
    watch.observe("I mean mug-7, please.")
    with pytest.raises(WriteStopped) as stopped:
        watch.wrap(shop.order)("mug-7")
    assert stopped.value.advisory["detected_risks"] == []


def test_a_function_without_a_signature_is_told_and_a_broken_annotation_is_no_obstacle() -> None:
    with pytest.raises(UsageError, match="does not tell its parameters"):
        Guard().wrap(max)

    def note(text: str) -> str:
        return text

    note.__annotations__["text"] = "json.nope"
    keep = Guard().wrap(note)
    with pytest.raises(WriteStopped):
        keep("a")
    assert keep("a") == "a"


def test_keyword_tools_count_every_argument() -> None:
    made = []
    send = Guard().wrap(lambda **fields: made.append(fields), name="send")
    for subject in ("a", "b"):
        with pytest.raises(WriteStopped):
            send(subject=subject)
    send(subject="a")
    assert made == [{"subject": "a"}]


# --- asking a person


def test_a_person_approves(shop: Shop, log: Path) -> None:
    asked: list[Question] = []

    def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer(approved=True, reason="fine")

    order = guard(shop, ask=ask, audit=log).wrap(shop.order)
    with pytest.raises(WriteStopped):
        order("mug-7", 2)
    assert asked == []
    order("mug-7", 2)
    assert asked[0].function == "tools.order"
    assert asked[0].arguments == {"item_id": "mug-7", "quantity": 2}
    assert [(line["decision"], line["detail"]) for line in lines(log)] == [
        ("stopped", ""),
        ("verified", "approved: fine"),
    ]


def test_a_denial_is_final_for_that_call(shop: Shop, log: Path) -> None:
    asked = []

    def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer(approved=False, reason="too dear")

    order = guard(shop, ask=ask, audit=log).wrap(shop.order)
    with pytest.raises(WriteStopped):
        order("mug")
    for _ in range(3):
        with pytest.raises(WriteDenied, match="too dear"):
            order("mug")
    assert len(asked) == 1
    assert shop.orders == []
    assert decisions(log) == ["stopped", "refused", "refused", "refused"]


@pytest.mark.parametrize("reply", [None, "yes", 1, {"approved": True}])
def test_an_unclear_answer_never_means_yes(shop: Shop, log: Path, reply: object) -> None:
    order = guard(shop, ask=lambda question: reply, audit=log).wrap(shop.order)
    with pytest.raises(WriteStopped):
        order("mug")
    with pytest.raises(UsageError, match="True, False or an Answer"):
        order("mug")
    assert shop.orders == []
    assert decisions(log) == ["stopped", "refused"]


def test_a_hook_that_fails_has_not_approved(shop: Shop, log: Path) -> None:
    def ask(question: Question) -> bool:
        raise ConnectionError("nobody is there")

    order = guard(shop, ask=ask, audit=log).wrap(shop.order)
    with pytest.raises(WriteStopped):
        order("mug")
    with pytest.raises(ConnectionError):
        order("mug")
    assert shop.orders == []
    assert decisions(log) == ["stopped", "refused"]


async def test_hooks_and_functions_of_either_kind(shop: Shop) -> None:
    async def ask_async(question: Question) -> bool:
        await asyncio.sleep(0)
        return True

    for ask in (ask_async, lambda question: True):
        order = guard(shop, ask=ask).wrap(shop.order_later)
        with pytest.raises(WriteStopped):
            await order("mug")
        await order("mug")
    assert len(shop.orders) == 2
    plain = guard(shop, ask=ask_async).wrap(shop.order)
    with pytest.raises(WriteStopped):
        plain("mug")
    with pytest.raises(UsageError, match="async ask hook"):
        plain("mug")
    assert len(shop.orders) == 2


def test_an_async_hook_serves_a_plain_function_outside_of_a_loop(shop: Shop) -> None:
    async def ask(question: Question) -> bool:
        return True

    order = guard(shop, ask=ask).wrap(shop.order)

    def confirm() -> None:
        with pytest.raises(WriteStopped):
            order("mug")
        order("mug")

    thread = threading.Thread(target=confirm)
    thread.start()
    thread.join()
    assert len(shop.orders) == 1


async def test_an_equal_call_waits_for_no_second_approval(shop: Shop) -> None:
    asked, decide = [], asyncio.Event()

    async def ask(question: Question) -> bool:
        asked.append(question)
        await decide.wait()
        return True

    order = guard(shop, ask=ask).wrap(shop.order_later)
    with pytest.raises(WriteStopped):
        await order("mug")
    first = asyncio.create_task(order("mug"))
    await asyncio.sleep(0)
    with pytest.raises(WriteDenied, match="being decided"):
        await order("mug")
    decide.set()
    await first
    assert len(asked) == len(shop.orders) == 1


# --- the audit log


def test_the_audit_log_masks_secrets(log: Path) -> None:
    send = Guard(audit=log).wrap(lambda to, password: None, name="send")
    with pytest.raises(WriteStopped) as stopped:
        send("ann", password="hunter22")
    send("ann", password="hunter22")
    assert "hunter22" not in str(stopped.value)
    assert "hunter22" not in log.read_text()
    masks = {line["arguments"]["password"] for line in lines(log)}
    assert masks == {"<secret:1>"}


def test_without_an_audit_line_nothing_runs(shop: Shop, tmp_path: Path) -> None:
    order = guard(shop, audit=tmp_path / "gone" / "audit.jsonl").wrap(shop.order)
    for _ in range(3):
        with pytest.raises(TraceError, match="was not made"):
            order("mug")
    assert shop.orders == []


def test_every_call_has_exactly_one_line_from_many_threads(shop: Shop, log: Path) -> None:
    watch = guard(shop, audit=log)
    order = watch.wrap(shop.order)

    def work(n: int) -> None:
        for _ in range(2):
            try:
                order(f"mug {n}")
            except WriteStopped:
                continue

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(line["n"] for line in lines(log)) == list(range(1, 17))
    assert len(shop.orders) == decisions(log).count("verified") == 8


# --- a tool-call loop


def test_a_tool_loop(shop: Shop, log: Path) -> None:
    watch = guard(shop, audit=log)
    order = tool_call(2, "order", {"item_id": "mug-7", "quantity": 2})
    messages = watch.answer(reply(tool_call(1, "search", {"query": "mug"}), order))
    assert [message["tool_call_id"] for message in messages] == ["call_1", "call_2"]
    assert {message["role"] for message in messages} == {"tool"}
    assert contents(messages)[1]["executed"] is False
    again = tool_call(3, "order", {"quantity": 2.0, "item_id": "mug-7"})  # a new id, as models do
    assert contents(watch.answer(reply(again))) == [{"order_id": 1, "item_id": "mug-7"}]
    assert shop.orders == [("mug-7", 2.0)]
    assert decisions(log) == ["read", "stopped", "verified"]


def test_equal_parallel_calls_do_not_confirm_each_other(shop: Shop) -> None:
    watch = guard(shop)
    order = ("order", {"item_id": "mug"})
    told = contents(watch.answer(reply(tool_call(1, *order), tool_call(2, *order))))
    assert [item["executed"] for item in told] == [False, False]
    assert shop.orders == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (tool_call(1, "ordr", {}), "Nearest: order"),
        (tool_call(1, "order", "{half"), "no JSON"),
        (tool_call(1, "order", "[1]"), "no JSON object"),
        (tool_call(1, "order", {"item": "mug"}), "argument"),
    ],
)
def test_a_call_that_no_tool_can_take_is_answered_and_logged(
    shop: Shop, log: Path, call: dict[str, object], words: str
) -> None:
    told = contents(guard(shop, audit=log).answer(reply(call)))
    assert words in told[0]["error"]
    assert decisions(log) == ["refused"]


def test_a_tool_that_raises_is_answered_with_its_error(shop: Shop) -> None:
    shop.broken = True
    watch = guard(shop)
    order = tool_call(1, "order", {"item_id": "mug"})
    watch.answer(reply(order))
    assert contents(watch.answer(reply(order))) == [{"error": "RuntimeError: out of stock"}]


def test_a_denied_tool_call_says_so(shop: Shop) -> None:
    watch = guard(shop, ask=lambda question: Answer(approved=False, reason="no budget"))
    order = tool_call(1, "order", {"item_id": "mug"})
    watch.answer(reply(order))
    told = contents(watch.answer(reply(order)))
    assert told == [{"executed": False, "denied": True, "reason": "denied: no budget"}]


async def test_an_async_tool_loop(shop: Shop) -> None:
    watch = guard(shop)
    order = tool_call(1, "order_later", {"item_id": "mug"})
    with pytest.raises(UsageError, match="answer_async"):
        watch.answer(reply(order))
    assert contents(await watch.answer_async(reply(order)))[0]["executed"] is False
    assert contents(await watch.answer_async([order])) == [{"order_id": 1, "item_id": "mug"}]
    search = tool_call(2, "search", {"query": "x"})
    assert contents(await watch.answer_async(reply(search)))[0][0]["item_id"] == "mug-7"


def test_api_objects_are_read_too(shop: Shop) -> None:
    from openai.types.chat import ChatCompletionMessage

    message = ChatCompletionMessage.model_validate(reply(tool_call(1, "order", {"item_id": "x"})))
    assert contents(guard(shop).answer(message))[0]["executed"] is False
    assert guard(shop).answer({"role": "assistant", "content": "hello"}) == []


def test_what_is_no_reply_is_refused(shop: Shop) -> None:
    with pytest.raises(UsageError):
        guard(shop).answer("order a mug")
    with pytest.raises(UsageError, match="chat completions"):
        guard(shop).answer([{"name": "order"}])


def test_the_ten_lines_of_the_readme(log: Path) -> None:
    sent = []

    def find_person(name: str) -> dict[str, str]:
        return {"name": name, "email": "ann@x.org"}

    def send(to: str, text: str) -> str:
        sent.append((to, text))
        return "sent"

    script = iter(
        [
            reply(tool_call(1, "find_person", {"name": "Ann"})),
            reply(tool_call(2, "send", {"to": "ann@x.org", "text": "hi"})),
            reply(tool_call(3, "send", {"to": "ann@x.org", "text": "hi"})),
            {"role": "assistant", "content": "Done."},
        ]
    )
    watch = Guard([find_person, send], kinds={"find_person": "READ"}, audit=log)
    messages = [{"role": "user", "content": "Say hi to Ann."}]
    while True:
        message = next(script)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        messages += watch.answer(message)
    assert sent == [("ann@x.org", "hi")]
    assert decisions(log) == ["read", "stopped", "verified"]
