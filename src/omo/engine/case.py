"""A case: the items of a run, how each stands, and all that was seen of them. Made from the rows of the run's ledger.

| row                     | says                                                                       |
|-------------------------|----------------------------------------------------------------------------|
| the flow's `started_row`| which items, who asked for them in which words, on which files; a second   |
|                         | one asks for something else, and what has happened stays                   |
| the flow's `round_row`  | a round is open, on these files; only later rows of the session count      |
| `looked`                | what each check said, beside a round or a judgement                        |
| `skipped`               | a step of the round is left out, and why                                   |
| `answered`              | the working agent answered a question of the workflow                      |
| `brief`                 | the judge was asked: the nonce of the brief, and the files it is about     |
| `judge-inline-fallback` | the judge's answer came from a file, not from a hook                       |
| `judged`                | what was seen of each item, and how each stands after it                   |
| `marked`                | how some items stand, as was seen outside of a judgement; or why           |
| `waits`                 | no round is opened: why, and what the user is asked                        |
| `judge-unknown`         | a judgement that could not tell; the round stays open                      |
| the flow's `early_row`  | a verdict was asked for over steps that did not happen                     |
| `repaired`              | the ledger was damaged, and what it had counted before                     |
| the flow's `ended_row`  | how the run ended, its outcome, and the receipt of a pass                  |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

from omo.digest import sha256
from omo.engine.flow import Flow, ItemMark
from omo.errors import Refused, Unreadable
from omo.json_text import Json
from omo.state.ledger_rows import LedgerRow
from omo.state.runtime import part
from omo.text import clip
from omo.work.bound import REOPENED
from omo.work.run import require_objects
from omo.work.status import units

if TYPE_CHECKING:
    from omo.engine.runs import CaseRun
    from omo.state.rows import Base, FenceLists, LetThrough, Outcome, Tally
    from omo.work.status import NextStep, Status
    from omo.work.viewer import Viewer

LONGEST_FIELD, LONGEST_METHOD = 200, 400


class CheckRow(TypedDict, total=False):
    """A check as it was pinned; what else it has depends on its type."""

    id: str  # unique in its item
    type: str
    question: str
    argv: list[str]
    cwd: str


class ItemResult(TypedDict, total=False):
    """What one judgement says of an item."""

    result: str  # pass, fail or unknown
    evidence: str
    source: str
    cached_from: int | None  # the round that ran its checks, if an earlier one did
    suggested_action: str
    kept: dict[str, int]  # by its key, the round that ran a check whose result a later round may reuse
    notes: list[str]  # what else was seen of it
    overrides: list[str]  # what was let through without its proof


class CheckSeen(TypedDict):
    """What one check said when it was looked at last."""

    id: str
    type: str
    result: str
    reason: str
    observed: str


class Lesson(TypedDict, total=False):
    """An item of an earlier run: what tells whether a new one asks for the same, and what became of it."""

    id: str
    description: str
    checks: list[str]
    from_run: str
    evidence: str
    again: list[str]  # the items of this run that ask for the same


class RunBefore(TypedDict, total=False):
    """The run that this one carries on from."""

    run: str
    how: str
    statuses: dict[str, str]
    dropped: list[Lesson]


class Request(TypedDict):
    text: str
    by: str


class JudgedGate(TypedDict, total=False):
    name: str
    by: str
    failed: str


class CaseRow(LedgerRow, total=False):
    """A row of a run's ledger, of whichever kind."""

    # started
    run: str
    session: str
    root: str
    request: Request | None
    items: Any  # as `Item` has them; of a brief their ids
    confirmed: bool
    source: str
    base: str | None
    files: Base
    programs: dict[str, str]  # what the commands of its checks stood for
    max_iterations: int
    reduced_scope: str
    lessons: list[Lesson]
    after: RunBefore
    before: dict[str, str]
    terms: Any  # what only the workflow keeps of its beginning
    # of a round
    iteration: int
    tree: str
    session_seq: int
    session_digest: str
    fence: FenceLists  # what hooks hold the session to
    against: list[str]  # of the rows that mark items
    step: str
    why: str
    missing: list[str]
    question: str
    said: Any
    result: str
    gaps: tuple[str, ...]
    artifacts: Mapping[str, str]
    unseen: tuple[str, ...]
    contract: str
    call: int
    nonce: str
    digest: str
    again: str  # why the user opened it again
    checks: list[CheckSeen]
    # judged
    results: dict[str, ItemResult]
    marks: dict[str, Any]  # as `Mark` has them
    independence: str
    damaged: list[LetThrough]  # ledgers that it rests on, since the run began
    verdict: str
    decision: str
    gates: list[JudgedGate]
    challenges: Any
    proof: str
    doubts: list[str]
    allowed: list[str]
    words: dict[str, str]  # what the agent said with the judgement
    notes: list[str]
    # ended
    how: str
    counts: Tally  # of a ledger that was damaged, before
    asked: str  # what the user is asked, before the command that goes on
    pauses: bool  # it waits by itself, until it is told to go on
    receipt: Json | None
    outcome: Outcome


NO_ROW: CaseRow = {}
# What a row has to have, by its kind, for everybody who reads it after the fold.
FIELDS = {
    "skipped": ("iteration", "step", "why"),
    "answered": ("iteration", "question", "result", "why", "gaps", "tree"),
    "looked": ("checks",),
    "waits": ("why",),
    "brief": ("iteration", "ts", "nonce", "call", "tree", "files"),
    "judged": ("iteration", "marks", "results"),
    "marked": ("marks",),
}
OF_AN_END = ("how",)
OF_A_ROUND = ("iteration", "ts", "session_seq")
OF_AN_EARLY_VERDICT = ("iteration", "missing")


@dataclass(frozen=True)
class CaseItem:
    """One criterion, goal or step: what has to be true, and the checks that show it.

    A `guard` is true before the work and meant to stay so. Results of heavy checks are kept while no file of
    `affected_paths` changes. The checks `in_words` were written as a sentence. `outcomes` say what is true in the end;
    only judgement tells. `waits_for` names the items that have to pass first; `wants` names those whose output is
    shown, and what is expected of it. Once passed, the item is begun again `every` so many seconds. `form` is the rest
    of what people wrote, for the workflow. `contract` is the digest of all that has to be shown: answers that were
    given for another do not count.
    """

    id: str
    description: str
    checks: list[CheckRow]
    affected_paths: list[str] = field(default_factory=list)
    guard: bool = False
    in_words: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    waits_for: list[str] = field(default_factory=list)
    wants: dict[str, str] = field(default_factory=dict)
    every: float = 0.0
    left_for_user: list[str] = field(default_factory=list)  # outcomes that only the user can show
    judged_with: list[str] = field(default_factory=list)  # options that the verb which judges it cannot do without
    text: str = ""  # what is said about it at length
    form: Json = field(default_factory=dict)
    contract: str = ""

    @property
    def data(self) -> Json:
        return asdict(self)

    @property
    def as_given(self) -> Json:
        """What of it says anything, as a row keeps it."""
        return {name: value for name, value in self.data.items() if value or name == "checks"}

    @cached_property
    def questions(self) -> list[CheckRow]:
        """What only a judge can decide: checks in words, and every outcome."""
        asked = [check for check in self.checks if check["type"] == "judge"]
        for number, outcome in enumerate(self.outcomes, start=1):
            question: CheckRow = {"id": f"outcome {number}", "type": "judge", "question": f"Is this so: {outcome}"}
            asked.append(question)  # no id of a check has a blank
        return asked

    @property
    def needs_judgement(self) -> bool:
        """Whether its checks leave something that no code decides."""
        return len(self.mechanical) < max(len(self.checks), 1)

    @property
    def as_written(self) -> list[Any]:
        """Its checks as people wrote them, sentences among them."""
        return [check["question"] if check["id"] in self.in_words else check for check in self.checks]

    @cached_property
    def mechanical(self) -> list[CheckRow]:
        """The checks that code decides."""
        return [check for check in self.checks if check["type"] != "judge"]

    @cached_property
    def digests(self) -> frozenset[str]:
        return frozenset(map(digest_of, self.checks))


def digest_of(check: CheckRow) -> str:
    """Return the digest by which a check is pinned: the same for the same meaning, whatever its id."""
    meaning = {name: value for name, value in check.items() if name != "id"}
    return sha256(json.dumps(meaning, sort_keys=True).encode("ascii"))


def method(check: CheckRow) -> str:
    """Say in one line how a check is decided, without the fields that say nothing."""
    fields = []
    for name, value in check.items():
        says_nothing = value is None or value is False or value in ("", ".", [])
        if name not in ("id", "type", "guard", "timeout") and not says_nothing:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            fields.append(f"{name} {clip(text, LONGEST_FIELD)}")
    return clip(f"{check['type']} {', '.join(fields)}", LONGEST_METHOD)


@dataclass
class Case:
    """A run as its ledger tells it. `opened` is the row of the open round, or of the last one.

    `judged` has every judgement and `briefs` every brief, whatever the round: what a judge found of the same files
    stands. `early` counts over the whole run, so that a new round gives none back. `ends` are the ends that stand, of a
    run that is begun again after one. `against` is what keeps the run from its end beside its items.
    """

    flow: Flow
    run: str = ""
    session: str = ""
    root: str = ""
    items: list[CaseItem] = field(default_factory=list)
    marks: dict[str, ItemMark] = field(default_factory=dict)
    started: CaseRow = field(default_factory=NO_ROW.copy)
    opened: CaseRow = field(default_factory=NO_ROW.copy)
    judged: list[CaseRow] = field(default_factory=list)
    briefs: list[CaseRow] = field(default_factory=list)
    early: int = 0
    ended: CaseRow | None = None
    ends: list[CaseRow] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    rows: list[CaseRow] = field(default_factory=list)
    opened_at: int = 0  # the place of `opened` among the rows
    is_in_round: bool = False
    waiting: CaseRow | None = None  # until a round is opened
    is_changed: bool = False  # what it asks for, while it was under way
    looked: CaseRow = field(default_factory=NO_ROW.copy)  # the last look at the checks of this round
    seen: dict[str, ItemResult] = field(default_factory=dict)  # what was seen of its items now, outside of a judgement
    unseen: str = ""  # why nobody can say how they stand now
    ready_at: str = ""  # what shows the work is no older
    tree_of_end: str = ""  # the files on which the end was last seen to hold

    # How it stands

    @property
    def is_open(self) -> bool:
        return self.ended is None and (bool(self.opened) or not self.flow.has_rounds)

    @property
    def waits(self) -> CaseRow | None:
        """Why nothing goes on for now, if that is so: `why`, and what the user is asked."""
        return self.waiting

    @property
    def item(self) -> CaseItem:
        """The only item of a run that was filed for it."""
        return self.items[0]

    @property
    def name(self) -> str:
        """What it is called: by its only item if it was filed, else by its run."""
        return f"{self.flow.unit} {self.item.id}" if self.flow.is_filed else f"{self.flow.name} run {self.run}"

    @property
    def mark(self) -> ItemMark:
        return self.marks[self.item.id]

    @property
    def contract(self) -> str:
        return self.items[0].contract if self.items else ""

    @property
    def answers(self) -> dict[str, CaseRow]:
        """The answers of the working agent in this round, by question, whatever has changed since."""
        return {row["question"]: row for row in self.rows_of_round("answered")}

    @property
    def words(self) -> dict[str, str]:
        """What the agent said with the newest judgement or end of what is asked now."""
        for row in reversed(self.rows):
            if "words" in row:
                said: dict[str, str] = row["words"]
                return said
            if row["kind"] == self.flow.started_row:
                break
        return {}

    @property
    def is_begun(self) -> bool:
        return bool(self.opened)

    @property
    def how(self) -> str:
        """How it ended; empty while it is open."""
        return str(self.ended["how"]) if self.ended is not None else ""

    @property
    def ending(self) -> CaseRow:
        """The row of its end; an empty one while it is open."""
        return self.ended or NO_ROW

    @property
    def started_at(self) -> str:
        return str(self.started.get("ts") or "")

    @property
    def started_by(self) -> str:
        return str(self.started.get("actor") or "agent")

    def last_row(self, kind: str) -> CaseRow:
        """Return the newest row of a kind; an empty one if there is none."""
        return next((row for row in reversed(self.rows) if row["kind"] == kind), NO_ROW)

    @property
    def waits_for_user(self) -> bool:
        """Whether it ended in a way that the user has to hear of before the agent begins again."""
        if self.ended is None or self.how == "pass":
            return False
        return self.how != "abandoned" or self.ended.get("actor") != "user"

    @property
    def fence(self) -> FenceLists:
        """What hooks hold the session to while the run is open; nothing if its round has none."""
        fence = self.opened.get("fence")
        return {**fence, "root": self.root} if fence else {}

    @property
    def headline(self) -> str:
        phase = f"ended ({self.how}), " if self.ended is not None else ""
        judged = f"verdict {self.verdict}" if self.judged else "not judged yet"
        return f"{phase}{self.round_of}, {judged}"

    @property
    def round(self) -> int:
        return int(self.opened.get("iteration", 0))

    @property
    def most_rounds(self) -> int:
        return int(self.started.get("max_iterations", 0))

    @property
    def round_of(self) -> str:
        return f"iteration {self.round} of {self.most_rounds}"

    # Rows that only the workflow knows, and what they do to the items

    def read_row(self, row: Any) -> None:
        """Read what only the workflow knows of a row. This is called after what the engine makes of it."""

    def now(self, run: CaseRun) -> Case:
        """Return the case as it stands now, where that is seen without a judgement."""
        return self

    @property
    def exceptions(self) -> list[LetThrough]:
        """What was let through beside what the engine knows of: what, by whom, and why."""
        return []

    def receipt_of(self, name: str) -> Json:
        """Return what shows that an item has passed."""
        return part(self.ending, "receipt")

    def text_of(self, item: CaseItem) -> str:
        """Return what one has to know to work on an item, beside its checks."""
        return ""

    def shown(self, status: Status, viewer: Viewer) -> Status:
        """Return what views show of it, with what only the workflow knows."""
        return status

    def next_step(self, run: CaseRun) -> NextStep | None:
        """Return what comes next, where only the workflow knows."""
        return None

    def add(self, items: Sequence[CaseItem], after: str = "") -> None:
        """Put new items into the run, at its end or behind another one. It goes on with them."""
        place = self._place(after) + 1 if after else len(self.items)
        self.items[place:place] = items
        self.marks |= {item.id: ItemMark(self.flow.begins_as) for item in items}
        self.ended = None

    def require(self, name: str, what: str) -> None:
        """Refuse what cannot be done to an item with its status."""
        status = self.flow.status(self.marks[name].status)
        if what not in status.may:
            refused = f"{self.flow.unit} {name} is {status.name}: {what} is not possible from there"
            raise Refused(refused, fix=status.way.format(id=name))

    def move(self, name: str, result: str) -> None:
        """Move one item by what was seen of it alone. A run that has ended goes on with it."""
        self.marks[name] = self.flow.turn(self.marks[name], result, self.round)
        self.flow.status(self.marks[name].status)
        self.ended = None

    def reword(self, name: str, **words: Any) -> None:
        """Change what an item says. A run that has ended goes on with it."""
        place = self._place(name)
        self.items[place] = replace(self.items[place], **words)
        self.ended = None

    def reorder(self, names: Sequence[str]) -> None:
        """Deal the places of these items out anew, in this order."""
        wanted = [self.items[self._place(name)] for name in names]
        for place, item in enumerate(self.items):
            if item.id in names:
                self.items[place] = wanted.pop(0)

    def _place(self, name: str) -> int:
        return [item.id for item in self.items].index(name)

    # The open round, or the last one

    def rows_of_round(self, kind: str) -> list[CaseRow]:
        return [row for row in self.rows[self.opened_at :] if row["kind"] == kind]

    def reason_to_skip(self, step: str) -> str | None:
        """Return why the agent skips a step of this round, if it does."""
        reasons = [row["why"] for row in self.rows_of_round("skipped") if row["step"] == step]
        return reasons[-1] if reasons else None

    @property
    def briefs_of_round(self) -> list[CaseRow]:
        return self.rows_of_round("brief")

    def brief_about(self, tree: str) -> CaseRow | None:
        """Return the newest brief of this round about exactly these files."""
        return next((brief for brief in reversed(self.briefs_of_round) if brief["tree"] == tree), None)

    @property
    def is_asked(self) -> bool:
        """Whether the judge was asked and nothing has come of it yet."""
        return self.rows[-1]["kind"] == "brief"

    # The newest judgement

    @property
    def last_judged(self) -> CaseRow:
        return self.judged[-1] if self.judged else NO_ROW

    def last_result(self, item: str) -> ItemResult:
        if item in self.seen:
            return self.seen[item]
        return self.last_judged.get("results", {}).get(item, {})

    @property
    def verdict(self) -> str:
        """The newest verdict. What could not be told is no pass, and neither is what nobody has judged."""
        verdict = self.last_judged.get("verdict")
        return str(verdict) if verdict in ("pass", "partial") else "fail"

    @property
    def decision(self) -> str:
        """What the newest judgement decided. A run that was stopped before it was settled is a safeguard's."""
        if self.how not in ("", "pass", "partial"):
            return "safeguard"
        return str(self.last_judged.get("decision") or "replan")

    @property
    def independence(self) -> str:
        return str(self.last_judged.get("independence") or "reduced") if self.judged else "full"

    @property
    def inline_rounds(self) -> list[int]:
        """The rounds that were judged without the judge's own message."""
        return [int(row["iteration"]) for row in self.judged if row.get("independence") != "full"]

    # Its items

    @property
    def passing(self) -> list[str]:
        return [item.id for item in self.items if self.flow.has_passed(self.marks[item.id])]

    @property
    def stuck(self) -> list[str]:
        return [item.id for item in self.items if self.flow.is_stuck(self.marks[item.id])]

    @property
    def passed(self) -> list[str]:
        """Items that passed at some time."""
        return [item.id for item in self.items if self.marks[item.id].last_pass_iteration is not None]

    @property
    def cut(self) -> list[str]:
        return [item.id for item in self.items if self.flow.is_cut(self.marks[item.id])]

    @property
    def unproven(self) -> list[str]:
        """Items that passed once, and of which the newest judgement could not tell."""
        if not self.judged:
            return []
        return [name for name in self.passing if self.last_result(name).get("result") != "pass"]

    @property
    def remaining(self) -> list[str]:
        """The items that keep the run from its end, in their order."""
        settled = {*self.stuck, *self.cut, *self.passing} - {*self.unproven}
        return [item.id for item in self.items if item.id not in settled]

    @property
    def questions(self) -> list[tuple[str, str]]:
        """Return the item and the check of each question that code cannot decide."""
        asked = []
        for item in self.items:
            for check in item.questions:
                asked.append((item.id, check["id"]))
        return asked

    @property
    def counts(self) -> Tally:
        """Return what counts against the run, for the mark of its ledger: no damage makes it less."""
        opened = {name: value for name, value in self.opened.items() if name != "files"}
        counts: Tally = {"opened": opened, "early": self.early}
        counts["marks"] = {name: asdict(mark) for name, mark in self.marks.items()}
        if self.ended is not None and self.how != "pass":
            counts["ended"] = self.ended
        return counts

    # What the user said

    @property
    def request(self) -> str:
        """What the user asked for; empty if omo does not know."""
        request = self.started.get("request")
        return request["text"] if request else ""

    @property
    def is_request_typed(self) -> bool:
        request = self.started.get("request")
        return request is not None and request["by"] == "user"

    @property
    def whose_request(self) -> str:
        return "as they typed it" if self.is_request_typed else "as the agent handed it on"

    @property
    def is_confirmed(self) -> bool:
        """Whether the user began the run, or named this very file when they asked."""
        return self.started.get("confirmed") is True

    @property
    def source(self) -> str:
        return str(self.started.get("source") or "")

    @property
    def base(self) -> str | None:
        return self.started.get("base")

    @property
    def whose_items(self) -> str:
        units = self.flow.units
        if self.is_confirmed:
            return f"the user confirmed the {units}"
        if not self.source and [item.id for item in self.items] == [self.flow.request_id]:
            unit = self.flow.unit
            return f"no check of the project as a whole was found, and what the user asked for is the only {unit}"
        if not self.source:
            return f"the {units} are the project's own checks, as its files named them at the start"
        return f"the {units} are the agent's own, the user did not confirm them"

    @property
    def filed_by(self) -> str:
        return "user" if self.is_confirmed else self.started_by

    @property
    def left_for_user(self) -> list[str]:
        """What only the user can show, once all else is done."""
        return [] if self.how == "pass" else self.item.left_for_user

    @property
    def reduced_scope(self) -> str:
        return str(self.started.get("reduced_scope") or "")

    # The runs before it

    @property
    def lessons(self) -> list[Lesson]:
        return self.started.get("lessons") or []

    def lesson_for(self, item: str) -> Lesson | None:
        """Return what an earlier run could not do of an item."""
        return next((lesson for lesson in self.lessons if item in lesson["again"]), None)

    @property
    def after(self) -> RunBefore:
        """The run of this session that this one carries on from, if that one did not pass."""
        return self.started.get("after") or {}

    @property
    def after_text(self) -> str:
        """Say what this run carries on: `after r…: circumvented; 1 criterion was dropped (C2)`."""
        text = f"after {clip(str(self.after.get('run')), 60)}: {clip(str(self.after.get('how')), 20)}"
        dropped = self.after.get("dropped") or []
        if dropped:
            ids = clip(", ".join(str(entry["id"]) for entry in dropped), 60)
            verb = "was" if len(dropped) == 1 else "were"
            text += f"; {units(len(dropped), self.flow.unit)} {verb} dropped ({ids})"
        return text


def fold(flow: Flow, rows: list[CaseRow], run: str) -> Case | None:
    """Make the case from its rows; None if nothing began. Rows of a kind it does not know change nothing.

    Raises Unreadable for rows that omo did not write.
    """
    case = (flow.case or Case)(flow, run, rows=rows)
    try:
        fields = {**FIELDS, flow.round_row: OF_A_ROUND, flow.early_row: OF_AN_EARLY_VERDICT, flow.ended_row: OF_AN_END}
        for place, row in enumerate(rows):
            require_fields(row, fields.get(row["kind"], ()))
            if row["kind"] == flow.started_row:
                _start(case, row, place)
            elif case.started:
                _apply(case, row, place)
            if case.started:
                case.read_row(row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"the ledger of {flow.name} run {run} has a row nobody can read: {error}"
        raise Unreadable(what, fix=flow.start) from None
    # Its first round is opened with it, unless something is missing for that, or it is filed.
    can_wait = flow.is_filed or not flow.has_rounds
    return case if case.started and (case.opened or case.waiting or can_wait) else None


def require_fields(row: Mapping[str, Any], names: Iterable[str]) -> None:
    missing = [name for name in names if name not in row]
    if missing:
        raise KeyError(f"{row['kind']} without {', '.join(missing)}")


def _start(case: Case, row: CaseRow, place: int) -> None:
    """Read what is asked for. Filed again, a run goes on in its round; one that is over is as if it were new."""
    require_objects(row.get("after"), row.get("request"), row.get("terms"))
    int(row.get("max_iterations", 0))
    if row.get("run", case.run) != case.run:
        raise ValueError(f"it is the ledger of {clip(str(row.get('run')), 60)}")
    items = [CaseItem(**given) for given in row["items"]]
    is_over = case.how not in ("", "safeguard")
    if is_over or not case.started:
        case.ready_at = str(row.get("ts"))
    if is_over:
        case.opened, case.opened_at, case.looked, case.is_changed = NO_ROW, place, NO_ROW, False
    elif case.opened and items != case.items:
        case.is_changed = True
    case.started, case.items, case.ended, case.waiting = row, items, None, None
    case.session, case.root = str(row["session"]), str(row["root"])
    case.marks = {item.id: ItemMark(case.flow.begins_as) for item in items}


def _apply(case: Case, row: CaseRow, place: int) -> None:
    kind = row["kind"]
    if kind == case.flow.round_row:
        int(row["iteration"])
        case.opened, case.opened_at, case.is_in_round = row, place, True
        case.ended, case.waiting, case.looked = None, None, NO_ROW
        case.session = str(row.get("session") or case.session)  # whoever opens a round has the run
        if row.get("again"):
            case.ready_at = str(row.get("ts"))
            case.ends = [end for end in case.ends if any(item.every for item in case.items)]
            case.marks = {item.id: ItemMark(case.flow.begins_as) for item in case.items}
    elif kind == case.flow.early_row:
        case.early += 1
    elif kind == "brief":
        case.briefs.append(row)
    elif kind == "looked":
        case.looked = row
        has_passed = all(check["result"] == "pass" for check in row["checks"])
        if case.ended is not None and has_passed:
            case.tree_of_end = row.get("tree", "")  # looked at again when a later item was finished
    elif kind == "waits":
        case.waiting, case.is_in_round = row, False
    elif kind == "judged":
        require_objects(*row["results"].values())
        case.marks = marks_of(case.flow, row, case.items)
        for item in case.items:
            require_fields({"kind": f"result of {item.id}", **row["results"][item.id]}, ("result", "source"))
        case.judged.append(row)
        case.is_in_round = False
    elif kind == "marked":
        require_objects(row["marks"])
        case.marks |= marks_of(case.flow, row, [item for item in case.items if item.id in row["marks"]])
        case.against = row.get("against", case.against)
    elif kind == case.flow.ended_row:
        case.ended, case.waiting, case.is_in_round = row, None, False
        case.ends.append(row)
        case.tree_of_end = row.get("tree", "")
        if row["how"] == "pass" and any(item.every for item in case.items):
            case.ready_at = str(row.get("ts"))
    elif kind == REOPENED and case.ended is not None:  # in the round in which it ended
        case.ended, case.is_in_round = None, True
        case.ends = case.ends[:-1]
    elif kind == "repaired":
        _count_again(case, row, place)
    elif kind == "adopted":
        case.session = str(row["session"])
    elif kind == "moved":
        case.root = str(row["root"])


def _count_again(case: Case, row: CaseRow, place: int) -> None:
    """Count no less than before rows were lost. What was stuck stays so, and so does an end that was no pass.

    If the row that opened the round was lost, only what is seen from now on counts for it.
    """
    counts: Tally = row.get("counts") or {}
    opened: CaseRow = counts.get("opened") or NO_ROW
    if opened.get("iteration", 0) > case.round:
        case.opened = {**opened, "ts": row["ts"]}
        case.opened_at, case.is_in_round, case.looked = place, True, NO_ROW
    case.early = max(case.early, counts.get("early", 0))
    for item, known in counts.get("marks", {}).items():
        if item not in case.marks:  # added in a row that was lost
            continue
        mark, before = case.marks[item], ItemMark(**known)
        status = before.status if case.flow.is_stuck(before) else mark.status
        failures, regressions = max(mark.fail_count, before.fail_count), max(mark.regressions, before.regressions)
        case.marks[item] = replace(mark, status=status, fail_count=failures, regressions=regressions)
    if counts.get("ended") and case.ended is None:
        case.ended, case.is_in_round = counts["ended"], False


def marks_of(flow: Flow, judged: Mapping[str, Any], items: list[CaseItem]) -> dict[str, ItemMark]:
    """Read how each item stands after a judgement. A status that the flow does not have is an error."""
    marks = {item.id: ItemMark(**judged["marks"][item.id]) for item in items}
    for mark in marks.values():
        flow.status(mark.status)
    return marks
