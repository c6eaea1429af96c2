"""A plan session as its ledger tells it: a fold of rows, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from omo.state.runtime import part
from omo.work.outcome import exception

Row = dict[str, Any]

MOST_RECOVERIES = 2


@dataclass(frozen=True)
class Record:
    """A run as its ledger tells it. `end` is empty, pass, failed, abandoned or recovered; without a `base` the run
    never began, because something it needs was missing."""

    run: str
    at: str = ""
    by: str = "agent"  # who started it
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
    def exceptions(self) -> list[Row]:
        """What was let through without its proof: what, by whom, and why."""
        let_through = []
        if self.unreviewed:
            let_through.append(exception("no clean critique of the plan", self.by, self.unreviewed))
        if self.out_of_order:
            let_through.append(exception("begun before what it depends on was done", self.by, self.out_of_order))
        if self.is_legacy:
            what = "a plan before 1.7: no critic was asked"
            let_through.append(exception(what, self.by, "what it does not say was taken from its prose"))
        if self.anew:
            what = f"plan session {self.recovery_of} could not be audited any more"
            let_through.append(exception(what, self.by, self.anew))
        if self.review == "reduced":
            let_through.append(exception("the critique has reduced independence", self.by, "no hook saw the critic"))
        if self.preflight.get("bypassed"):
            whose = str(self.preflight.get("actor") or self.by)
            let_through.append(exception("preflight bypassed", whose, str(self.preflight["bypassed"])))
        if self.repaired:
            let_through.append(exception("the ledger was set aside", self.by, "it was damaged"))
        return let_through

    @property
    def overrides(self) -> list[str]:
        """The same in words, for every view."""
        return [f"{one['what']}: {one['why']}" for one in self.exceptions]


def _started(record: Record, row: Row) -> Record:
    names = ("session", "spec", "digest", "source", "plan", "master", "lineage", "base", "root")
    told: Row = {name: str(row.get(name) or "") for name in names}
    return replace(
        record,
        **told,
        at=str(row.get("ts") or ""),
        by=str(row.get("actor") or record.by),
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
    told = {**part(row, "carried"), "ts": row.get("ts"), "actor": row.get("actor")}
    return replace(_started(record, told), repaired=True)


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
