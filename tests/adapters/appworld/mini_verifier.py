"""Runs in AppWorld's interpreter: plays cells in forks of one warm engine and evaluates.

usage: python mini_verifier.py SCRATCH < JOBS > RESULTS

A job is {"task": id, "turns": [{"code": ..., "when": pattern or null}]}; a turn whose pattern is
not found in the last output is skipped; the play ends when the task is completed. A result is
{"success", "failures": [requirement], "outputs": [text], "writes": [method and path]}.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import re
import signal
import sys
import traceback
from pathlib import Path

CHILDREN = 2
SECONDS_PER_JOB = 120


def warm() -> None:
    from appworld.apps import get_all_apps
    from appworld.collections.api_docs import ApiDocCollection

    for app in get_all_apps():
        importlib.import_module(f"appworld.apps.{app}.apis")
    ApiDocCollection.load(
        load_apps=tuple(get_all_apps(skip_admin=True)), include_response_schemas=True
    )
    importlib.import_module("appworld.evaluator")
    gc.freeze()


def play(job: dict, experiment: str) -> dict:
    from appworld import AppWorld

    outputs: list[str] = []
    with AppWorld(task_id=job["task"], experiment_name=experiment) as world:
        for turn in job["turns"]:
            last = outputs[-1] if outputs else ""
            if turn["when"] and not re.search(turn["when"], last):
                continue
            outputs.append(world.execute(turn["code"]))
            if world.task_completed():
                break
        tests = world.evaluate()
    return {
        "success": tests.success,
        "failures": [failure["requirement"] for failure in tests.failures],
        "outputs": outputs,
        "writes": writes(Path(world.output_logs_directory) / "api_calls.jsonl"),
    }


def writes(log: Path) -> list[str]:
    calls = [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []
    named = [(call["method"].upper(), call["url"]) for call in calls]
    return [
        f"{method} {url}"
        for method, url in named
        if method != "GET" and not url.endswith(("/auth/token", "/supervisor/message"))
    ]


def in_fork(job: dict, number: int, scratch: Path) -> int:
    child = os.fork()
    if child:
        return child
    signal.alarm(SECONDS_PER_JOB)
    try:
        result = play(job, f"check{number}")
    except BaseException:
        result = {
            "success": None,
            "failures": [],
            "outputs": [traceback.format_exc()],
            "writes": [],
        }
    (scratch / f"{number}.json").write_text(json.dumps(result), encoding="utf-8")
    os._exit(0)


def main() -> None:
    scratch = Path(sys.argv[1])
    jobs = json.load(sys.stdin)
    warm()
    running: set[int] = set()
    for number, job in enumerate(jobs):
        if len(running) == CHILDREN:
            running.discard(os.wait()[0])
        running.add(in_fork(job, number, scratch))
    while running:
        running.discard(os.wait()[0])
    died = {"success": None, "failures": [], "outputs": ["the fork died"], "writes": []}
    results = []
    for number in range(len(jobs)):
        path = scratch / f"{number}.json"
        results.append(json.loads(path.read_text(encoding="utf-8")) if path.is_file() else died)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
