"""Names of tests as runners print them: which tests are gone, which were moved, and which one the user means."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

_SUITES = re.compile(r" [›>] ")
_GO = re.compile(r"(?P<package>\S+): (?P<test>(?:Test|Benchmark|Fuzz|Example)\w*(?:/.*)?)")
_UNITTEST = re.compile(r"(?P<function>\S+) \((?P<dotted>[\w.<>]+)\)")
_JUNIT = re.compile(r"(?P<place>[\w.$]+)\.(?P<function>[\w$]+)(?:[(\[{].*)?")
_LINE_OF_RUST = re.compile(r" \(line \d+\)")
_BEFORE_RUST = re.compile(r"^\S+\.rs - ")
# What a title says anew in each run: addresses, dates, times, UUIDs, long numbers.
_VARYING = re.compile(
    r"0x[0-9a-fA-F]{6,}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?\b|\b\d{1,2}:\d\d:\d\d(?:\.\d+)?\b|\b\d*\.?\d{9,}\b"
)
# How a test begins in its file: a function of this name, or a call with this title.
_FUNCTION = r"\b(?:def|fn|func|fun|function|sub|void)\s+(?:\([^)]*\)\s*)?NAME\b"
_CALL = r"\b(?:it|test|specify|example|scenario)\b[\w.]*\s*\(?\s*(?P<quote>['\"`])NAME(?P=quote)"
_MARKS = ("@", "#[")  # of a line above a test that is about it
_LONGEST_BODY = 400  # lines


class Lost(NamedTuple):
    """A test that ran less often than before: `now` is 0 where it did not run at all."""

    name: str
    before: int
    now: int


def counted_by_function(names: Iterable[str]) -> dict[str, int]:
    """Count the cases of each test, whose parameters may be spelled anew in each run."""
    return dict(Counter(_VARYING.sub("…", without_case(name)) for name in names))


def without_case(name: str) -> str:
    """Return the full name of a test without the parameters of one case."""
    if go := _GO.fullmatch(name):
        return f"{go['package']}: {go['test'].partition('/')[0]}"
    if junit := _JUNIT.fullmatch(name):
        return f"{junit['place']}.{junit['function']}"
    path, separator, inside = _LINE_OF_RUST.sub("", name).partition("::")
    return path + separator + re.split(r"\[| - ", inside, maxsplit=1)[0]  # behind " - " is a reason or a remark


def function_of(name: str) -> str:
    """Return the last part of a test's name without parameters: its function, or its title."""
    plain = without_case(name)
    if unittest := _UNITTEST.fullmatch(plain):
        return str(unittest["function"])
    if go := _GO.fullmatch(plain):
        return str(go["test"])
    if junit := _JUNIT.fullmatch(plain):
        return str(junit["function"])
    plain = _BEFORE_RUST.sub("", plain)
    if "::" in plain:
        return plain.rpartition("::")[2].rpartition(".")[2]  # of a doctest without its module
    return _SUITES.split(plain)[-1]


def place_of(name: str) -> str:
    """Return the file, module or package that the name has before the test. It is empty where the name has none."""
    plain = without_case(name)
    if unittest := _UNITTEST.fullmatch(plain):
        return ".".join(_dotted(unittest)[:-2])
    if go := _GO.fullmatch(plain):
        return str(go["package"])
    if junit := _JUNIT.fullmatch(plain):
        return str(junit["place"])
    if "::" in plain:
        return plain.partition("::")[0]
    first, *others = _SUITES.split(plain)
    return first if others else ""


def as_typed(name: str) -> str:
    """Return what a person types for this test after /omo:allow."""
    plain = without_case(name)
    if unittest := _UNITTEST.fullmatch(plain):
        module = place_of(name).replace(".", "/")
        return f"{module}.py::{unittest['function']}" if module else str(unittest["function"])
    return plain if "::" in plain else function_of(name)


def is_meant(typed: Collection[str], name: str) -> bool:
    """Return whether one of the names that the user typed means this test, by its full name, the end of it, or a file.

    `FILE` means all tests of the file, `FILE::TEST` and `FILE::Class::TEST` one of them."""
    endings = _endings(name)
    return any(each in endings or _is_in_file(each, name) for each in typed)


def _endings(name: str) -> set[str]:
    """The full name, and every end of it that a user may call the test by."""
    plain = without_case(name)
    endings = {name, plain, function_of(name)}
    if go := _GO.fullmatch(name):
        return endings | {go["test"]}
    if unittest := _UNITTEST.fullmatch(plain):
        parts = _dotted(unittest)
        for start in range(len(parts)):
            endings |= {".".join(parts[start:]), "::".join(parts[start:])}
        return endings
    if _JUNIT.fullmatch(plain):
        parts = plain.split(".")
        return endings | {".".join(parts[start:]) for start in range(len(parts))}
    for full in (name, plain):
        for separator in ("::", " › ", " > "):
            parts = full.split(separator)
            endings.update(separator.join(parts[start:]) for start in range(len(parts)))
    return endings


def _is_in_file(typed: str, name: str) -> bool:
    path, _, wanted = typed.partition("::")
    path = posixpath.normpath(path)
    stem, suffix = posixpath.splitext(path)
    if not suffix:
        return False
    plain = without_case(name)
    if unittest := _UNITTEST.fullmatch(plain):
        parts = _dotted(unittest)
        module = stem.split("/")
        for start in range(len(module)):  # a module is named from wherever the runner was started
            length = len(module) - start
            inside = parts[length:]
            if parts[:length] == module[start:] and inside:
                return wanted in ("", "::".join(inside), inside[-1])
        return False
    file, separator, test = plain.partition("::")
    if separator and posixpath.normpath(file) == path:
        return wanted in ("", test, function_of(name), name.partition("::")[2])
    return posixpath.normpath(place_of(name)) == path and wanted in ("", function_of(name))


def _dotted(unittest: re.Match[str]) -> list[str]:
    """Module, class and function; Python 3.10 leaves the function out of the parentheses."""
    parts: list[str] = unittest["dotted"].split(".")
    return parts if parts[-1] == unittest["function"] else [*parts, unittest["function"]]


def lost(then: Mapping[str, int], now: Mapping[str, int]) -> list[Lost]:
    """Return the tests that ran then and run less often now. One of the same function elsewhere was moved."""
    moved: Counter[str] = Counter()
    for name in gained(then, now):
        moved[function_of(name)] += now[name] - then.get(name, 0)
    found = []
    for name, before in sorted(then.items()):
        missing = before - now.get(name, 0)
        if missing <= 0:
            continue
        function = function_of(name)
        elsewhere = min(missing, moved[function])
        moved[function] -= elsewhere
        if missing > elsewhere:
            found.append(Lost(name, before, before - missing + elsewhere))
    return found


def gained(then: Mapping[str, int], now: Mapping[str, int]) -> list[str]:
    """Return the tests that run more often now."""
    return [name for name, number in now.items() if number > then.get(name, 0)]


def varying_places(runs: Iterable[Mapping[str, int]]) -> set[str]:
    """Return where names differ between runs on the same files, which are no names then."""
    all_names: set[str] = set()
    in_each: set[str] | None = None
    for run in runs:
        all_names |= run.keys()
        in_each = set(run) if in_each is None else in_each & run.keys()
    return {place_of(name) for name in all_names - (in_each or set())}


def bodies(text: str, name: str) -> set[str]:
    """Return what stands in a file below each place where this test begins, without its name and blanks.

    It is read by the indentation, which serves Python, JavaScript, Go, Rust and the like. A test that is not found has
    no body.
    """
    function = re.escape(function_of(name))
    if not function_of(name) or function_of(name) not in text:
        return set()
    begins = re.compile(f"{_FUNCTION}|{_CALL}".replace("NAME", function))
    lines = text.split("\n")
    found = set()
    for number, line in enumerate(lines):
        if begin := begins.search(line):
            head = line[: begin.start()] + begin[0].replace(function_of(name), "") + line[begin.end() :]
            body = [*_marks_above(lines, number), head.strip(), *_below(lines, number)]
            found.add("\n".join(body))
    return found


def _marks_above(lines: list[str], number: int) -> list[str]:
    marks = []
    for line in reversed(lines[:number]):
        if not line.strip().startswith(_MARKS):
            break
        marks.append(line.strip())
    return marks[::-1]


def _below(lines: list[str], number: int) -> list[str]:
    """The lines that stand deeper than this one, and the bracket that closes them."""
    depth = _depth(lines[number])
    body = []
    for line in lines[number + 1 : number + 1 + _LONGEST_BODY]:
        if not line.strip():
            continue
        is_end = _depth(line) <= depth
        if is_end and not (_depth(line) == depth and line.strip()[0] in ")}]"):
            break
        body.append(line.strip())
        if is_end and line.strip()[0] == "}":
            break
    return body


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
