"""Recorded commands: run by omo and written down, or run again and held against what was recorded. Never a shell.

Without asking the user git is run again where it only reads, and what the user has pinned. What omo has recorded itself
need not run again while the files are the same.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omo.errors import BadInput, Refused
from omo.proof import git, globs, own_commands
from omo.proof.media import plain
from omo.proof.run import Outcome, child_environment, run
from omo.state import paths
from omo.state.journal import Journal
from omo.text import clip

if TYPE_CHECKING:
    from omo.proof.records import Record  # pydantic, which whoever has a record has loaded

Pins = Sequence[Sequence[str]]

OUTPUT_LIMIT = 1 << 20
ALWAYS = {"CI": "1", "NO_COLOR": "1"}
ANY_ARGUMENTS = "..."
REPAIR = "look at what was changed, then let the user run in their own terminal: omo gate add NAME --repair -- COMMAND"
OTHERWISE = (
    "let omo run and record it: omo evidence replay --goal ID -- COMMAND; or the user types /omo:pin NAME -- COMMAND"
)

# What differs from one honest run to the next.
SHORTEST_PLACE = 4  # "/" or "/a" as a home would be found everywhere
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# With a digit and a letter: a number alone is no object id, nor is one such as 1234567e8.
_OBJECT = r"(?!\d+\b)(?!\d+e\d+\b)(?=[a-f]*\d)[0-9a-f]{7,40}"
TOKENS = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z"), "<time>"),
    (re.compile(rf"(?<![\w-]){_UUID}(?![\w-])"), "<uuid>"),
    (re.compile(rf"(?<![\w.]){_OBJECT}(?![\w])"), "<object>"),
    # The directory made for the occasion; what is in it keeps its name.
    (re.compile(r"(?:/private)?/(?:var/folders/[\w+-]+/[\w+-]+/T|var/tmp|tmp)/[^/\s\"':;,()<>]+"), "<temp>"),
)


def allowed(state: str) -> list[tuple[str, ...]]:
    """Argument lists that the user pinned, one for each name; a last `...` stands for any further arguments.

    Refused where the ledger is not whole: nothing is run because a file says so.
    """
    journal = Journal(paths.commands_dir(state), state)
    journal.require_whole("replay commands", REPAIR)
    pins: dict[str, tuple[str, ...]] = {}
    for row in journal.rows():
        if row.get("kind") == "command-pinned" and row.get("actor") == "user":
            pins[row["name"]] = tuple(row["argv"])
    return [argv for argv in pins.values() if argv]  # none: the user took it back


def repair(state: str, *, by: str, now: float, wait: float) -> None:
    """Keep a damaged ledger under another name. What it allowed has to be pinned again."""
    if by != "user":
        raise Refused("only the user can repair the ledger of replay commands", fix=REPAIR)
    journal = Journal(paths.commands_dir(state), state)
    journal.change(lambda rows: (None, journal.seal(now)), actor=by, now=now, wait=wait)


def is_pinned(argv: Sequence[str], pins: Pins) -> bool:
    for pin in pins:
        if len(pin) > 1 and pin[-1] == ANY_ARGUMENTS:
            if list(argv[: len(pin) - 1]) == list(pin[:-1]):
                return True
        elif list(argv) == list(pin):
            return True
    return False


def is_allowed(argv: Sequence[str], root: Path, pins: Pins, environ: Mapping[str, str] | None = None) -> str:
    """Why the command may not be run again, or the empty string. `pins` is what the user allowed."""
    problem = reading_problem(argv)
    if problem:
        return "" if is_pinned(argv, pins) else f"{problem}; {OTHERWISE}"
    path = (os.environ if environ is None else environ).get("PATH", "")
    if shutil.which(argv[0], path=_clean(path, root)) or not (planted := shutil.which(argv[0], path=path)):
        return ""
    return f"{argv[0]!r} is found only inside the project, at {clip(planted, 200)}; install the real one"


def executable(record: Record, root: Path, pins: Pins, environ: Mapping[str, str] | None = None) -> str:
    """The program that a replay starts, as an absolute path; empty where there is none, or it may not be run."""
    environ = os.environ if environ is None else environ
    if is_allowed(record.command, root, pins, environ):
        return ""
    program = record.command[0]
    if os.path.dirname(program):
        return os.path.normpath(os.path.join(os.path.realpath(root), record.cwd, program))
    is_git = not reading_problem(record.command)
    file = shutil.which(program, path=_clean(environ.get("PATH", ""), root if is_git else None))
    return os.path.abspath(file) if file else ""


def speaks_of_project(root: str, head: str | None, argv: Sequence[str], cwd: str) -> bool:
    """Whether a command that nobody pinned runs anything of the project, or reads a file of it.

    What prints a text that it was given, or a version, shows nothing of the work.
    """
    if own_commands.where(root, head, argv, cwd):
        return True
    top = os.path.realpath(root)
    words = list(argv[1:])
    if "/" in argv[0]:
        words.append(argv[0])
    for word in words:
        name = word.rpartition("=")[2].partition("::")[0]
        module = name.split(".")[0]  # python3 -m package.module
        for candidate in filter(None, (name, module, module and f"{module}.py")):
            path = os.path.realpath(os.path.join(top, cwd, candidate))
            inside = os.path.relpath(path, top).replace(os.sep, "/")
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
    return {
        "schemaVersion": 1,
        "kind": "cli-replay",
        "replaySafe": True,
        "command": list(argv),
        "recordedStdout": outcome.stdout,
        "recordedStderr": outcome.stderr,
        "expectedExitCode": outcome.exit_code,
        "timeoutMs": int(timeout * 1000),
        "cwd": cwd,
    }


def replay(record: Record, root: Path, pins: Pins, environ: Mapping[str, str] | None = None) -> list[str]:
    """Run it and compare: what differs, all of it. Nothing is run that may not be."""
    environ = os.environ if environ is None else environ
    given, root = root, Path(os.path.realpath(root))
    if why := is_allowed(record.command, root, pins, environ):
        return [f"command: {why}"]
    try:
        cwd = globs.directory_inside(root, record.cwd)
    except BadInput as error:
        return [f"cwd: {error.message}; {error.fix}"]
    if not cwd.is_dir():
        return [f"cwd: {clip(record.cwd, 200)!r} is no directory of the project; leave it out for its top"]
    program = record.command[0]
    is_relative = bool(os.path.dirname(program)) and not os.path.isabs(program)
    if is_relative and cwd != root:
        return [f"cwd: {program} was pinned at the project's top; elsewhere it is another program. Leave cwd out"]
    with tempfile.TemporaryDirectory(prefix="omo-replay-") as home:
        if reading_problem(record.command):
            outcome = _run(record.command, cwd, record.timeout, environ)
        elif why := _filter(root):
            return [f"command: {why}"]
        else:
            outcome = _run_git(record, root, cwd, home, environ)
        places = {str(given): "<project>", str(root): "<project>"}
        for place in (environ.get("HOME", ""), home):
            if place:
                places.setdefault(place.rstrip("/"), "<home>")
                places.setdefault(os.path.realpath(place), "<home>")
        return list(_differences(record, outcome, places))


def _run(argv: Sequence[str], cwd: Path, timeout: float, environ: Mapping[str, str]) -> Outcome:
    """As the user would run it, with the tools of the project that are on their PATH, such as a virtual environment."""
    path = _clean(environ.get("PATH", ""), None)
    environment = {**child_environment(environ), "PATH": path, **ALWAYS}
    return run(argv, cwd=cwd, timeout=timeout, output_limit=OUTPUT_LIMIT, env=environment)


def _run_git(record: Record, root: Path, cwd: Path, home: str, environ: Mapping[str, str]) -> Outcome:
    """From scratch: nothing of the session, the user's own settings, or a program that the project could plant."""
    _, verb, *rest = record.command
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    command = [*git.COMMAND, "--no-pager", *settings, verb, *VERBS[verb].added, *rest]
    environment = {
        **ALWAYS,
        **git.ENVIRONMENT,
        "PATH": _clean(environ.get("PATH", ""), root),
        "HOME": home,
        "GIT_ALLOW_PROTOCOL": "none",
        **git.own_repository(str(root)),
    }
    return run(command, cwd=cwd, timeout=record.timeout, output_limit=OUTPUT_LIMIT, env=environment)


def _filter(root: Path) -> str:
    """A filter is a program in the repository's configuration, started by status and diff alike."""
    rewriting = git.rewriting_filter(root)
    if rewriting is None:
        return ""
    name, command = rewriting
    return f"git would start {command!r}, as {name} says; remove it: git config --unset {name}"


def _clean(path: str, root: Path | None) -> str:
    """The search path without what depends on the directory, and without what is inside `root`."""
    top = os.path.realpath(root) if root else ""
    kept = []
    for entry in path.split(os.pathsep):
        if not os.path.isabs(entry):
            continue
        if top and any(globs.is_inside(top, place) for place in (os.path.realpath(entry), os.path.normpath(entry))):
            continue
        kept.append(entry)
    return os.pathsep.join(kept)


def _differences(record: Record, outcome: Outcome, places: Mapping[str, str]) -> Iterator[str]:
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
        yield from _difference("recordedStdout", record.stdout, outcome.stdout, places)
    if outcome.stderr_truncated:
        yield f"stderr: {too_much}"
    else:  # none recorded means that none came
        yield from _difference("recordedStderr", record.stderr or "", outcome.stderr, places)


def _difference(name: str, recorded: str, replayed: str, places: Mapping[str, str]) -> Iterator[str]:
    expected, got = normalise(recorded, places).split("\n"), normalise(replayed, places).split("\n")
    if expected == got:
        return
    same = 0
    while same < min(len(expected), len(got)) and expected[same] == got[same]:
        same += 1
    lines = [clip(text[same], 200) if same < len(text) else "(nothing more)" for text in (expected, got)]
    yield f"{name}: line {same + 1} was recorded as {lines[0]!r}; the replay says {lines[1]!r}"


def normalise(text: str, places: Mapping[str, str]) -> str:
    """Output without what differs from one honest run to the next. `places` are directories and their tokens."""
    text = plain(text)
    for place in sorted(places, key=len, reverse=True):
        if len(place) >= SHORTEST_PLACE:
            text = re.sub(re.escape(place) + r"(?![\w.-])", places[place], text)
    for pattern, token in TOKENS:
        text = pattern.sub(token, text)
    return text


_OPERATOR = re.compile(r"\d*(?:[<>|;&]|\$\(|`)")
# Also the bounds of git's own grammar: nothing absolute, nothing above, so that no file outside can be compared.
_REF = re.compile(r"(?![-/])(?!.*(?:^|/)\.\.(?:/|$))[\w@][\w./@^~:{}+-]*|\.")


class Verb(NamedTuple):
    """A git verb: flags it may have, how many refs it needs, and flags we add so that it starts no program."""

    flags: str
    fewest: int = 0
    takes_refs: bool = True
    added: tuple[str, ...] = ()


_SHOWN = r"--stat|--shortstat|--numstat|--name-only|--name-status|--no-ext-diff|--no-textconv|--no-color|--no-renames"
_LISTED = rf"{_SHOWN}|--oneline|--no-decorate|--no-merges|--reverse|-\d{{1,4}}|--max-count=\d{{1,4}}"
_TAME = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
VERBS = {
    "status": Verb(
        r"--short|-s|--porcelain(?:=v[12])?|--branch|-b", takes_refs=False, added=("--ignore-submodules=dirty",)
    ),
    "rev-parse": Verb(r"--short(?:=\d{1,2})?|--verify|--abbrev-ref", fewest=1),
    "merge-base": Verb(r"--is-ancestor|--all", fewest=1),
    "diff": Verb(rf"{_SHOWN}|--cached|--staged|--exit-code|--quiet", added=_TAME),
    "show": Verb(_LISTED, added=(*_TAME, "--no-show-signature")),
    "log": Verb(_LISTED, added=(*_TAME, "--no-show-signature")),
}
# Settings of a repository that make git start a program, or another git that would.
_SETTINGS = ("status.submoduleSummary=false", "diff.submodule=short", "format.pretty=medium", "color.ui=false")


def reading_problem(argv: Sequence[str]) -> str:
    """Why the command is not one of git's that only read, or the empty string."""
    program, arguments = argv[0], list(argv[1:])
    if program != "git":
        return f"{program!r} is neither pinned by the user nor a git command that only reads"
    for argument in arguments:
        if not argument or argument != argument.strip() or _OPERATOR.match(argument):
            return f"argument {argument!r} is empty, padded, or shell syntax; nothing here goes to a shell"
    verb = VERBS.get(arguments[0]) if arguments else None
    if verb is None:
        return f"git {' '.join(arguments[:1])} may not be replayed; these may: {', '.join(VERBS)}"
    end = arguments.index("--") if "--" in arguments else len(arguments)
    refs = []
    for argument in arguments[1:end]:
        if not argument.startswith("-"):
            refs.append(argument)
        elif not re.fullmatch(verb.flags, argument):
            return f"git {arguments[0]} {argument} may not be replayed; flags that may: {verb.flags.replace('|', ' ')}"
    if refs and not verb.takes_refs:
        return f"git {arguments[0]} takes no {refs[0]!r} here; paths come after --"
    for name in (*refs, *arguments[end + 1 :]):
        if not _REF.fullmatch(name):
            return f"{name!r} is no plain revision or path inside the project"
    return "" if len(refs) >= verb.fewest else f"git {arguments[0]} needs a revision, such as HEAD"
