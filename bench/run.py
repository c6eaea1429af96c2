"""What `omo run` adds to a headless run of the client: rounds, seconds and tokens.

    python3 bench/run.py        exits 1 when work that is done is not called proven; needs the client

The same scripted agent does the same work in the client alone, in the client with omo, and in `omo run`. What it costs
besides is the client's own start, which every round pays, so seconds are told as ratios within one run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.e2e.client import Client, environment, find_binary  # noqa: E402
from tests.e2e.conftest import Stage, begin, make_ready  # noqa: E402
from tests.e2e.scripted_model import ScriptedModel, Turn, bash, say  # noqa: E402

TASK = "make app.sh say mended"
FILES = {"app.sh": "echo broken\n", "check.sh": "grep -q mended app.sh\n", "Makefile": "test:\n\tsh check.sh\n"}
MAY = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash")
MENDS = (bash("echo echo mended >> app.sh"), say("It is mended."))
PROVES = (bash("echo echo mended >> app.sh"), bash("omo ulw done"), say("It is proven."))
LIES = (bash("echo echo well >> app.sh"), say("It is mended."), say("It is, really."))


class Measured(NamedTuple):
    name: str
    rounds: int
    seconds: float
    asked: int  # of the model
    tokens: int  # that it was shown, four letters each
    told: str


def main() -> int:
    binary = find_binary()
    if binary is None:
        sys.exit("bench: the client is not installed: ./tests/run --clients fetches it")
    stories: list[tuple[str, bool, tuple[Turn, ...]]] = [
        ("the client alone", False, MENDS),
        ("omo run, one round", True, PROVES),
        ("omo run, the agent never says done", True, (*MENDS, say("As I said."))),
        ("omo run, a lie first", True, (*LIES, *PROVES)),
    ]
    rows = []
    for name, runs, script in stories:
        with tempfile.TemporaryDirectory(prefix="omo bench ") as directory, ScriptedModel() as model:
            rows.append(measure(name, stage_in(Path(directory), binary, model), script, runs=runs))
    return report(rows)


def stage_in(directory: Path, binary: Path, model: ScriptedModel) -> Stage:
    home, project = directory / "home", directory / "project"
    home.mkdir()
    project.mkdir()
    begin(project)
    stage = Stage(Client(binary), model, project, home, ROOT)
    make_ready(stage)
    for name, text in FILES.items():
        stage.commit(name, text)
    (directory / "claude").symlink_to(binary)
    stage.limits["PATH"] = f"{directory}{os.pathsep}{environment(home, model)['PATH']}"
    return stage


def measure(name: str, stage: Stage, script: tuple[Turn, ...], *, runs: bool) -> Measured:
    stage.model.script(*script)
    began = time.monotonic()
    rounds, told = 1, "exit 0"
    if runs:
        ended = stage.omo("run", "--json", TASK, "--", *MAY, "--plugin-dir", str(ROOT), env=stage.limits)
        data = json.loads(ended.stdout)
        rounds, told = len(data["rounds"]), "proven" if data["verdict"]["proven"] else data["verdict"]["text"]
    else:
        command = [str(stage.client.binary), "-p", TASK, *MAY]
        environ = {**environment(stage.home, stage.model), **stage.limits}
        subprocess.run(
            command, cwd=stage.project, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=True
        )
    seconds = time.monotonic() - began
    shown = sum(len(json.dumps(request["messages"])) for request in stage.model.turns)
    return Measured(name, rounds, seconds, len(stage.model.turns), shown // 4, told)


def report(rows: list[Measured]) -> int:
    alone = rows[0].seconds
    print("| story | rounds | seconds | × the client alone | requests | tokens of messages | told |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        ratio = f"{row.seconds / alone:.1f} ×"
        print(f"| {row.name} | {row.rounds} | {row.seconds:.1f} | {ratio} | {row.asked} | {row.tokens} | {row.told} |")
    missed = [row.name for row in rows[1:] if row.told != "proven"]
    print(f"\nnot proven: {', '.join(missed)}" if missed else "\nall work was proven")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
