"""A plan session as its ledger tells it: a fold of rows, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from omo.state.runtime import part

Row = dict[str, Any]

MOST_RECOVERIES = 2


@dataclass(frozen=True)
class Record:
    """A run as its ledger tells it. `end` is empty, pass, failed, abandoned or recovered; without a `base` the run
    never began, because something it needs was missing."""

    run: str
    at: str = ""
    session: str = ""
    spec: str = ""
    digest: str = ""
    source: str = ""  # the digest of the file that was named, which is the plan where it counts as its own spec
    plan: str = ""  # the digest of the master plan
    master: str = ""  # the master plan's place
    lineage: str = ""
    base: str = ""
    root: str = ""
    fence: Row = field(default_factory=dict)
    steps: tuple[int, ...] = ()
    depth: int = 0
    recovery_of: str = ""
    anew: str = ""  # why a recovery answers for its own steps only
    unreviewed: str = ""
    out_of_order: str = ""
    is_legacy: bool = False  # of a plan before 1.7: no critic looked, and manifests may have been made up
    review: str = ""  # how independent the critic was
    preflight: Row = field(default_factory=dict)
    skipped: Mapping[int, str] = field(default_factory=dict)
    seen: tuple[int, ...] = ()
    audited: Row = field(default_factory=dict)
    recovered: Row = field(default_factory=dict)
    finished: Row = field(default_factory=dict)
    repaired: bool = False

    @property
    def end(self) -> str:
        return str(self.finished.get("verdict") or "") or ("recovered" if self.recovered else "")

    @property
    def is_open(self) -> bool:
        return bool(self.base) and not self.end

    @property
    def is_fenced(self) -> bool:
        """Until what recovers it has begun, a recovered run holds its fence."""
        return self.is_open or self.end == "recovered"

    @property
    def done(self) -> list[int]:
        """The steps that were seen to pass, or passed when the run ended."""
        return sorted({*self.seen, *_numbers(self.finished.get("passed"))})

    @property
    def overrides(self) -> list[str]:
        """What was let through without its proof, for every view."""
        found = [f"no clean critique of the plan: {self.unreviewed}"] if self.unreviewed else []
        if self.out_of_order:
            found.append(f"begun before what it depends on was done: {self.out_of_order}")
        if self.is_legacy:
            found.append("a plan before 1.7: no critic was asked, and what it does not say was taken from its prose")
        if self.anew:
            found.append(f"plan session {self.recovery_of} could not be audited any more: {self.anew}")
        if self.review == "reduced":
            found.append("the critique has reduced independence: no hook saw the critic say it")
        if self.preflight.get("bypassed"):
            found.append(f"preflight bypassed: {self.preflight['bypassed']}")
        return found + (["the ledger was damaged and set aside"] if self.repaired else [])


def _started(record: Record, row: Row) -> Record:
    names = ("session", "spec", "digest", "source", "plan", "master", "lineage", "base", "root")
    told: Row = {name: str(row.get(name) or "") for name in names}
    return replace(
        record,
        **told,
        at=str(row.get("ts") or ""),
        fence=part(row, "fence"),
        steps=_numbers(row.get("steps")),
        depth=_number(row.get("depth")),
        recovery_of=str(row.get("recovery_of") or ""),
        anew=str(row.get("anew") or ""),
        unreviewed=str(row.get("unreviewed") or ""),
        out_of_order=str(row.get("out_of_order") or ""),
        is_legacy=row.get("legacy") is True,
        review=str(row.get("review") or ""),
    )


def _preflight(record: Record, row: Row) -> Record:
    session, spec = (str(row.get(name) or "") for name in ("session", "spec"))
    known = record if record.base else replace(record, session=session, spec=spec)
    bypassed = row.get("bypassed") or record.preflight.get("bypassed")  # a later look does not undo an override
    return replace(known, preflight={**row, "bypassed": bypassed}, at=record.at or str(row.get("ts") or ""))


def _skipped(record: Record, row: Row) -> Record:
    return replace(record, skipped={**record.skipped, _number(row.get("step")): str(row.get("reason") or "")})


def _audited(record: Record, row: Row) -> Record:
    """What was once seen to pass stays seen, whatever a later row says."""
    seen = tuple(sorted({*record.seen, *_numbers(row.get("passed"))}))
    return replace(record, audited=row, seen=seen)


def _repaired(record: Record, row: Row) -> Record:
    return replace(_started(record, {**part(row, "carried"), "ts": row.get("ts")}), repaired=True)


def _moved(record: Record, row: Row) -> Record:
    """The project lies elsewhere now, and its fence with it."""
    root = str(row.get("root") or record.root)
    return replace(record, root=root, fence={**record.fence, "root": root} if record.fence else {})


_FOLD: dict[str, Callable[[Record, Row], Record]] = {
    "started": _started,
    "preflight": _preflight,
    "skipped": _skipped,
    "audited": _audited,
    "recovered": lambda record, row: replace(record, recovered=row, finished={}),
    "finished": lambda record, row: replace(record, finished=row),
    "repaired": _repaired,
    "moved": _moved,
}


def fold(run: str, rows: list[Row]) -> Record | None:
    record = Record(run)
    for row in rows:
        if change := _FOLD.get(str(row.get("kind"))):
            record = change(record, row)
    return record if record != Record(run) else None


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _numbers(value: object) -> tuple[int, ...]:
    return tuple(_number(one) for one in value) if isinstance(value, list) else ()
