"""What a caller gives `mutants_of`, with real programs, and the mutants as rows of a table."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from omo.mutants import Mutant, NoMutants, Tools, mutants_of
from omo.proof.run import CommandOutcome, child_environment, run

MOST_OUTPUT = 10_000_000


def tools(root: Path, **more: str) -> Tools:
    """Run programs in the variables of a gate, and these."""

    def start(argv: Sequence[str], *, cwd: Path, stdin: bytes, variables: Mapping[str, str]) -> CommandOutcome:
        environment = {**child_environment(os.environ), **variables, **more}
        return run(argv, cwd=cwd, stdin=stdin, timeout=100, env=environment, output_limit=MOST_OUTPUT)

    return Tools(root, start)


def every_line(content: bytes) -> range:
    return range(1, len(content.splitlines()) + 1)


def made(found: list[Mutant] | NoMutants) -> list[Mutant]:
    assert not isinstance(found, NoMutants), found.why
    return found


def rows(path: str, content: bytes, with_tools: Tools, lines: Collection[int] = ()) -> list[tuple[int, str, str]]:
    """Return line, kind and the changed lines of each mutant, of the whole file unless lines are named."""
    found = made(mutants_of(path, content, lines or every_line(content), with_tools))
    return [(mutant.line, mutant.kind, mutant.after) for mutant in found]
