"""Mutants: a file with one small mistake in a changed line, which a test should notice.

A parser of the file's own language finds the places. Nothing here runs a test; `mutants_of` makes the mutants, `sample`
picks from them if there is no time for all.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from omo.mutants import python, rust
from omo.mutants.edits import KINDS, MOST_PER_LINE, Mutant, NoMutants
from omo.mutants.programs import Finished, StartProgram, Tools, go, javascript
from omo.mutants.sampling import sample

__all__ = ("KINDS", "MOST_PER_LINE", "Finished", "Mutant", "NoMutants", "StartProgram", "Tools", "mutants_of", "sample")

JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
LANGUAGES = {
    ".py": python.mutants_of,
    ".go": go,
    ".rs": rust.mutants_of,
    **dict.fromkeys(JAVASCRIPT, javascript),
}


def mutants_of(path: str, content: bytes, lines: Collection[int], tools: Tools) -> list[Mutant] | NoMutants:
    """Return the mutants of these lines, counted from 1; an empty list if the file was read and they offer none.

    `path` is relative to `tools.root`. Where the file cannot be read, `NoMutants` says why.
    """
    suffix = posixpath.splitext(path)[1]
    make = LANGUAGES.get(suffix)
    if make is None:
        return NoMutants(path, f"omo makes none of {suffix or 'such'} files")
    return make(path, content, lines, tools)
