"""What an endpoint that fails turns into: retries, sentences, never a key."""

from __future__ import annotations

import email.utils
import logging
import time
import traceback

import pytest

from runtime.contracts import Message, Task
from runtime.errors import ContextOverflow, ModelError
from runtime.models.failures import Failure, failure_of_body, retry_after_s
from runtime.models.retry import Retry
from tests.support.chat_server import Answer, completion, refusal

TASK = Task(benchmark="b", id="t_1", scenario_id="t", dataset="d", instruction="do")
CONVERSATION = (Message(role="system", content="s"), Message(role="user", content="hi"))
KEY = "test-key-0123456789abcdef"


async def ask(source):
    return await source.for_episode(TASK, 0).complete(CONVERSATION)


async def failure(source) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(source)
    return caught.value


async def test_retry_after_is_honoured(server, source, waits):
    server.will(refusal(429, "slow down", headers={"retry-after": "7"}), completion("hello"))
    reply = await ask(source())
    assert (reply.text, reply.attempts, waits) == ("hello", 2, [7.0])


async def test_a_wait_beyond_the_cap_ends_the_episode_at_once(server, source, waits):
    server.will(refusal(429, "come back tomorrow", headers={"retry-after": "86400"}))
    error = await failure(source())
    assert "come back tomorrow" in str(error)
    assert (waits, len(server.requests)) == ([], 1)


async def test_a_server_error_is_asked_again(server, source, waits):
    server.will(refusal(500, "oops"), Answer("<html>bad gateway</html>", 502), completion("hello"))
    reply = await ask(source())
    assert (reply.text, reply.attempts, len(waits)) == ("hello", 3, 2)
    assert 0.5 <= waits[0] <= 1.0 <= waits[1] <= 2.0


async def test_a_connection_cut_in_mid_reply_is_asked_again(server, source):
    server.will(Answer(completion("lost").body, cut=True), completion("hello"))
    reply = await ask(source())
    assert (reply.text, reply.attempts) == ("hello", 2)


async def test_retries_are_bounded(server, source, waits):
    server.otherwise = lambda request: refusal(503, "overloaded")
    error = await failure(source(retries=3))
    assert len(server.requests) == 4
    assert len(waits) == 3
    assert "after 4 attempts" in str(error)
    assert "overloaded" in str(error)


@pytest.mark.parametrize("slowness", ["hang", "drip"])
async def test_a_slow_reply_times_out(server, source, slowness):
    server.otherwise = lambda request: Answer(completion().body, **{slowness: True})
    error = await failure(source(timeout_s=0.2, retries=1))
    assert len(server.requests) == 2
    assert "0.2 s" in str(error)
    assert "timeout_s" in str(error)


async def test_a_dead_endpoint_is_named(source):
    error = await failure(source(base_url="http://127.0.0.1:1/v1", retries=1))
    assert "http://127.0.0.1:1/v1" in str(error)
    assert "Check that the server runs" in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        Answer("<html><h1>Welcome</h1></html>"),
        Answer(""),
        Answer({"hello": "world"}),
        Answer({"choices": []}),
        Answer({"choices": [{"text": "an old completion"}]}),
        Answer([1, 2]),
    ],
    ids=["html", "nothing", "foreign", "no choice", "no message", "list"],
)
async def test_a_page_that_is_no_completion_says_so(server, source, answer):
    server.will(answer)
    error = await failure(source())
    assert "does not answer like the OpenAI API" in str(error)
    assert "base_url" in str(error)
    assert len(server.requests) == 1


async def test_an_error_inside_a_200_is_an_error(server, source, waits):
    server.will(
        Answer({"error": {"message": "upstream is busy", "code": 503}}),
        Answer({"error": {"message": "no such provider", "code": 404}}),
    )
    error = await failure(source())
    assert "no such provider" in str(error)
    assert len(waits) == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_names_its_variable_and_never_the_key(server, source, status):
    server.will(refusal(status, f"Incorrect API key provided: {KEY}."))
    error = await failure(source(key=KEY))
    assert "TEST_KEY" in str(error)
    assert KEY not in str(error)


async def test_a_wrong_model_id_is_named(server, source):
    server.will(refusal(404, "The model does not exist"))
    error = await failure(source())
    assert "'mini-1'" in str(error)
    assert server.base_url in str(error)


async def test_an_empty_account_is_not_asked_again(server, source, waits):
    server.will(refusal(429, "You exceeded your current quota", code="insufficient_quota"))
    error = await failure(source())
    assert "no credit" in str(error)
    assert waits == []


async def test_a_value_that_the_user_can_choose_is_not_dropped(server, source):
    message = (
        "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. "
        "Supported values are: 'low', 'medium', and 'high'."
    )
    server.will(refusal(400, message, param="reasoning_effort", code="unsupported_value"))
    error = await failure(source(parameters={"reasoning_effort": "minimal"}))
    assert "'low', 'medium'" in str(error)


async def test_a_rejected_parameter_that_was_never_sent_is_an_error(server, source):
    server.otherwise = lambda request: refusal(400, "Unsupported parameter: tools", param="tools")
    error = await failure(source(parameters={"temperature": 0}))
    assert "tools" in str(error)
    assert len(server.requests) == 1


OVERFLOWS = {
    "openai": {
        "message": "This model's maximum context length is 8192 tokens. However, your messages "
        "resulted in 9001 tokens. Please reduce the length of the messages.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    },
    "llama.cpp": {
        "code": 400,
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 1407,
        "n_ctx": 256,
    },
    "llama.cpp-python": {"message": "Requested tokens (2285) exceed context window of 2048"},
    "vllm": {
        "object": "error",
        "message": "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's "
        "maximum context length is 4096 tokens and your request has 2778 input tokens.",
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    },
    "sglang": {"message": "The input (9001 tokens) is longer than the model's context length."},
    "anthropic": {
        "type": "invalid_request_error",
        "message": "prompt is too long: 208310 tokens > 200000 maximum",
    },
    "anthropic-output": {
        "message": "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"
    },
    "gemini": {
        "message": "The input token count (1200000) exceeds the maximum number of tokens allowed."
    },
    "mistral": {
        "message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context"
    },
    "bedrock": {"message": "Input is too long for requested model."},
    "xai": {"message": "This model's maximum prompt length is 131072 but it contains 537812"},
    "tgi": {"message": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"},
    "lm-studio": {"message": "Trying to keep the first 9001 tokens when context the overflows."},
    "by code alone": {"message": "Bad request.", "code": "context_length_exceeded"},
}


@pytest.mark.parametrize("wording", OVERFLOWS)
async def test_a_context_overflow_is_one_in_each_wording(server, source, waits, wording):
    error = OVERFLOWS[wording]
    server.will(Answer({"error": error}, 400))
    caught = await failure(source(parameters={"max_tokens": 8000}))
    assert isinstance(caught, ContextOverflow)
    assert error["message"] in str(caught)
    assert (len(server.requests), waits) == (1, [])


async def test_an_overflow_without_the_error_envelope(server, source):
    server.will(Answer({"object": "error", **OVERFLOWS["vllm"]}, 400))
    assert isinstance(await failure(source()), ContextOverflow)


async def test_an_overflow_that_comes_as_a_500_is_not_asked_again(server, source):
    server.will(Answer({"error": OVERFLOWS["llama.cpp"]}, 500))
    assert isinstance(await failure(source()), ContextOverflow)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "Request too large for this model: Limit 30000, please reduce the length of input"),
        (400, "max_tokens is too large: 100000. This model supports at most 16384 tokens."),
        (400, "Invalid value for temperature: must be at most 2"),
        (401, "maximum context length"),
    ],
)
def test_other_refusals_are_no_overflow(status, message):
    assert not failure_of_body(status, {"error": {"message": message}}).context_overflow


@pytest.mark.parametrize(
    "answer",
    [
        refusal(400, f"bad header Bearer {KEY}"),
        Answer(f"<html>{KEY}</html>", 400),
        Answer(f"<html>{KEY}</html>"),
        Answer({"error": f"echo {KEY}"}, 418),
        Answer({"error": {"message": f"maximum context length, {KEY}"}}, 400),
        Answer({"error": {"message": [KEY]}}, 400),
    ],
)
async def test_the_key_stands_in_no_error_nor_in_its_trace(server, source, answer):
    server.will(answer)
    error = await failure(source(key=KEY))
    shown = "".join(traceback.format_exception(error))
    assert KEY not in shown


async def test_the_key_stands_in_no_warning(server, source, caplog):
    server.will(refusal(400, f"Unsupported parameter: temperature ({KEY})", param="temperature"))
    with caplog.at_level(logging.WARNING, "runtime.models"):
        await ask(source(key=KEY, parameters={"temperature": 0}))
    assert "temperature" in caplog.text
    assert KEY not in caplog.text


async def test_a_long_page_is_quoted_in_part(server, source):
    server.will(Answer("<p>" + "x" * 100_000, 400))
    assert len(str(await failure(source()))) < 1500


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_its_forms(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_retry_after_as_a_date_to_come():
    date = email.utils.formatdate(time.time() + 1000, usegmt=True)
    assert 900 < retry_after_s({"retry-after": date}) <= 1000


def test_waits_grow_up_to_a_ceiling_and_end():
    busy = Failure("refused", "busy", 503)
    retry = Retry(8)
    waits = [retry.wait_s(busy, done) for done in range(8)]
    assert all(2**n / 2 <= waits[n] <= 2**n for n in range(5))
    assert all(15 <= wait <= 30 for wait in waits[5:])
    assert retry.wait_s(busy, 8) is None
    assert retry.wait_s(Failure("refused", "no", 400), 0) is None
    assert retry.wait_s(Failure("garbled", "html"), 0) is None
