"""Where Python keeps what it compiles while omo runs commands: in a directory that is empty when a judgement begins.

Python loads a `.pyc` below `__pycache__` whose header names the time and the size of the source, whatever it was
compiled from. So one in the project can stand for tests that nobody sees ("half, a test by its bytecode").
"""

from __future__ import annotations

import os

from omo.errors import NotEvaluable

PREFIX, WRITES_NONE = "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"


class judgement:
    """`with judgement():`. The commands that run meanwhile share one directory. It is made for the first of them, and
    removed at the end."""

    def __init__(self) -> None:
        self.directory = ""

    def __enter__(self) -> None:
        global _current
        self._before, _current = _current, self

    def __exit__(self, *problem: object) -> None:
        global _current
        _current = self._before
        if self.directory:
            import shutil

            shutil.rmtree(self.directory, ignore_errors=True)


class writing_none:
    """`with writing_none():`. Python compiles nothing to disk meanwhile, also in a judgement: it takes a file of the
    same size and second for the one that it has compiled, and in a worktree nobody waits for the next second."""

    def __enter__(self) -> None:
        global _current
        self._before, _current = _current, None

    def __exit__(self, *problem: object) -> None:
        global _current
        _current = self._before


_current: judgement | None = None


def variables() -> dict[str, str]:
    """Return the variables by which Python neither compiles into the project nor loads what was compiled there.

    In a judgement it does write, outside: where tests start Python often, each start would compile its library anew.
    """
    if _current is None:
        return {WRITES_NONE: "1"}
    if not _current.directory:
        import tempfile

        try:
            _current.directory = os.path.realpath(tempfile.mkdtemp(prefix="omo-bytecode-"))
        except OSError as error:
            why = f"there is no room for what Python compiles: {error.strerror}"
            raise NotEvaluable(why, fix="free some space, or set TMPDIR") from None
    return {WRITES_NONE: "", PREFIX: _current.directory}
