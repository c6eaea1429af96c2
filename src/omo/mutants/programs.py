"""Mutants that a program finds with a parser of its language. It gets the file on stdin and prints edits as JSON."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from omo.mutants.edits import KINDS, Edit, Lines, Mutant, NoMutants, mutants_from

HERE = Path(__file__).resolve().parent
# Nothing of the project's modules counts, and nothing is fetched.
GO = {"GOFLAGS": "-mod=mod", "GOWORK": "off", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GO111MODULE": "on"}


class Finished(Protocol):
    """How a program ended."""

    @property
    def exit_code(self) -> int | None: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def not_found(self) -> bool: ...
    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...
    @property
    def stdout_truncated(self) -> bool: ...


class StartProgram(Protocol):
    """Runs a program for us, bounded in time, with these variables besides those that the caller gives it."""

    def __call__(self, argv: Sequence[str], *, cwd: Path, stdin: bytes, variables: Mapping[str, str]) -> Finished: ...


@dataclass(frozen=True)
class Tools:
    """The project's root, and what runs a program there. JavaScript is parsed by what lies in its node_modules."""

    root: Path
    run: StartProgram


def go(path: str, content: bytes, lines: Collection[int], tools: Tools) -> list[Mutant] | NoMutants:
    with tempfile.TemporaryDirectory(prefix="omo-mutants-") as directory:
        argv = ["go", "run", str(HERE / "go" / "main.go"), _ranges(content, lines)]
        answer = tools.run(argv, cwd=Path(directory), stdin=content, variables=GO)
    return _mutants(path, content, lines, answer, "go")


def javascript(path: str, content: bytes, lines: Collection[int], tools: Tools) -> list[Mutant] | NoMutants:
    argv = ["node", str(HERE / "node" / "main.cjs"), str(tools.root), path, _ranges(content, lines)]
    return _mutants(path, content, lines, tools.run(argv, cwd=tools.root, stdin=content, variables={}), "node")


def failure(answer: Finished, program: str) -> str | None:
    """Return why a program gave no whole answer, or None if it did."""
    if answer.not_found:
        return f"{program} is not installed"
    if answer.timed_out:
        return f"{program} took too long"
    if answer.exit_code != 0:
        said = answer.stderr.strip().splitlines()
        return said[0] if said else f"{program} ended with exit code {answer.exit_code} and said nothing"
    if answer.stdout_truncated:
        return f"{program} printed more than omo reads"
    if not answer.stdout.strip():
        return f"{program} printed nothing"
    return None


def _ranges(content: bytes, lines: Collection[int]) -> str:
    return ",".join(f"{start}-{end}" for start, end in Lines(content).ranges(lines))


def _mutants(
    path: str, content: bytes, lines: Collection[int], answer: Finished, program: str
) -> list[Mutant] | NoMutants:
    why = failure(answer, program)
    if why is not None:
        return NoMutants(path, why)
    try:
        edits = [_edit(row, len(content)) for row in json.loads(answer.stdout)["edits"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return NoMutants(path, f"{program} printed no edits, but {answer.stdout.strip()}")
    return mutants_from(path, content, lines, edits)


def _edit(row: Mapping[str, object], size: int) -> Edit:
    start, end, text, kind = row["start"], row["end"], row["text"], row["kind"]
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= size):
        raise ValueError("an edit outside of the file")
    if not isinstance(text, str) or kind not in KINDS:
        raise ValueError("an edit of no kind")
    return Edit(start, end, text.encode(), str(kind))
