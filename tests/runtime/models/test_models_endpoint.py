"""Completions against a real local HTTP server: what comes back, and what goes out."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from runtime.contracts import ChatModel, Message, ModelSource, Task, Usage
from runtime.errors import NotReady
from runtime.models.config import Endpoint, ModelSettings, Prices, Provider
from runtime.models.openai import OpenAISource
from runtime.models.throttle import Throttle
from tests.support.chat_server import Answer, completion, refusal

TASK = Task(benchmark="b", id="t_1", scenario_id="t", dataset="d", instruction="do")
SYSTEM = Message(role="system", content="Be brief.")
USER = Message(role="user", content="hi")


async def ask(source, *messages: Message, seed: int = 7):
    return await source.for_episode(TASK, seed).complete(messages or (USER,))


async def test_a_reply_carries_text_usage_and_where_it_came_from(server, source):
    server.will(completion("hello", finish_reason="stop"))
    reply = await ask(source())
    assert (reply.text, reply.finish_reason, reply.served_model) == (
        "hello",
        "stop",
        "served-model",
    )
    assert reply.usage == Usage(input=10, output=5)
    assert reply.attempts == 1
    assert reply.latency_s > 0
    assert not reply.masked


def test_it_is_what_the_harness_expects(source):
    made: ModelSource = source()
    model: ChatModel = made.for_episode(TASK, 0)
    assert made.name == model.name == "mini"


async def test_parameters_pass_unchanged_and_extra_body_is_merged(server, source):
    parameters = {
        "temperature": 0.3,
        "reasoning_effort": "low",
        "max_completion_tokens": 512,
        "response_format": {"type": "json_object"},
        "extra_body": {"cache_prompt": False, "chat_template_kwargs": {"enable_thinking": False}},
    }
    await ask(source(parameters=parameters), SYSTEM, USER)
    sent = server.requests[-1].body
    merged = parameters.pop("extra_body")
    assert sent == {
        "model": "mini-1",
        "messages": [SYSTEM.model_dump(), USER.model_dump()],
        **parameters,
        **merged,
    }


async def test_the_key_goes_out_as_a_bearer_token(server, source):
    await ask(source(key="a-very-secret-key"))
    assert server.requests[-1].headers["authorization"] == "Bearer a-very-secret-key"


async def test_the_seed_is_sent_when_asked_for(server, source):
    await ask(source(send_seed=True), seed=41)
    await ask(source(), seed=41)
    assert [request.body.get("seed") for request in server.requests] == [41, None]


async def test_text_that_is_no_unicode_is_spelt_out(server, source):
    await ask(source(), Message(role="user", content="bytes: \udc80"))
    assert server.requests[-1].messages[0]["content"] == "bytes: \\udc80"


@pytest.mark.parametrize("text", [None, ""])
@pytest.mark.parametrize("finish_reason", ["stop", "length"])
async def test_an_empty_reply_is_an_empty_text(server, source, text, finish_reason):
    server.will(completion(text, finish_reason=finish_reason))
    reply = await ask(source())
    assert (reply.text, reply.finish_reason) == ("", finish_reason)


@pytest.mark.parametrize("text", ["no fence here", "```python\nprint(1)", " \n```\nx\n```\n"])
async def test_text_is_passed_on_as_it_is(server, source, text):
    server.will(completion(text, finish_reason="length"))
    reply = await ask(source())
    assert (reply.text, reply.finish_reason) == (text, "length")


async def test_content_in_parts_is_joined(server, source):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    server.will(completion(parts))
    assert (await ask(source())).text == "ab"


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (None, None),
        ({"prompt_tokens": None, "completion_tokens": None}, None),
        ({"prompt_tokens": 8, "completion_tokens": 2}, Usage(input=8, output=2)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 30,
                "total_tokens": 130,
                "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(input=100, cached=60, output=30, reasoning=20),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 4},
            Usage(input=9, cached=4, output=1),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 16},
            Usage(input=9, cached=9, output=1),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 35,
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(input=10, output=25, reasoning=20),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": None,
                "completion_tokens_details": None,
            },
            Usage(input=10, output=5),
        ),
    ],
)
async def test_usage_is_read_in_every_form(server, source, reported, expected):
    server.will(completion(usage=reported))
    assert (await ask(source())).usage == expected


@pytest.mark.parametrize(
    "counts",
    [
        {"prompt_tokens": -5},
        {"completion_tokens": -1},
        {"total_tokens": -1},
        {"prompt_tokens": 10**30},
        {"prompt_tokens": 10.5},
        {"completion_tokens": float("nan")},
        {"completion_tokens": "many"},
        {"prompt_tokens_details": {"cached_tokens": -3}},
        {"completion_tokens_details": {"reasoning_tokens": -3}},
        {"prompt_cache_hit_tokens": -3},
    ],
)
async def test_counts_that_no_completion_can_have_are_not_believed(server, source, counts):
    server.will(completion(usage={"prompt_tokens": 8, "completion_tokens": 2, **counts}))
    reply = await ask(source(prices=Prices(input=1, cached=1, output=1)))
    assert (reply.text, reply.usage, reply.cost_usd) == ("ok", None, None)


async def test_cost_prices_cached_input_apart(server, source):
    usage = {
        "prompt_tokens": 1_000_000,
        "completion_tokens": 500_000,
        "prompt_tokens_details": {"cached_tokens": 400_000},
    }
    server.will(completion(usage=usage))
    reply = await ask(source(prices=Prices(input=2.0, cached=0.5, output=8.0)))
    assert reply.cost_usd == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.5 * 8.0)


async def test_the_cost_of_an_unpriced_model_is_unknown(server, source):
    assert (await ask(source())).cost_usd is None


async def test_without_usage_there_is_no_cost(server, source):
    server.will(completion(usage=None))
    assert (await ask(source(prices=Prices(input=1, cached=1, output=1)))).cost_usd is None


@pytest.mark.parametrize(
    ("prices", "usage", "cost"),
    [
        (Prices(input=1, output=1), Usage(input=1_000_000, cached=10, output=0), None),
        (Prices(input=1, output=1), Usage(input=1_000_000, output=1_000_000), 2.0),
        (Prices(input=1), Usage(input=5, output=5), None),
        (Prices(), Usage(), None),
        (Prices(input=0, cached=0, output=0), Usage(input=5, cached=1, output=5), 0.0),
        (Prices(input=1, output=1), None, None),
    ],
)
def test_an_unknown_price_makes_the_cost_unknown(prices, usage, cost):
    assert prices.cost(usage) == cost


async def test_a_model_without_system_role_gets_its_text_in_the_first_user_message(server, source):
    await ask(source(roles=["user", "assistant"]), SYSTEM, USER)
    assert server.requests[-1].messages == [{"role": "user", "content": "Be brief.\n\nhi"}]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("System role not supported", {}),
        (
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            {"param": "messages[0].role", "code": "unsupported_value"},
        ),
        ("Developer instruction is not enabled for models/tiny", {}),
        ("Only user and assistant roles are supported!", {}),
    ],
)
async def test_a_rejected_system_role_is_merged_from_then_on(
    server, source, message, error, caplog
):
    server.will(refusal(400, message, **error))
    made = source()
    with caplog.at_level(logging.WARNING, "runtime.models"):
        first = await ask(made, SYSTEM, USER)
        second = await ask(made, SYSTEM, USER)
    roles = [[each["role"] for each in request.messages] for request in server.requests]
    assert roles == [["system", "user"], ["user"], ["user"]]
    assert (first.attempts, second.attempts) == (2, 1)
    assert first.adaptations == ("system message merged into the first user message",)
    assert second.adaptations == first.adaptations
    assert [message in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (
            400,
            (
                "Unsupported value: 'temperature' does not support 0 with this model. Only the "
                "default (1) value is supported."
            ),
            {"param": "temperature", "code": "unsupported_value"},
        ),
        (400, "`temperature` is deprecated for this model.", {}),
        (422, "[{'type': 'extra_forbidden', 'loc': ['body', 'temperature']}]", {}),
    ],
)
async def test_a_rejected_parameter_is_dropped_once_and_for_all(
    server, source, waits, caplog, status, message, error
):
    server.will(refusal(status, message, **error))
    made = source(parameters={"temperature": 0, "top_p": 0.9})
    with caplog.at_level(logging.WARNING, "runtime.models"):
        replies = [await ask(made), await ask(made)]
    assert {reply.adaptations for reply in replies} == {("temperature left out",)}
    assert ["temperature" in request.body for request in server.requests] == [True, False, False]
    assert all(request.body["top_p"] == 0.9 for request in server.requests)
    assert len(caplog.records) == 1
    assert waits == []


@pytest.mark.parametrize(
    ("name", "other"),
    [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")],
)
async def test_the_token_bound_is_sent_under_its_other_name(server, source, name, other):
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    hint = f" Use '{other}' instead."
    server.will(refusal(400, message + hint, param=name, code="unsupported_parameter"))
    reply = await ask(source(parameters={name: 64}))
    assert reply.adaptations == (f"{name} sent as {other}",)
    assert name not in server.requests[1].body
    assert server.requests[1].body[other] == 64


async def test_a_token_bound_rejected_under_both_names_is_dropped(server, source):
    server.otherwise = lambda request: (
        refusal(400, f"Unsupported parameter: '{sent[0]}'", param=sent[0])
        if (sent := [name for name in request.body if name.startswith("max_")])
        else completion("free")
    )
    reply = await ask(source(parameters={"max_tokens": 64}))
    assert (reply.text, reply.attempts) == ("free", 3)
    assert reply.adaptations == ("max_tokens left out",)


async def test_episodes_that_are_rejected_together_all_get_through(server, source):
    def otherwise(request):
        if "temperature" in request.body:
            return refusal(400, "Unsupported parameter: temperature", param="temperature")
        return completion()

    server.otherwise = otherwise
    made = source(parameters={"temperature": 0})
    replies = await asyncio.gather(*(ask(made, seed=n) for n in range(4)))
    assert [reply.text for reply in replies] == ["ok"] * 4


async def test_requests_in_flight_stay_within_the_provider_over_all_its_models(server):
    provider = Provider(base_url=server.base_url, concurrency=2)
    throttle = Throttle(provider)
    sources = [
        OpenAISource(
            Endpoint(
                name=name,
                provider_name="p",
                provider=provider,
                settings=ModelSettings(model=name),
            ),
            None,
            throttle,
        )
        for name in ("one", "two")
    ]
    server.otherwise = lambda request: Answer(completion().body, hang=True)
    asked = [asyncio.create_task(ask(sources[n % 2])) for n in range(6)]
    await until(lambda: server.in_flight == 2)
    server.release()
    await asyncio.gather(*asked)
    assert server.most_in_flight == 2
    assert len(server.requests) == 6
    for each in sources:
        await each.close()


async def test_without_a_bound_all_requests_are_in_flight_at_once(server, source):
    server.otherwise = lambda request: Answer(completion().body, hang=True)
    made = source()
    asked = [asyncio.create_task(ask(made)) for _ in range(6)]
    await until(lambda: server.in_flight == 6)
    server.release()
    await asyncio.gather(*asked)


async def test_requests_per_minute_are_spaced_evenly():
    now = [100.0]
    starts: list[float] = []

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    throttle = Throttle(
        Provider(base_url="http://x/v1", requests_per_minute=30), sleep=sleep, clock=lambda: now[0]
    )
    for pause in (0.0, 0.0, 0.0, 10.0):
        now[0] += pause
        async with throttle.turn():
            starts.append(now[0])
    assert starts == [100.0, 102.0, 104.0, 114.0]


async def test_a_cancelled_episode_gives_its_turn_back(server, source):
    provider = Provider(base_url=server.base_url, concurrency=1)
    throttle = Throttle(provider)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01), throttle.turn():
            await asyncio.sleep(60)
    async with asyncio.timeout(5), throttle.turn():
        pass


async def test_check_passes_a_living_endpoint_even_without_a_list_of_models(server, source):
    await source().check()
    server.otherwise = lambda request: refusal(404, "no such route")
    await source().check()


async def test_check_names_a_dead_endpoint(source):
    with pytest.raises(NotReady, match=r"http://127\.0\.0\.1:1/v1.*Check that the server runs"):
        await source(base_url="http://127.0.0.1:1/v1").check()


async def test_check_names_the_variable_of_a_refused_key(server, source):
    server.otherwise = lambda request: refusal(401, "Incorrect API key provided")
    with pytest.raises(NotReady, match="TEST_KEY"):
        await source().check()


def test_the_description_holds_no_key(source):
    made = source(key="a-very-secret-key", parameters={"temperature": 0})
    described = made.describe()
    assert "a-very-secret-key" not in str(described)
    assert (described["model"], described["parameters"]) == ("mini-1", {"temperature": 0})
    assert described["prices"] == {"input": None, "cached": None, "output": None}
    assert made.secrets() == ("a-very-secret-key",)


def test_a_placeholder_key_is_not_masked_everywhere(source):
    assert source(key="none").secrets() == ()


async def until(condition, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.005)
