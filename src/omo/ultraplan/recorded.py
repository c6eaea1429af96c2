"""What the audit of a file is held to while a run of it is recorded: the text it was started with."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from omo.errors import Refused
from omo.shown import clip
from omo.ultraplan.models import Document
from omo.ultraplan.record import Record
from omo.ultraplan.run import ABANDON, digest_of, pinned, runs_at, text_of
from omo.ultraplan.standing import line_of


@dataclass(frozen=True)
class Pinned:
    """`edited` says what became of the file."""

    document: Document
    base: str
    skipped: dict[int, str]
    inputs: list[str]
    edited: str


def pinned_for(state: str, root: str, path: Path) -> Pinned | None:
    """None where no run of that file is recorded, or where it still has the text that was started."""
    runs = runs_at(state, root, str(path))
    text = text_of(str(path))
    if not runs or (text is not None and digest_of(text) in _started(state, runs[-1])):
        return None
    shown = clip(os.path.relpath(os.path.realpath(path), os.path.realpath(root)), 200)
    edited = f"{shown} was {'edited' if text is not None else 'deleted'} after start; the copy made then is audited"
    line = line_of(state, runs[-1])
    if not any(_is_at(root, one.spec, path) for one in line):
        specs = sorted({shlex.quote(one.spec) for one in runs})
        what = f"{shown} was changed after its sessions were started, and each of them has its own copy"
        raise Refused(what, fix="; ".join(f"omo plan audit {one}" for one in specs))
    skipped = {step: why for one in line for step, why in one.skipped.items()}
    inputs = [name for one in line for name in (one.spec, one.master) if name]
    return Pinned(pinned(state, line[0]), line[0].base, skipped, inputs, edited)


def require_here(state: str, root: str, path: Path) -> None:
    """A run that was copied with its project tells where the work began there, not here."""
    here = os.path.realpath(root)
    runs = runs_at(state, root, str(path))
    if runs and runs[-1].root != here and os.path.isdir(runs[-1].root):
        raise Refused(
            f"plan session {runs[-1].run} belongs to {runs[-1].root}, and this is {here}",
            fix=f"audit it there; or here {ABANDON}, then omo plan recover {shlex.quote(runs[-1].spec)}",
        )


def _started(state: str, record: Record) -> set[str]:
    line = line_of(state, record)
    return {record.plan} | {digest for one in line for digest in (one.digest, one.source)}


def _is_at(root: str, name: str, path: Path) -> bool:
    return os.path.realpath(os.path.join(root, name)) == os.path.realpath(path)
