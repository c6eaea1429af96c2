"""The same project with what a hostile agent would write in every field of every ledger, file and name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from omo.state import ledger, paths, runtime
from tests.project import plan_directory
from tests.report import sample
from tests.report.sample import Sample

Row = dict[str, Any]

TRAP = "window.trapped=1;document.title='trapped'"
NASTY = (
    f"\"'><img src=x onerror={TRAP}><script>{TRAP}</script></style></title></textarea></pre>]]>--><svg onload={TRAP}>"
    f"<iframe src=javascript:{TRAP}></iframe><form action=//evil.example><a href='javascript:{TRAP}'>x</a>"
    "<link rel=stylesheet href=//evil.example/x.css><base href=//evil.example><meta http-equiv=refresh content=0>"
    "{{7*7}}{% raw %}${7*7}\x1b[31m\x1b]0;trapped\x07\u202eevil\u2066\x00\ud800\r\n```\n# x\n| a | b |\n"
    "![x](//evil.example/x.png) [x](javascript:alert(1)) @someone fixes #12 GH-12 https://evil.example/issues/1 :tada:"
)
LONG = "A" * 100_000
SESSION = f"s-{NASTY}"
# What has to keep its shape so that the rows are read as what they are, instead of being refused.
KEPT = frozenset(
    (
        *("kind", "ts", "actor", "seq", "prev", "digest", "status", "goalMode", "receiptKind", "verdict", "result"),
        *("session", "run", "root", "tree", "base", "plan", "source", "checks", "type", "to", "by", "nonce"),
        *("how", "decision", "agentType", "mutation", "classification", "kept", "every", "recurring", "contract"),
        *("qualityGateJson", "artifacts", "verification", "participants", "question", "goal", "spec"),
    )
)
# Objects whose keys are names that somebody chose.
NAMED = frozenset(("results", "states", "covers"))
LONG_FIELDS = frozenset(("evidence", "reason", "message", "description"))


def poisoned(value: Any, key: str = "") -> Any:
    """Every text with the payload behind it: names that belong together still do."""
    if isinstance(value, dict):
        return {
            (name + NASTY if key in NAMED else name): one if name in KEPT else poisoned(one, name)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [poisoned(one, key) for one in value]
    if isinstance(value, str):
        return value + NASTY + (LONG if key in LONG_FIELDS else "")
    return value


def project(directory: Path) -> Sample:
    made = sample.everything(directory, SESSION)
    state = Path(made.state)
    _poison_gates(made)
    for path in sorted(state.rglob("ledger.jsonl")):
        rewrite(path, poisoned, _unknown())
    for path in state.rglob("goals.json"):
        path.unlink()
    _poison_session(made)
    return made


def rewrite(path: Path, change: Callable[[Row], Row], *more: Row) -> None:
    """A ledger with other rows, whose chain and end are in order."""
    rows = [change(row) for row in ledger.rows(str(path))] + list(more)
    path.with_name("mark.json").write_text(json.dumps(_write(path, rows)), encoding="utf-8")


def _unknown() -> Row:
    return {"kind": NASTY, "ts": NASTY, "actor": NASTY, NASTY: {NASTY: [NASTY]}}


def _write(path: Path, rows: list[Row]) -> Row:
    """A ledger whose chain is whole: nothing of it is refused as damaged."""
    before, lines = ledger.START, []
    for seq, row in enumerate(rows, 1):
        line = json.dumps({**row, "seq": seq, "prev": before})
        before = ledger.digest_of(line.encode())
        lines.append(line + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return {"seq": len(rows), "digest": before}


def _poison_session(made: Sample) -> None:
    path = Path(paths.events_file(made.state, made.session))
    mark = _write(path, [*(poisoned(row) for row in ledger.rows(str(path))), _unknown()])
    whole = runtime.read(made.state)
    row = whole["sessions"][made.session]
    work = {kind: _told(one) for kind, one in row["work"].items()}
    whole["sessions"][made.session] = {**row, "work": work, "ledger": mark}
    Path(paths.runtime_file(made.state)).write_text(runtime.render(whole), encoding="utf-8", errors="backslashreplace")


def _told(summary: Row) -> Row:
    return {
        key: value + NASTY if isinstance(value, str) and key not in ("state", "run") else value
        for key, value in summary.items()
    }


def _poison_gates(made: Sample) -> None:
    """The gates of the goals that are closed."""
    directory = plan_directory(made.state, made.session)
    rows = ledger.rows(str(directory / "ledger.jsonl"))
    for row in rows:
        receipt = row.get("completionVerification")
        if isinstance(receipt, dict):
            gate, files = row["qualityGateJson"], receipt["artifacts"]
            gate["executorQa"]["artifactRefs"] = [_cite(made, one, files) for one in gate["executorQa"]["artifactRefs"]]
            row["qualityGateJson"] = poisoned_gate(gate)
    _write(directory / "ledger.jsonl", rows)


def poisoned_gate(gate: Row) -> Row:
    """With paths and kinds as they are: what they name is to be opened."""
    return {
        section: {
            key: [{**poisoned(row), **{name: row[name] for name in ("path", "kind") if name in row}} for row in value]
            if key == "artifactRefs"
            else poisoned(value, key)
            for key, value in told.items()
        }
        for section, told in gate.items()
    }


def _cite(made: Sample, one: Row, files: Row) -> Row:
    """A file whose name and content are hostile too, and recorded as they are."""
    path = one.get("path", "")
    if not path.endswith(".txt"):
        return one
    named = f'{path}"><img src=x onerror={TRAP}>{{{{7*7}}}}.txt'
    content = (NASTY.encode("utf-8", "replace") + b"\x1b[2J" + LONG.encode()) * 2
    target = made.root / named
    target.write_bytes(content)
    files[named] = hashlib.sha256(content).hexdigest()
    return {**one, "path": named}
