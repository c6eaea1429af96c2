"""What each hook costs, as ratios against bare programs measured in the same run.

    python3 bench/hooks.py [--rounds N] [--others N]        exits 1 when a bound is missed

Every hook runs as the host runs it: its command string from hooks.json in `sh -c`, the event on stdin, while 10,000
sessions are on in other projects, or as many as `--others` says.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOOKS = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
PROMPT = "please look at the parser and tell me why the second test is slow, then suggest a fix"
OTHERS = 10_000  # sessions that are on elsewhere
FENCED = 'cd src && sed -i "s/a/b/" a.py && git commit -qm "never rm -rf" 2>&1 | tail -3 > /dev/null'


class Case:
    def __init__(self, name: str, event: str, project: Path, against: str, bound: float, **fields: object) -> None:
        self.name = name
        self.against = against
        self.bound = bound
        self.project = project
        self.argv = ["sh", "-c", command_of(event, str(fields.get("tool_name")))]
        body = {
            "session_id": "3f0e5c1a-0000-4000-8000-000000000001",
            "transcript_path": str(project / "transcript.jsonl"),
            "cwd": str(project),
            "permission_mode": "default",
            "hook_event_name": event,
            **fields,
        }
        self.stdin = json.dumps(body).encode() + b"\n"


def command_of(event: str, tool: str) -> str:
    """The command that is registered for this tool; the first one for what is none."""
    for group in HOOKS[event]:
        if tool in group.get("matcher", "").split("|"):
            return str(group["hooks"][0]["command"])
    return str(HOOKS[event][0]["hooks"][0]["command"])


class StatusLine(Case):
    """The status line as the host calls it: the command that `omo setup statusline` puts into the settings."""

    def __init__(self, name: str, command: str, project: Path, against: str, bound: float) -> None:
        places = {"current_dir": str(project), "project_dir": str(project)}
        super().__init__(name, "Stop", project, against, bound, workspace=places)
        self.argv = ["sh", "-c", command]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--others", type=int, default=OTHERS)
    arguments = parser.parse_args()
    home = Path(os.environ.get("OMO_ENV_HOME") or Path.home() / ".cache" / "omo")
    ensure = ["sh", str(ROOT / "hooks" / "environment.sh"), "ensure", str(home), str(ROOT / "requirements.txt")]
    subprocess.run(ensure, check=True, stdout=subprocess.DEVNULL)
    environment = (home / "environment").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="omo bench ") as directory:
        own = Path(directory, "data")  # nothing of an earlier session, and nothing is left in the user's
        own.mkdir()
        for name in ("environment", f"environment-{environment.splitlines()[2]}"):
            (own / name).write_text(environment, encoding="utf-8")
        (own / "interpreter").write_bytes((home / "interpreter").read_bytes())
        (own / "root").write_text(f"{ROOT}\n", encoding="utf-8")
        begin_elsewhere(Path(directory), arguments.others)
        return report(measure(Path(directory), own, environment.splitlines()[0], arguments.rounds))


def measure(directory: Path, home: Path, python: str, rounds: int) -> list[tuple[Case, float, float]]:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "CLAUDE_PLUGIN_ROOT": str(ROOT),
        "OMO_ENV_HOME": str(home),
        "OMO_MAX_STOP_BLOCKS": "1000000",
        "OMO_MAX_TOTAL_BLOCKS": "1000000",
        "OMO_COOLDOWN_SECONDS": "0.000001",
    }
    cases = [*all_cases(directory), *status_lines(directory, installed_statusline(directory, environ))]
    baselines = {
        "sh -c :": ["sh", "-c", ":"],
        "python3 -I -S -c pass": [python, "-I", "-S", "-c", "pass"],
        "node -e 0": [shutil.which("node") or "node", "-e", "0"],
    }
    prepare(cases, environ)
    times: dict[str, list[tuple[float, float]]] = {case.name: [] for case in cases}
    for number in range(rounds):
        for case in cases:  # each next to its own baseline, so that a busy moment counts for both
            bare = clock(baselines[case.against], b"", directory, environ)
            named = {} if isinstance(case, StatusLine) else {"CLAUDE_PROJECT_DIR": str(case.project)}
            as_host = {**environ, **named}
            stdin = case.stdin.replace(b"ROUND", str(number).encode())  # the same prompt twice is heard once
            times[case.name].append((bare, clock(case.argv, stdin, case.project, as_host)))
    rows = []
    for case in cases:
        bare, took = (undisturbed(column) for column in zip(*times[case.name], strict=True))
        rows.append((case, took, took / bare))
    return rows


def undisturbed(times: tuple[float, ...]) -> float:
    """The mean of the fastest quarter: other work on the machine only ever adds."""
    return statistics.fmean(sorted(times)[: max(1, len(times) // 4)])


def all_cases(directory: Path) -> list[Case]:
    names = ("empty", "quiet", "other", "active", "active and writing", "active and planned", "active and fenced")
    projects = [directory / name for name in names]
    empty, quiet, other, active, writing, planned, fenced = projects
    for project in projects:
        (project / "src" / "deep").mkdir(parents=True)
    write = {"tool_name": "Write", "tool_input": {"file_path": "src/a.py", "content": "x = 1\n" * 50}}
    agent = {"agent_id": "a1", "agent_type": "omo:explorer", "last_assistant_message": "found it"}
    asked = {"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which one?"}]}}
    return [
        Case("Stop, no state", "Stop", empty, "sh -c :", 2),
        Case("PreToolUse, no state", "PreToolUse", empty, "sh -c :", 2, **write),
        Case("SubagentStop, no state", "SubagentStop", empty, "sh -c :", 2, **agent),
        Case("Stop, nothing live", "Stop", quiet, "sh -c :", 2),
        Case("PreToolUse, nothing live", "PreToolUse", quiet, "sh -c :", 4, **write),
        Case("SubagentStop, nothing live", "SubagentStop", quiet, "sh -c :", 2, **agent),
        Case("Stop, another session live", "Stop", other, "sh -c :", 4),
        Case("PreToolUse, another session live", "PreToolUse", other, "sh -c :", 4, **write),
        Case("Bash, nothing live", "PreToolUse", quiet, "sh -c :", 4, **bash("git status")),
        Case("Bash without omo, active", "PreToolUse", active, "sh -c :", 4, **bash("git status")),
        Case("UserPromptSubmit, no keyword", "UserPromptSubmit", empty, "sh -c :", 4, prompt=PROMPT),
        Case("the same, another session live", "UserPromptSubmit", other, "sh -c :", 4, prompt=PROMPT),
        Case("PreToolUse, active", "PreToolUse", active, "python3 -I -S -c pass", 2.5, **write),
        Case(
            "Bash with omo, active",
            "PreToolUse",
            active,
            "python3 -I -S -c pass",
            2.5,
            **bash("omo gate run && git status"),
        ),
        Case("AskUserQuestion, active", "PreToolUse", active, "python3 -I -S -c pass", 2.5, **asked),
        Case("UserPromptSubmit, active", "UserPromptSubmit", active, "python3 -I -S -c pass", 3, prompt=PROMPT),
        Case(
            "UserPromptSubmit, activates",
            "UserPromptSubmit",
            active,
            "node -e 0",
            1.2,
            prompt="ulw fix the flaky tests of ROUND",
        ),
        Case("Stop, blocks", "Stop", writing, "node -e 0", 1.2),
        Case("AskUserQuestion, refused", "PreToolUse", planned, "node -e 0", 1.2, **asked),
        Case("Bash, parsed", "PreToolUse", planned, "node -e 0", 1.2, **bash('git commit -m "omo goal complete"')),
        Case("Bash, fenced, plain", "PreToolUse", fenced, "node -e 0", 1.2, **bash("git status --short")),
        Case("Bash, fenced, parsed", "PreToolUse", fenced, "node -e 0", 1.2, **bash(FENCED)),
        Case("Write, fenced", "PreToolUse", fenced, "python3 -I -S -c pass", 2.5, **write),
    ]


def status_lines(directory: Path, command: str) -> list[Case]:
    return [
        StatusLine("status line, no state", command, directory / "empty", "python3 -I -S -c pass", 1),
        StatusLine("status line, nothing live", command, directory / "quiet", "python3 -I -S -c pass", 1),
        StatusLine("status line, active", command, directory / "active", "python3 -I -S -c pass", 3),
    ]


def installed_statusline(directory: Path, environ: dict[str, str]) -> str:
    config = directory / "claude"
    argv = [str(ROOT / "bin" / "omo"), "setup", "statusline", "--yes"]
    as_user = {**environ, "CLAUDE_CONFIG_DIR": str(config)}
    keyboard, screen = os.openpty()  # without a terminal nobody is taken for the user
    subprocess.run(argv, env=as_user, cwd="/", check=True, stdin=screen, capture_output=True)
    os.close(screen)
    os.close(keyboard)
    settings = json.loads((config / "settings.json").read_text(encoding="utf-8"))
    return str(settings["statusLine"]["command"])


def bash(command: str) -> dict[str, object]:
    return {"tool_name": "Bash", "tool_input": {"command": command, "description": "runs it"}}


def prepare(cases: list[Case], environ: dict[str, str]) -> None:
    """`quiet`: somebody's finished run. `other`: another session's live one. `active`: this session's, with a plan of
    goals where it is `planned`, a plan session where it is `fenced`."""
    for case in cases:
        state = case.project / ".sisyphus" / "cc-omo"
        if case.project.name == "empty" or state.exists():
            continue
        session = b"3f0e5c1a" if case.project.name.startswith("active") else b"99999999"
        for prompt in ["ulw start"] + (["/omo:stop-continuation", "thanks"] if case.project.name == "quiet" else []):
            event = Case("", "UserPromptSubmit", case.project, "", 0, prompt=prompt)
            clock(event.argv, event.stdin.replace(b"3f0e5c1a", session), case.project, environ)
        if not state.exists():
            sys.exit("bench: the hooks wrote no state; is the environment ready?")
        run = {"run": "r1", "state": "active", "open": 2, "total": 3}
        if case.project.name == "active and planned":
            add_work(state, "ultragoal", {**run, "deny": {"ask": "no", "complete": "no"}})
        if case.project.name == "active and fenced":
            fence = {"touch": ["src/**"], "never": ["src/gen/**"], "root": str(case.project), "spec": "plan.md"}
            add_work(state, "ultraplan", {**run, "fence": fence})


def begin_elsewhere(directory: Path, others: int) -> None:
    """As omo.state.ownership writes it, for projects that are there."""
    records = directory / ".local/state/omo/projects"
    records.mkdir(parents=True)
    for number in range(others):
        project = directory / "elsewhere" / str(number)
        project.mkdir(parents=True)
        state, identity = project / ".sisyphus/cc-omo", f"{number:032x}"
        by_path = records / "at" / state.relative_to("/")
        by_path.mkdir(parents=True)
        (by_path / identity).touch()
        session = f"5e551000-{number}"
        first = f'{{"version": 1, "live": ["{session}"],\n'
        rest = {"path": str(state), "name": str(state), "on": {session: "ultrawork"}, "known": []}
        (records / identity).write_text(first + json.dumps(rest)[1:] + "\n", encoding="utf-8")


def add_work(state: Path, kind: str, summary: dict[str, object]) -> None:
    """An open run of a workflow, as the hooks see it."""
    runtime = state / "runtime.local.json"
    text = runtime.read_text(encoding="utf-8").replace('"work":{', f'"work":{{"{kind}":{json.dumps(summary)},')
    if "fence" in summary:
        live, rest = text.split('], "left"', 1)
        text = live + live[live.index("[") :].join(['], "fenced": ', '], "left"']) + rest
    runtime.write_text(text, encoding="utf-8")


def clock(argv: list[str], stdin: bytes, cwd: Path, environ: dict[str, str]) -> float:
    begun = time.perf_counter()
    done = subprocess.run(argv, input=stdin, capture_output=True, cwd=cwd, env=environ, check=False)
    took = time.perf_counter() - begun
    if done.returncode or done.stderr:
        sys.exit(f"bench: {argv[-1]!r} exited {done.returncode}: {done.stderr.decode()}")
    return took


def report(rows: list[tuple[Case, float, float]]) -> int:
    print("| event | time | ratio | bound | against |")
    print("|---|---|---|---|---|")
    for case, took, ratio in rows:
        mark = "" if ratio <= case.bound else " **missed**"
        print(f"| {case.name} | {took * 1000:.1f} ms | {ratio:.2f} × | ≤ {case.bound:g} ×{mark} | `{case.against}` |")
    missed = [case.name for case, _, ratio in rows if ratio > case.bound]
    print(
        f"\n{len(rows) - len(missed)} of {len(rows)} bounds met" + (f"; missed: {', '.join(missed)}" if missed else "")
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
