"""A recorded command, run again for real and held against what was recorded. Argument lists only, never a shell."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from omo.errors import BadInput
from omo.evidence import globs, patterns, replay_builtins
from omo.evidence.allowed import is_pinned
from omo.evidence.normalise import normalise, plain
from omo.evidence.replay_record import Invariant, Record, parse
from omo.evidence.run import Outcome, child_environment, run
from omo.shown import clip

__all__ = ["Invariant", "Record", "executable", "is_allowed", "parse", "replay"]

Pins = Sequence[Sequence[str]]

OUTPUT_LIMIT = 1 << 20
ALWAYS = {"CI": "1", "NO_COLOR": "1"}


def is_allowed(argv: Sequence[str], root: Path, allowed: Pins, environ: Mapping[str, str] | None = None) -> str:
    """Why the command may not be replayed, or the empty string. `allowed` is what the user pinned."""
    problem = replay_builtins.problem(argv)
    if problem:
        return "" if is_pinned(argv, allowed) else f"{problem}. Replay what may be, {replay_builtins.ASK_USER}"
    path = (os.environ if environ is None else environ).get("PATH", "")
    if shutil.which(argv[0], path=_clean(path, root)) or not (planted := shutil.which(argv[0], path=path)):
        return ""
    return f"{argv[0]!r} is found only inside the project, at {clip(planted, 200)}; install the real one"


def replay(record: Record, root: Path, allowed: Pins, environ: Mapping[str, str] | None = None) -> list[str]:
    """Run it and compare: what differs, all of it. Nothing is run that may not be."""
    environ = os.environ if environ is None else environ
    given, root = root, Path(os.path.realpath(root))
    if why := is_allowed(record.command, root, allowed, environ):
        return [f"command: {why}"]
    try:
        cwd = globs.directory_inside(root, record.cwd)
    except BadInput as error:
        return [f"cwd: {error.message}; {error.fix}"]
    if why := _place(record, cwd, root, allowed):
        return [f"cwd: {why}"]
    with tempfile.TemporaryDirectory(prefix="omo-replay-") as home:
        places = {str(given): "<project>", **_places(root, home, environ)}
        if replay_builtins.problem(record.command):
            return _compare(record, _run_pinned(record, cwd, environ), places)
        outcome = _run_builtin(record, root, cwd, home, environ)
        return [outcome] if isinstance(outcome, str) else _compare(record, outcome, places)


def executable(record: Record, root: Path, allowed: Pins, environ: Mapping[str, str] | None = None) -> str:
    """The program that a replay starts, as an absolute path; empty where there is none, or it may not be run."""
    environ = os.environ if environ is None else environ
    if is_allowed(record.command, root, allowed, environ):
        return ""
    program = record.command[0]
    if os.path.dirname(program):
        return os.path.normpath(os.path.join(os.path.realpath(root), record.cwd, program))
    is_builtin = not replay_builtins.problem(record.command)
    found = shutil.which(program, path=_clean(environ.get("PATH", ""), root if is_builtin else None))
    return os.path.abspath(found) if found else ""


def _place(record: Record, cwd: Path, root: Path, allowed: Pins) -> str:
    if not cwd.is_dir():
        return f"{clip(record.cwd, 200)!r} is no directory of the project; leave it out for its top"
    program = record.command[0]
    is_relative = bool(os.path.dirname(program)) and not os.path.isabs(program)
    if is_relative and cwd != root and is_pinned(record.command, allowed):
        return f"{program} was pinned at the project's top; elsewhere it is another program. Leave cwd out"
    return ""


def _run_pinned(record: Record, cwd: Path, environ: Mapping[str, str]) -> Outcome:
    """As the user would run it, with the tools of the project that are on their PATH, such as a virtual environment."""
    path = _clean(environ.get("PATH", ""), None)
    environment = {**child_environment(environ), "PATH": path, **ALWAYS, **record.env}
    return run(record.command, cwd=cwd, timeout=record.timeout, output_limit=OUTPUT_LIMIT, env=environment)


def _run_builtin(record: Record, root: Path, cwd: Path, home: str, environ: Mapping[str, str]) -> Outcome | str:
    """From scratch: nothing of the session, the user's own settings, or a directory the project can fill."""
    environment = {**ALWAYS, "PATH": _clean(environ.get("PATH", ""), root), "HOME": home}
    command, added, why = replay_builtins.hardened(record.command, root, environment)
    if why:
        return f"command: {why}"
    empty = Path(home, "empty")
    empty.mkdir()
    where = cwd if replay_builtins.needs_project(record.command) else empty
    environment = {**environment, **added, **record.env}
    return run(command, cwd=where, timeout=record.timeout, output_limit=OUTPUT_LIMIT, env=environment)


def _clean(path: str, root: Path | None) -> str:
    """The search path without what depends on the directory, and without what is inside `root`."""
    top = os.path.realpath(root) if root else None
    kept = [
        entry
        for entry in path.split(os.pathsep)
        if os.path.isabs(entry) and not (top and _is_within(top, entry))
    ]  # fmt: skip
    return os.pathsep.join(kept)


def _is_within(top: str, entry: str) -> bool:
    return any(globs.is_inside(top, place) for place in (os.path.realpath(entry), os.path.normpath(entry)))


def _places(root: Path, home: str, environ: Mapping[str, str]) -> dict[str, str]:
    own = environ.get("HOME", "")
    places = {str(root): "<project>"}
    for place in (own, os.path.realpath(own) if own else "", home, os.path.realpath(home)):
        if place:
            places.setdefault(place.rstrip("/"), "<home>")
    return places


def _compare(record: Record, outcome: Outcome, places: Mapping[str, str]) -> list[str]:
    if outcome.not_found:
        return [f"command: {record.command[0]!r} could not be started: {clip(outcome.stderr, 200)}"]
    if outcome.timed_out:
        return [f"timeoutMs: the command was still running after {record.timeout:g} s and was killed"]
    return [*_ending(record, outcome), *_stdout(record, outcome, places), *_stderr(record, outcome, places)]


def _ending(record: Record, outcome: Outcome) -> Iterator[str]:
    if outcome.exit_code != record.exit_code:
        how = f"exit code {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
        yield f"expectedExitCode: {record.exit_code} was recorded; the replay ended with {how}"
    for name, is_cut in (("stdout", outcome.stdout_truncated), ("stderr", outcome.stderr_truncated)):
        if is_cut:
            yield f"{name}: is more than {OUTPUT_LIMIT} bytes or was left open; replay something that says less"


def _stdout(record: Record, outcome: Outcome, places: Mapping[str, str]) -> Iterator[str]:
    """Invariants stand in for equality, where there are any."""
    if outcome.stdout_truncated:
        return
    if not record.invariants:
        yield from _difference("recordedStdout", record.stdout, outcome.stdout, places)
    for at, one in enumerate(record.invariants):
        try:
            if not one.holds(plain(outcome.stdout)):
                said = clip(outcome.stdout, 200)
                yield f"invariants[{at}]: {one.type} {clip(repr(one.value), 100)} does not hold of: {said!r}"
        except patterns.TooSlow:
            yield f"invariants[{at}]: {clip(repr(one.value), 100)} takes too long to search in the replayed output"


def _stderr(record: Record, outcome: Outcome, places: Mapping[str, str]) -> Iterator[str]:
    """None recorded means that none came; only beside invariants, which say that output varies, is it left open."""
    if outcome.stderr_truncated or (record.stderr is None and record.invariants):
        return
    yield from _difference("recordedStderr", record.stderr or "", outcome.stderr, places)


def _difference(name: str, recorded: str, replayed: str, places: Mapping[str, str]) -> Iterator[str]:
    expected, got = (normalise(text, places).split("\n") for text in (recorded, replayed))
    if expected == got:
        return
    same = sum(1 for _ in _while_equal(expected, got))
    lines = [clip(lines[same], 200) if same < len(lines) else "(nothing more)" for lines in (expected, got)]
    yield f"{name}: line {same + 1} was recorded as {lines[0]!r}; the replay says {lines[1]!r}"


def _while_equal(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    for one, other in zip(first, second, strict=False):
        if one != other:
            return
        yield one
