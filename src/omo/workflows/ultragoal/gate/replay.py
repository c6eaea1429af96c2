"""Recorded commands: run by omo and written down, or run again and held against what was recorded. Never a shell.

Run again is what the user has pinned as a gate. What omo has recorded itself need not run again while the files are the
same.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from omo import masking
from omo.errors import BadInput, Refused
from omo.proof import calls, gate_runs, globs, own_commands
from omo.proof.checks import Argv
from omo.proof.gate_runs import GateCommand
from omo.proof.project_files import files_at
from omo.proof.run import CommandOutcome, child_environment, run
from omo.strict import Strict, Written, validated
from omo.text import clip
from omo.workflows.ultragoal.gate.media import plain

OUTPUT_LIMIT = 1 << 20
LONGEST_CASE = 2000
SHORTEST_TIMEOUT, DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 1.0, 10.0, 120.0
RECORD_FIX = (
    "omo evidence replay --goal ID -- COMMAND runs it and writes the record; by hand: "
    '{"schemaVersion": 1, "kind": "cli-replay", "replaySafe": true, "command": ["…"], "recordedStdout": "…"}'
)
NOT_PINNED = (
    "is no gate that the user pinned; let omo run and record it: omo evidence replay --goal ID -- COMMAND; "
    "or the user types /omo:pin NAME -- COMMAND"
)
CODE_OPTIONS = ("-c", "-e", "--eval", "-p", "--print")  # of python3, node, ruby
IMPORTED = re.compile(r"\b(?:import|from|require)\b[\s('\"]*([\w./-]+)")
SCRIPTS = (".js", ".mjs", ".cjs", ".ts")
NO_TESTS = frozenset(
    (
        *("--version", "-V", "--help", "-h", "--markers", "--fixtures", "--collect-only", "--co", "--setup-plan"),
        *("--listTests", "-list", "--list", "--no-run"),
    )
)
# What differs from one honest run to the next.
SHORTEST_PLACE = 4  # "/" or "/a" as a home would be found everywhere
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# With a digit and a letter: a number alone is no object id, nor is one such as 1234567e8, nor deadbeef.
# test_what_is_the_same_after_normalisation in tests/ultragoal/test_replay.py has each.
_OBJECT = r"(?!\d+\b)(?!\d+e\d+\b)(?=[a-f]*\d)[0-9a-f]{7,40}"
TOKENS = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z"), "<time>"),
    (re.compile(rf"(?<![\w-]){_UUID}(?![\w-])"), "<uuid>"),
    (re.compile(rf"(?<![\w.]){_OBJECT}(?![\w])"), "<object>"),
    # The directory made for the occasion; what is in it keeps its name.
    (re.compile(r"(?:/private)?/(?:var/folders/[\w+-]+/[\w+-]+/T|var/tmp|tmp)/[^/\s\"':;,()<>]+"), "<temp>"),
)


def _safe(is_safe: bool) -> bool:
    if not is_safe:
        raise ValueError("is not true; say so only of what may run again")
    return is_safe


Output = Annotated[str, Field(max_length=OUTPUT_LIMIT)]


class Record(Strict):
    """A command, and what it is held against when it is run again. `stderr` None: none was recorded."""

    schema_version: Annotated[int, Field(alias="schemaVersion", ge=1, le=1)]
    kind: Literal["cli-replay"]
    safe: Annotated[bool, AfterValidator(_safe), Field(alias="replaySafe")]
    command: Argv
    stdout: Annotated[Output, Field(alias="recordedStdout")]
    stderr: Annotated[Output | None, Field(alias="recordedStderr")] = None
    exit_code: Annotated[int, Field(alias="expectedExitCode", ge=0, le=255)] = 0
    normalization: Literal["default"] = "default"
    recorded_at: Annotated[str, Field(alias="recordedAt", max_length=100)] = ""
    milliseconds: Annotated[float, Field(alias="timeoutMs", gt=0, lt=1e12)] = DEFAULT_TIMEOUT * 1000
    cwd: Annotated[Written, Field(pattern=r"^[^\x00]*$")] = "."
    scenario: Annotated[str, Field(max_length=LONGEST_CASE)] = ""  # of an attempt to break it
    expected: Annotated[str, Field(alias="expectedBehavior", max_length=LONGEST_CASE)] = ""

    @property
    def timeout(self) -> float:
        return min(max(self.milliseconds / 1000, SHORTEST_TIMEOUT), LONGEST_TIMEOUT)


def parse_replay(document: object) -> Record:
    """Read a record. Raises BadInput with everything that is wrong in `defects`."""
    return validated(Record, document, what="the replay record", fix=RECORD_FIX)


def speaks_of_project(root: str, head: str | None, argv: Sequence[str], cwd: str) -> bool:
    """Return whether a command that nobody pinned runs anything of the project, or reads a file of it. What prints a
    text that it was given, or a version, shows nothing of the work."""
    files = files_at(root, head)
    tests = calls.of_tests(calls.programs(files, argv, cwd))
    if own_commands.named_in(files, argv, cwd) or (tests and NO_TESTS.isdisjoint(argv)):
        return True
    top = os.path.realpath(root)
    words = list(argv[1:])
    if "/" in argv[0]:
        words.append(argv[0])
    for option, code in itertools.pairwise(argv):
        if option in CODE_OPTIONS:  # a library is shown by what it answers: python3 -c 'import calc; …'
            words += IMPORTED.findall(code)
    for word in words:
        name = word.rpartition("=")[2].partition("::")[0]
        module = name.split(".")[0]  # python3 -m package.module
        candidates = [name, *(f"{name}{ending}" for ending in SCRIPTS)]
        if module:
            candidates += [module, f"{module}.py", f"src/{module}", f"src/{module}.py"]
        for candidate in filter(None, candidates):
            path = os.path.realpath(os.path.join(top, cwd, candidate))
            inside = os.path.relpath(path, top)
            is_work = path != top and globs.is_inside(top, path) and inside.split("/")[0] not in (".sisyphus", ".git")
            if is_work and os.path.exists(path):
                return True
    return False


def record(argv: Sequence[str], root: Path, cwd: str, timeout: float, environ: Mapping[str, str]) -> dict[str, Any]:
    """Run a command as the user would, and write down what it said. Refused where it did not end by itself."""
    where = globs.directory_inside(Path(os.path.realpath(root)), cwd)
    outcome = _run(argv, where, timeout, environ)
    what = f"{clip(' '.join(argv), 100)!r}"
    if outcome.not_found:
        raise BadInput(f"{what} could not be started: {clip(outcome.stderr, 200)}", fix="name a program that is there")
    if outcome.exit_code is None:
        why = f"was still running after {timeout:g} s" if outcome.timed_out else f"died of signal {outcome.signal}"
        raise Refused(f"{what} {why}, so there is nothing to record", fix="record a run that ends; --timeout SECONDS")
    if outcome.stdout_truncated or outcome.stderr_truncated:
        raise Refused(f"{what} says more than {OUTPUT_LIMIT} bytes", fix="record a run that says less")
    ran = gate_runs.read_run(outcome, "")
    if ran.result == "unknown":
        raise Refused(f"{what} shows nothing: {ran.why}", fix="record a run that shows the work")
    return {
        "schemaVersion": 1,
        "kind": "cli-replay",
        "replaySafe": True,
        "command": list(argv),
        "recordedStdout": masking.mask(outcome.stdout, argv),
        "recordedStderr": masking.mask(outcome.stderr, argv),
        "expectedExitCode": outcome.exit_code,
        "timeoutMs": int(timeout * 1000),
        "cwd": cwd,
    }


def no_success(argv: Sequence[str], exit_code: int) -> str:
    """Say why a run that was to show the work shows nothing; empty if it ended well."""
    return f"{clip(shlex.join(argv), 100)} ended with exit {exit_code}, which is no success" if exit_code else ""


def replay(record: Record, root: Path, pins: Sequence[GateCommand], environ: Mapping[str, str]) -> list[str]:
    """Run it and compare: what differs, all of it. Nothing is run but one of `pins`, in its own directory."""
    where = os.path.normpath(record.cwd)
    if not any(list(pin.argv) == record.command and os.path.normpath(pin.cwd) == where for pin in pins):
        return [f"command: {clip(' '.join(record.command), 100)!r} in {clip(record.cwd, 100)} {NOT_PINNED}"]
    try:
        cwd = globs.directory_inside(root, record.cwd)
        outcome = _run(record.command, cwd, record.timeout, environ)
    except BadInput as error:
        return [f"cwd: {error.message}; {error.fix}"]
    places = {str(root): "<project>", os.path.realpath(root): "<project>"}
    return list(_differences(record, outcome, places))


def _run(argv: Sequence[str], cwd: Path, timeout: float, environ: Mapping[str, str]) -> CommandOutcome:
    """Run it as the user would, with the tools of the project that are on their PATH, such as a virtual environment;
    but nothing is found by the directory it runs in."""
    directories = [entry for entry in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    environment = {**child_environment(environ), "PATH": os.pathsep.join(directories), "CI": "1", "NO_COLOR": "1"}
    return run(argv, cwd=cwd, timeout=timeout, output_limit=OUTPUT_LIMIT, env=environment)


def _differences(record: Record, outcome: CommandOutcome, places: Mapping[str, str]) -> Iterator[str]:
    if outcome.not_found:
        yield f"command: {record.command[0]!r} could not be started: {clip(outcome.stderr, 200)}"
        return
    if outcome.timed_out:
        yield f"timeoutMs: the command was still running after {record.timeout:g} s and was killed"
        return
    if outcome.exit_code != record.exit_code:
        how = f"exit code {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
        yield f"expectedExitCode: {record.exit_code} was recorded; the replay ended with {how}"
    too_much = f"is more than {OUTPUT_LIMIT} bytes or was left open; replay something that says less"
    if outcome.stdout_truncated:
        yield f"stdout: {too_much}"
    else:
        yield from _difference("recordedStdout", record.stdout, masking.mask(outcome.stdout, outcome.argv), places)
    if outcome.stderr_truncated:
        yield f"stderr: {too_much}"
    else:  # none recorded means that none came
        yield from _difference(
            "recordedStderr", record.stderr or "", masking.mask(outcome.stderr, outcome.argv), places
        )


def _difference(name: str, recorded: str, replayed: str, places: Mapping[str, str]) -> Iterator[str]:
    """Yield the first line that differs."""
    expected, got = normalise(recorded, places).split("\n"), normalise(replayed, places).split("\n")
    pairs = itertools.zip_longest(expected, got, fillvalue="(nothing more)")
    for number, (before, now) in enumerate(pairs, start=1):
        if before != now:
            yield f"{name}: line {number} was recorded as {clip(before, 200)!r}; the replay says {clip(now, 200)!r}"
            return


def normalise(text: str, places: Mapping[str, str]) -> str:
    """Return output without what differs from one honest run to the next. `places` are directories and their tokens."""
    text = plain(text)
    for place in sorted(places, key=len, reverse=True):
        if len(place) >= SHORTEST_PLACE:
            text = re.sub(re.escape(place) + r"(?![\w.-])", places[place], text)
    for pattern, token in TOKENS:
        text = pattern.sub(token, text)
    return text
