"""Whose a command is: the project's own where its files named it, or the runner in it, before the work began.

`where` says which file did. A command may take a part of the tests by path or name, because "proven" asks for the
project's whole test gates beside it: `test_gates` are those, and `covers` says whether a command does as much.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from omo.proof import calls, kinds, project_checks
from omo.proof.calls import Call
from omo.proof.project_checks import Check
from omo.proof.project_files import files_at

if TYPE_CHECKING:
    from omo.proof.project_files import Files
    from omo.state.rows import Base

# Options by which a runner runs less, with their values. A marker may as well take in what the settings leave out.
LEAVES_OUT = re.compile(r"-m not \w+|-[kt] \S+|-run[= ]\S+|--(?:ignore|deselect)[= ]\S+")
ONE_TEST = re.compile(r"tests?[-_].+|.+[-_]tests?\.\w+")
# Which files the tests of a language are for. What is for all languages, as a target of make, is for any file.
ENDS = {
    "python": (".py", ".pyi"),
    "node": (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
    "deno": (".js", ".jsx", ".ts", ".tsx"),
    "rust": (".rs",),
    "go": (".go",),
    "java": (".java", ".kt", ".groovy", ".scala"),
    "scala": (".scala", ".java"),
    "dotnet": (".cs", ".fs", ".vb"),
    "swift": (".swift",),
    "dart": (".dart",),
    "elixir": (".ex", ".exs"),
    "ruby": (".rb",),
    "php": (".php",),
    "perl": (".pl", ".pm", ".t"),
}


def where(root: str, head: str | None, argv: Sequence[str], cwd: str) -> str:
    """The file that names this command at the commit, or the runner that it calls plainly; empty where none does."""
    return named_in(files_at(root, head), argv, cwd) if head else ""


def named_in(files: Files, argv: Sequence[str], cwd: str) -> str:
    """The same of other files: those that are there say no more than that a command is about the project."""
    wanted = calls.call_of(argv, cwd)
    checks = _checks(files, wanted.directory)
    for check in checks:
        if check.argv == list(argv) or calls.call_of(check.argv, check.cwd) == wanted:
            return check.found_in
    # A build may stand before them: "tests of what is built, with the build that the refusal names".
    builds = [calls.call_of(check.argv, check.cwd) for check in checks if check.kind == project_checks.BUILD]
    sources = []
    for part in calls.parts_of(wanted):
        if part not in builds:
            sources += [_source(files, call) for call in calls.unfold(files, part)]
    return sources[0] if sources and all(sources) else ""


def owner(root: str, head: str | None, argv: Sequence[str], cwd: str) -> str:
    """In words, for whoever tells what was proven by a command; empty where its agent chose it."""
    file = where(root, head, argv, cwd)
    return f"the project's own ({file})" if file else ""


def _checks(files: Files, directory: str) -> list[Check]:
    """What the files of a directory name, the project's own gates first."""
    checks = project_checks.commands_named(files, directory)
    return checks if directory else project_checks.project_gates(files) + checks


def _source(files: Files, call: Call) -> str:
    """The file that names the runner of a call, in its directory or in one above."""
    if not call.is_certain:
        return ""
    path = calls.below(call.directory, call.program)
    is_script = "/" in call.program and files.has(path) and bool(kinds.TEST_SCRIPT.fullmatch(path))
    if is_script and not call.chooses and not _is_one_of_several(files, path):
        return path
    for above in project_checks.upwards(call.directory):
        for check in _checks(files, above):
            for own in calls.programs(files, check.argv, above):
                is_same = own.program == call.program and call.program in calls.RUNNERS
                if is_same and (not call.chooses or own.given == call.given):
                    return check.found_in
    return ""


def _is_one_of_several(files: Files, path: str) -> bool:
    """`test_add.sh` beside `test_mul.sh`: "one of two test scripts"."""
    directory, name = posixpath.split(path)
    if not ONE_TEST.fullmatch(name):
        return False
    beside = [other for other in files.in_directory(directory) if ONE_TEST.fullmatch(other)]
    return len(beside) > 1


def test_gates(root: str, began: Base, changed: Collection[str], here: str) -> list[Check]:
    """The project's own tests that stand beside a proof of what was changed, as its files name them at the commit.

    They are those of the directory in which the run began (one of an older omo has only `here`), or of one above it
    that has all of the work: a library that is mended from a service beside it has tests too. Where that names none, or
    a test elsewhere was changed, it is those nearest to each file, and to that directory; and of several languages
    those of the changed files.
    """
    head, directory = began.get("head"), began.get("directory") or here
    if not head:
        return []
    which = kinds.Kinds()
    work = [path for path in changed if which.of(path) == kinds.WORK]
    values = [path for path in changed if which.is_test(path) or kinds.is_plain_data(path)]
    above = calls.below(directory)
    for path in work:
        while above and not path.startswith(f"{above}/"):
            above = posixpath.dirname(above)
    paths = [*work, *(path for path in values if which.of(path) == kinds.REST)]
    if not paths or not (above == calls.below(directory) or _tests_named(root, head, above)):
        paths.append(posixpath.join(directory, ""))
    gates: dict[tuple[str, ...], Check] = {}
    by_start: dict[str, list[Check]] = {}
    for path in paths:
        own = posixpath.dirname(path)
        is_below = not above or path.startswith(f"{above}/")
        named: list[Check] = []
        for start in (above, own, directory) if is_below else (own,):
            if start not in by_start:
                by_start[start] = _tests_named(root, head, start)
            suiting = [each for each in by_start[start] if path.endswith(ENDS.get(each.language, ""))]
            named = suiting or named or by_start[start][:1]
            if suiting:  # else a part of another language may have its own: "the tests of a page below, broken"
                break
        for check in named:
            gates.setdefault((check.cwd, *check.argv), check)
    # "a part whose tests have a directory of their own": it runs them, and nothing but they names a runner there.
    for key in [key for key, each in gates.items() if which.is_test(each.file)]:
        if any((above, *key[1:]) in gates for above in project_checks.upwards(key[0])[1:]):
            del gates[key]
    return list(gates.values())


def test_gate(root: str, head: str | None, cwd: str) -> Check | None:
    """The first of those that this directory, or the nearest one above it, names."""
    return next(iter(_tests_named(root, head, cwd)), None)


def _tests_named(root: str, head: str | None, cwd: str) -> list[Check]:
    """What the project calls its gates comes before anything else, those of tests first. Then it is the nearest
    directory that names any, a script or a target before the runner called plainly."""
    files = files_at(root, head)
    checks = project_checks.suggest(files, calls.below(cwd), (project_checks.TESTS,))
    if all(check.kind for check in checks):
        return checks

    def is_other(check: Check) -> bool:
        is_named = check.name in project_checks.NAMES[project_checks.TESTS]
        return not is_named and not calls.of_tests(calls.programs(files, check.argv, check.cwd))

    return sorted(checks, key=is_other)


def covers(root: str, head: str | None, argv: Sequence[str], cwd: str, gate: Check, *, is_users: bool = False) -> bool:
    """Whether a command is this gate, or calls the same runners over at least as much. The user may set what variables
    they like: "the user's pin sets a password that the tests ask for"."""
    files = files_at(root, head)
    given = list(argv)
    while is_users and len(given) > 1 and (given[0] == "env" or calls.ASSIGNMENT.fullmatch(given[0])):
        given.pop(0)
    command, wanted = calls.call_of(given, cwd), calls.call_of(gate.argv, gate.cwd)
    if command == wanted and command.path == wanted.path:
        return True
    programs = calls.unfold(files, command)
    needed = calls.unfold(files, wanted)
    return bool(needed) and all(any(_does(files, call, need) for call in programs) for need in needed)


def _does(files: Files, call: Call, need: Call) -> bool:
    """What is needed may run more by an option or a variable than the runner called plainly: "half, pytest alone, where
    the target has it run doctests too"."""
    if not (call.is_certain and need.is_certain) or (call.directory, call.program) != (need.directory, need.program):
        return False
    if call.path != need.path and (need.path or not _was_there(files, calls.below(call.directory, call.path))):
        return False
    if call.given == need.given:
        return True
    more = LEAVES_OUT.sub("", " ".join(need.given)).split() if need.chooses else ()
    has_more = any(word.startswith("-") for word in more)
    if call.program not in calls.RUNNERS or call.chooses or has_more:
        return False
    return not call.given or (bool(need.given) and set(need.given) <= set(call.given))


def _was_there(files: Files, directory: str) -> bool:
    """Many a package lies in src, and no file says so; but not "a copy of the package on another path"."""
    return any(name.startswith(f"{directory}/") for name in files.names)
