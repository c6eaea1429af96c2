"""What omo costs in context: counted in the requests that the real client sends, with the plugin and without it.

    python3 bench/context.py        exits 1 when a bound is missed; needs the client (./tests/run --clients)

A token is counted as four characters of a request's text. Whatever the client puts around our words counts as ours.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.e2e.client import Client, find_binary  # noqa: E402
from tests.e2e.conftest import IN_PLAN_MODE, Stage, begin, make_ready  # noqa: E402
from tests.e2e.scripted_model import Request, ScriptedModel, say  # noqa: E402

CHARACTERS_A_TOKEN = 4
TASK = "fix the flaky tests"
CHECKS = "test:\n\tpython3 -m pytest -q\n\nlint:\n\truff check .\n\ntypecheck:\n\tmypy\n"  # which the instructions name


class Cost(NamedTuple):
    what: str
    tokens: int
    bound: int


def measure(stage: Stage) -> list[Cost]:
    """A prompt without the plugin, one with it, and a conversation: `ulw` typed, cancelled, typed again, compacted."""
    stage.commit("Makefile", CHECKS)
    plugin, stage.plugin = stage.plugin, None
    without = size_of_first(stage)
    stage.plugin = plugin
    loaded = size_of_first(stage)

    # Plan mode ends a turn and leaves the run on.
    talk = stage.talk(*IN_PLAN_MODE, env={"OMO_MAX_STOP_BLOCKS": "8"})
    talk.prompt(f"ulw {TASK}")
    first = size(stage.model.turns[-1])
    talk.set_mode("default")
    stage.model.script(say("Done, I think."), say("Done, I say."))
    talk.prompt("go on")
    sent_back = ours(stage.model.turns[-1], "Stop hook additional context")
    talk.prompt("stop ulw")
    talk.set_mode("plan")
    talk.prompt(f"ulw {TASK}")
    second = ours(stage.model.turns[-1], "Ultrawork is on again")
    stage.model.script(say("<summary>Tests are flaky.</summary>"))
    talk.prompt("/compact")
    talk.prompt("go on")
    compacted = ours(stage.model.turns[-1], "SessionStart:compact")
    talk.leave()
    return [
        Cost("always loaded: the agents, and the skills that the model may open", tokens(loaded - without), 450),
        Cost("the first `ulw` in a conversation", tokens(first - loaded), 500),
        Cost("a further `ulw` in it", tokens(second), 70),
        Cost("a turn that is sent back", tokens(sent_back), 170),
        Cost("after a compaction", tokens(compacted), 150),
    ]


def size_of_first(stage: Stage) -> int:
    """With a word as long as ulw."""
    stage.prompt(f"any {TASK}", args=IN_PLAN_MODE)
    return size(stage.model.turns[-1])


def tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_A_TOKEN)


def size(request: Request) -> int:
    return sum(map(len, texts([request["system"], request["messages"], request["tools"]])))


def ours(request: Request, mark: str) -> int:
    """The last line that has this mark, with what the client wrote before it: all that we say there is one line."""
    lines = []
    for text in texts(request["messages"]):
        lines += [line for line in text.splitlines() if mark in line]
    if not lines:
        raise LookupError(f"the model was not told {mark!r}")
    return len(lines[-1])


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(part)


def main() -> int:
    binary = find_binary()
    if binary is None:
        print("the Claude Code client is not installed: ./tests/run --clients fetches it", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as directory, ScriptedModel() as model:
        project, home = Path(directory, "project"), Path(directory, "home")
        project.mkdir()
        home.mkdir()
        begin(project)
        stage = Stage(Client(binary), model, project, home, ROOT)
        make_ready(stage)
        costs = measure(stage)
    print("| what | tokens | bound |\n|---|---|---|")
    for cost in costs:
        print(f"| {cost.what} | {cost.tokens} | {cost.bound} |")
    return int(any(cost.tokens > cost.bound for cost in costs))


if __name__ == "__main__":
    sys.exit(main())
