"""What the user asked for, as a hook kept it when they typed it. Every judged end is held against it."""

from __future__ import annotations

from omo import table
from omo.clock import seconds, stamp
from omo.json_text import dumps
from omo.text import block, clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omo.state.ledger_rows import NamedFile, SessionEvent
    from omo.state.runtime import Works


ASKED = "asked"  # after the command of a workflow
ARMED = ("activated", "rearmed")
TYPED = "typed"  # a workflow's command with nothing behind it
DATA_ENDS = (".json", ".yaml", ".yml")
LONGEST = 8000
MOST_TOLD = 3


def typed(events: Iterable[SessionEvent], workflow: str, since: str = "") -> list[SessionEvent]:
    """What a person typed after the workflow's own command, oldest first."""
    return _later([row for row in events if row.get("kind") == ASKED and asked_of(row) == workflow], since)


def later(events: Iterable[SessionEvent], workflow: str, began: str) -> list[SessionEvent]:
    """The same for a run that began then: not what they asked for in its place, when it was let go."""
    return [row for row in typed(events, workflow, began) if not row.get("anew")]


def is_asked_anew(events: Sequence[SessionEvent], kind: str) -> bool:
    """Whether the user has asked for something else of a workflow since its last run was on."""
    for row in reversed(events):
        if row.get("kind") == "resumed" or (row.get("kind") == kind and row.get("state") == "active"):
            return False
        if asked_of(row) in table.BY_KIND[kind].typed:
            return bool(row.get("anew"))
    return False


def armed(events: Iterable[SessionEvent], since: str = "") -> list[SessionEvent]:
    """The prompts with which a person armed the session, oldest first."""
    return _later([row for row in events if row.get("kind") in ARMED and row.get("actor") == "user"], since)


def _later(rows: Sequence[SessionEvent], since: str) -> list[SessionEvent]:
    return [row for row in rows if str(row.get("ts")) > since]


def of_run(events: Iterable[SessionEvent], kind: str, run: str) -> list[str]:
    """What a person typed that set a run going, and what they typed for it since, oldest first. For ultrawork these are
    the prompts that armed it; for another workflow the last request before it began, and all later ones."""
    return [str(row.get("text")) for row in rows_of_run(events, kind, run)]


def rows_of_run(events: Iterable[SessionEvent], kind: str, run: str) -> list[SessionEvent]:
    """Return the rows of these prompts."""
    number = run[1:].split("-", 1)[0]  # an id says when a run began
    began = stamp(int(number) / 1000) if number.isdecimal() and len(number) < 16 else ""
    if kind != "ulw":
        return rows_since(events, kind, began)
    return [row for row in events if row.get("text") and row.get("kind") in ARMED and _is_of(row, run)]


def _is_of(row: SessionEvent, run: str) -> bool:
    return row.get("actor") == "user" and row.get("run") == run


def rows_since(events: Iterable[SessionEvent], kind: str, began: str) -> list[SessionEvent]:
    """Return what was asked of a workflow last before a run of it began, and all that was asked since."""
    names = table.BY_KIND[kind].typed if kind in table.BY_KIND else (kind,)
    rows: list[SessionEvent] = []
    for row in events:
        if not row.get("text") or asked_of(row) not in names:
            continue
        if str(row.get("ts")) <= began:
            rows = [row]
        elif not row.get("anew"):
            rows.append(row)
    return rows


def asked_of(row: SessionEvent) -> str:
    """The workflow whose command a person typed; empty for any other row."""
    if row.get("actor") != "user" or row.get("kind") not in (ASKED, TYPED):
        return ""
    return str(row.get("workflow"))


def task(events: Iterable[SessionEvent], works: Works, longest: int) -> str:
    """For a model that was not there: what the user typed for each of these works, quoted, so that it reads as theirs;
    empty where nobody knows."""
    rows = list(events)
    parts = []
    for kind, summary in works:
        texts = of_run(rows, kind, str(summary.get("run") or ""))
        if len(texts) > MOST_TOLD:
            texts = [texts[0], *texts[1 - MOST_TOLD :]]
        quoted = [dumps(clip(text, longest // max(1, len(texts)))) for text in texts]
        if quoted:
            name = "ultrawork" if kind == "ulw" else clip(kind, 20)
            parts.append(f"for {name}: {', later '.join(quoted)}")
    return f"The user's own words, {'; '.join(parts)}." if parts else ""


def text_of(row: SessionEvent) -> str:
    """Their words, and of each file that they named its text as it was then."""
    parts = [str(row.get("text") or "")]
    texts = {named.get("path"): named.get("text") for named in [*files_of(row), *documents_of(row)]}
    for path, text in texts.items():
        parts.append(f"{path}, as it was when they typed this:\n{text}")
    return block("\n\n".join(parts), LONGEST)


def files_of(row: SessionEvent) -> list[NamedFile]:
    return _named(row.get("files"))


def documents_of(row: SessionEvent) -> list[NamedFile]:
    """Return the documents that the user named as what to do, as they were then."""
    return _named(row.get("documents"))


def _named(kept: object) -> list[NamedFile]:
    if not isinstance(kept, list):
        return []
    named: list[NamedFile] = kept
    return [file for file in named if isinstance(file, dict) and isinstance(file.get("path"), str)]


def digest_of_lone_file(row: SessionEvent) -> str:
    """The digest of the file whose name is all that they typed; empty where they typed anything else."""
    named = files_of(row)
    if named and str(row.get("text")).removeprefix("@") == named[0].get("name"):
        return str(named[0].get("digest"))
    return ""


def is_named(rows: Iterable[SessionEvent], digest: str) -> bool:
    """Whether the digest is that of the file which the user named last; one before it is what they wanted before."""
    named = list(filter(None, map(digest_of_lone_file, rows)))
    return bool(named) and named[-1] == digest


def names_data(row: SessionEvent) -> bool:
    """The name of one file is all that they typed. One of another form is a request in words:
    tests/ralph/test_request.py, test_a_file_of_wishes."""
    return bool(digest_of_lone_file(row)) and files_of(row)[0]["path"].endswith(DATA_ENDS)


def wanted_last(rows: Sequence[SessionEvent]) -> tuple[NamedFile, float] | None:
    """The file of data that they named last, and since when they want it as it is; None where they typed words."""
    if not rows or not names_data(rows[-1]):
        return None
    digest = digest_of_lone_file(rows[-1])
    first = next(row for row in rows if digest_of_lone_file(row) == digest)
    return files_of(rows[-1])[0], seconds(str(first.get("ts")))


def not_as_named(name: str) -> str:
    return f"{name} is not as it was when the user named it"


def changed_since_named(rows: Iterable[SessionEvent], path: str, digest: str) -> bool:
    """Whether the user named this file, and it is not as it was when they did so last."""
    known = ""
    for row in rows:
        for named in files_of(row):
            if named.get("path") == path:
                known = str(named.get("digest"))
    return bool(known) and known != digest
