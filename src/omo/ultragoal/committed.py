"""The project's settings as they were committed where the work began: what is edited since takes nothing back."""

from __future__ import annotations

from pathlib import Path

from omo import settings as all_settings
from omo.errors import NotEvaluable, Unreadable
from omo.evidence import changes
from omo.settings import Settings
from omo.state import paths, store
from omo.ultragoal.run import Run

LARGEST = 100_000


def settings(root: str, base: str | None) -> Settings:
    """Defaults where git has no such file there, or one that cannot be used."""
    name = Path(paths.settings_file(root)).relative_to(root).as_posix()
    if not base:
        return Settings()
    try:
        blob = changes.ask(Path(root), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}:./{name}")
        text = changes.ask(Path(root), "cat-file", "blob", blob.strip())
        return Settings() if len(text) > LARGEST else all_settings.of({}, store.parse(store.encode(text), name))
    except (NotEvaluable, Unreadable):
        return Settings()


def control_globs(run: Run, base: str | None) -> tuple[str, ...]:
    """What counts as control of a computer: what the project says now, and what it said where the work began."""
    return tuple(dict.fromkeys((*run.control_globs, *settings(run.root, base).computer_control)))
