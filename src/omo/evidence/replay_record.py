"""A recorded run of a command: what it is to be run again from, and held against."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from omo.errors import BadInput
from omo.evidence import patterns
from omo.evidence.normalise import plain
from omo.evidence.visible import count, is_blank
from omo.shown import clip

Json = dict[str, Any]

LONGEST_COMMAND = 8000
LONGEST_OUTPUT = 1 << 20
SHORTEST_TIMEOUT, DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 1.0, 10.0, 120.0
MOST_INVARIANTS = 20
FEWEST_VISIBLE = 3
VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
FIELDS = (
    *("schemaVersion", "kind", "command", "replaySafe", "recordedStdout", "recordedStderr", "expectedExitCode"),
    *("normalization", "timeoutMs", "cwd", "env", "invariants"),
)
TYPES = ("substring", "not_substring", "regex")
# Found in this, a pattern would be found in the output of anything.
UNRELATED = "some words of another program, 4711 of them (v0.9)\n"


@dataclass(frozen=True)
class Invariant:
    type: str
    value: str
    flags: str = ""

    def holds(self, text: str) -> bool:
        if self.type == "regex":
            return patterns.found(self.pattern, text)
        return (self.value in text) is (self.type == "substring")

    @property
    def pattern(self) -> str:
        return f"(?i){self.value}" if "i" in self.flags else self.value


@dataclass(frozen=True)
class Record:
    """`stderr` None: none was recorded."""

    command: tuple[str, ...]
    stdout: str
    stderr: str | None = None
    exit_code: int = 0
    timeout: float = DEFAULT_TIMEOUT
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    invariants: tuple[Invariant, ...] = ()


def parse(document: object) -> Record:
    """BadInput with everything that is wrong in `defects`. Fields of the row a record may stand in are passed over."""
    if not isinstance(document, dict):
        raise _bad([f"{_shown(document)} is not an object"])
    if found := [*_head(document), *_output(document), *_surroundings(document), *_invariants(document)]:
        raise _bad(found)
    timeout = document.get("timeoutMs", DEFAULT_TIMEOUT * 1000) / 1000
    return Record(
        command=tuple(document["command"]),
        stdout=document["recordedStdout"],
        stderr=document.get("recordedStderr"),
        exit_code=document.get("expectedExitCode", 0),
        timeout=min(max(timeout, SHORTEST_TIMEOUT), LONGEST_TIMEOUT),
        cwd=document.get("cwd", "."),
        env=dict(document.get("env", {})),
        invariants=tuple(_invariant(one) for one in document.get("invariants", [])),
    )


def _bad(found: list[str]) -> BadInput:
    return BadInput(
        f"the replay record cannot be used: {'; '.join(found)}",
        fix='{"schemaVersion": 1, "kind": "cli-replay", "replaySafe": true, "command": ["git", "--version"], '
        '"recordedStdout": "…"}',
        defects=found,
    )


def _head(document: Json) -> Iterator[str]:
    version, command = document.get("schemaVersion"), document.get("command")
    if version != 1 or isinstance(version, bool):
        yield f"schemaVersion: {_shown(version)} is not 1"
    if document.get("kind") != "cli-replay":
        yield f"kind: {_shown(document.get('kind'))} is not 'cli-replay'"
    if isinstance(command, str):
        yield f"command: {_shown(command)} is text for a shell; write the program and its arguments as a list"
    elif not _is_argv(command):
        yield f"command: {_shown(command)} is not a list of strings, at most {LONGEST_COMMAND} characters together"
    if document.get("replaySafe") is not True:
        yield f"replaySafe: {_shown(document.get('replaySafe'))} is not true; say so only of what may run again"
    if document.get("normalization", "default") != "default":
        yield f"normalization: {_shown(document['normalization'])} is not 'default'; leave it out"
    for key in document:
        near = difflib.get_close_matches(str(key).lower(), [name.lower() for name in FIELDS], 1, 0.85)
        if key not in FIELDS and near:
            meant = next(name for name in FIELDS if name.lower() == near[0])
            yield f"{clip(str(key), 40)}: is no field; {meant} is"


def _output(document: Json) -> Iterator[str]:
    for name in ("recordedStdout", "recordedStderr"):
        value = document.get(name)
        is_left_out = name == "recordedStderr" and name not in document
        if not is_left_out and not (isinstance(value, str) and len(value) <= LONGEST_OUTPUT):
            yield f"{name}: {_shown(value)} is not text of at most {LONGEST_OUTPUT} characters"
    code = document.get("expectedExitCode", 0)
    if not _is_number(code) or code != int(code) or not 0 <= code <= 255:
        yield f"expectedExitCode: {_shown(code)} is not a whole number from 0 to 255"


def _surroundings(document: Json) -> Iterator[str]:
    timeout, cwd, env = document.get("timeoutMs", 1000), document.get("cwd", "."), document.get("env", {})
    if not _is_number(timeout) or not timeout > 0:
        yield f"timeoutMs: {_shown(timeout)} is not a number of milliseconds"
    if not isinstance(cwd, str) or not cwd.strip() or "\0" in cwd:
        yield f"cwd: {_shown(cwd)} is not a directory of the project; leave it out for its top"
    if not isinstance(env, dict):
        yield f"env: {_shown(env)} is not an object"
        return
    for name, value in env.items():
        if name not in VARIABLES:
            yield f"env.{clip(str(name), 40)}: may not be set; only {', '.join(VARIABLES)} may"
        elif not isinstance(value, str) or len(value) > 100 or "\0" in value or not value.isascii():
            yield f"env.{name}: {_shown(value)} is not short plain text"


def _invariants(document: Json) -> Iterator[str]:
    if "invariants" not in document:
        return
    given = document["invariants"]
    if not isinstance(given, list) or not 0 < len(given) <= MOST_INVARIANTS:
        yield f"invariants: {_shown(given)} is not a list of 1 to {MOST_INVARIANTS}; leave it out to compare all output"
        return
    recorded = document.get("recordedStdout")
    for at, one in enumerate(given):
        if defect := _invariant_defect(one) or _contradiction(_invariant(one), recorded):
            yield f"invariants[{at}]: {defect}"
    if all(isinstance(one, dict) and one.get("type") == "not_substring" for one in given):
        yield "invariants: none says what must be there; add a substring or a regex"


def _invariant(given: Json) -> Invariant:
    return Invariant(given["type"], given["value"], given.get("flags", ""))


def _invariant_defect(given: object) -> str:
    if not isinstance(given, dict) or given.get("type") not in TYPES or not isinstance(given.get("value"), str):
        return f"{_shown(given)} is not an object with type ({', '.join(TYPES)}) and value"
    kind, value, flags = given["type"], given["value"], given.get("flags", "")
    if not isinstance(flags, str) or set(flags) - set("im") or (flags and kind != "regex"):
        return f"flags {_shown(flags)} are not i and m of a regex"
    if kind == "not_substring":
        return f"value {_shown(value)} is blank" if is_blank(value) else ""
    if count(value) < FEWEST_VISIBLE:
        return f"value {_shown(value)} has fewer than {FEWEST_VISIBLE} visible characters, so it is found by chance"
    return _pattern_defect(_invariant(given).pattern) if kind == "regex" else ""


def _pattern_defect(pattern: str) -> str:
    if defect := patterns.defect(pattern):
        return f"value {_shown(pattern)}: {defect}"
    try:
        if patterns.found(pattern, "") or patterns.found(pattern, UNRELATED):
            return f"value {_shown(pattern)} is found in output of any kind; write what only this command says"
    except patterns.TooSlow:
        return f"value {_shown(pattern)} takes too long to search"
    return ""


def _contradiction(invariant: Invariant, recorded: object) -> str:
    """What does not even hold of the recording is no invariant of the command."""
    if not isinstance(recorded, str) or len(recorded) > LONGEST_OUTPUT:
        return ""
    try:
        holds = invariant.holds(plain(recorded))
    except patterns.TooSlow:
        return f"{invariant.type} {_shown(invariant.value)} takes too long to search in recordedStdout"
    return "" if holds else f"{invariant.type} {_shown(invariant.value)} does not hold of recordedStdout itself"


def _is_argv(value: object) -> bool:
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        return False
    is_text = all("\0" not in word and not any("\ud800" <= letter <= "\udfff" for letter in word) for word in value)
    return is_text and bool(value[0]) and sum(map(len, value)) <= LONGEST_COMMAND and len(value) <= LONGEST_COMMAND


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12


def _shown(value: object) -> str:
    return clip(repr(value), 80)
