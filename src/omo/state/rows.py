"""The rows we keep, by type. Nothing of the types exists when a hook runs.

A session's row comes from a file that anybody can edit. It is read once, by `read_row`; from there on its parts are
what their types say, but for numbers and texts, which whoever counts with them looks at. Unknown keys are kept.
"""

from __future__ import annotations

from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, Required, TypedDict, TypeVar

    from omo.hosts import OtherLoop

    State = Literal["active", "waiting", "paused", "ended"]
    WaitsFor = Literal["user", "host", "outside"]

    Part = TypeVar("Part", bound=Mapping[str, object])

    class Message(TypedDict, total=False):
        """What a person wrote since the run was armed or resumed."""

        at: str
        text: str
        quoted: bool  # the agent was sent back with it
        told: bool  # the user was told that the agent only answered

    class RefusedByHost(TypedDict, total=False):
        """What the host did not allow, and when the agent was told to do without."""

        at: str
        calls: list[str]
        rules: list[str]  # permissions that would allow them; none where the user's own deny them

    class Limits(TypedDict, total=False):
        """How long a session is held: blocks without progress, seconds between two, blocks and hours in all. Of those
        in force none is missing."""

        max_stop_blocks: int
        cooldown_seconds: float
        max_total_blocks: int
        max_hours: float

    class Ulw(TypedDict, total=False):
        """What holds a Stop, and the counters of its breakers."""

        enabled: bool
        by: str  # user, or the kind of work that armed it
        limits: Limits
        armedAt: str
        armedFor: str  # the prompt that armed it, by its fingerprint
        stopBlocks: int
        totalBlocks: int
        lastStopAt: str | None
        lastStop: str
        openSaid: str  # what the last block said is open
        shellExcuses: int
        unanswered: bool  # the last Stop was blocked
        said: Message
        refused: RefusedByHost
        otherLoop: OtherLoop  # what held the session at its last Stop, in place of omo
        shownOn: list[str]  # the kinds of work that the user was shown to be on
        readTo: int  # where in the transcript the last Stop had read to
        heardTo: str  # the moment of what was last typed without a hook being told, which a Stop has heard
        toldOfRuns: bool  # that omo ulw done swaps files for its runs

    class StopContinuation(TypedDict, total=False):
        """The user's cancel, and who still has to hear of it."""

        disabled: bool
        disabledReason: str | None
        disabledAt: str
        cancelledFor: str
        told: bool  # the model knows
        shown: bool  # the user saw it
        ended: list[str]  # the kinds of work that were open
        run: str  # of plain ultrawork, which a bare word takes up again

    class Base(TypedDict, total=False):
        """How the files were when a run began: the commit, and digests of what differed from it."""

        head: str | None
        files: dict[str, str]
        moment: float  # before which these files were written, by the clock of files
        unknown: str  # why nobody can tell
        programs: str  # under which name is kept what was installed in the project
        home: str  # which home directory commands ran with
        exclude: str | None  # the rules of git that only this clone has
        view: str | None  # what git looks at in this clone
        rules: dict[str, str]  # by path, the `.gitignore` files that were not as in the commit
        by: str  # who armed the run
        directory: str  # where in the project, as a path below its root

    class FilesAtEnd(Base, total=False):
        """Which files an end speaks of: in what they differed from the commit then."""

        tree: str
        count: int
        left_out: list[str]
        changed: dict[str, str]  # left out where they are too many

    class LetThrough(TypedDict):
        """Something that was let through without its proof."""

        what: str
        by: str
        why: str

    class TaskItem(TypedDict, total=False):
        """A part of a task that is a list, with the tests that failed without the work and share a word with it."""

        text: str
        tests: list[str]
        more: int  # such tests
        unloaded: str  # a file of tests that nothing could be read from without the work

    class _Outcome(TypedDict):
        verdict: str
        why: str
        exceptions: list[LetThrough]

    class Outcome(_Outcome, total=False):
        """How work ended; what the verdicts mean is in omo.work.outcome."""

        items: list[TaskItem]

    class FenceLists(TypedDict, total=False):
        """The fence of a plan session: globs of what it may touch and never touches."""

        touch: list[str]
        never: list[str]
        root: str
        spec: str  # the plan that says so
        uncommitted: list[str] | None  # what is not the session's to remove or restore

    class Summary(TypedDict, total=False):
        """One kind of work, as hooks need it."""

        run: str
        state: State
        waitsFor: WaitsFor  # if it waits
        open: int
        total: int
        next: str | None
        notRun: list[str]  # of the open gates
        refused: str  # why `omo ulw done` did not end it when it was called last
        waysOn: str  # that it named
        wayOut: str  # how the agent says that it cannot go on, where that is not the workflow's usual way
        why: str
        question: str
        told: bool  # the user was shown that it ended or waits
        # Any word of the user's wakes what waits, "continue" what is paused too. Not so where it is:
        own: bool  # put so by the workflow itself: a "continue", or a command of the agent's once they have `answered`
        answered: bool  # the user has written since they were told
        madeWayFor: str  # the kind of work that it is paused for; it goes on when the user names it
        at: str  # when the files were looked at
        files: FilesAtEnd  # which files an end speaks of, until the user was told of it
        stopped: bool  # nobody goes on with it: the user said stop since, or its ledger was put away
        changed: list[str]  # those that changed after it was called done, so that it is active again
        outcome: Outcome
        earlier: Outcome  # the same of runs before it, whose end the user was not shown
        endedBy: str  # the limit that let it go, or the user's cancel; without it, it is over
        takenBy: str  # the session that took it up
        isLost: bool  # its ledger was damaged, and it could not go on
        unvouched: str  # what it was called here, and not by the ledger
        deny: dict[str, str]  # what the tool gates refuse, with the sentence
        attended: bool
        fence: FenceLists
        iteration: int  # of ralph's rounds
        max_iterations: int
        passed: list[str]  # criteria that were met at some time
        runs: list[str]  # of the project, that the session is held to
        ended: dict[str, Outcome]  # how those ended that are over

    class GivenUp(LetThrough):
        """Work that the agent gave up in this conversation, as the exception that a later end has to name."""

        run: str

    class Budget(TypedDict, total=False):
        """What the run may spend at most."""

        by: str  # user: they typed it in this conversation; else it is of their settings
        tokens: int
        minutes: float
        agents: int

    class Spent(TypedDict, total=False):
        """What the run has spent, and where that is written down."""

        since: str  # the entries that count begin here
        tokens: int
        unknown: str  # why nobody knows how many
        seconds: float
        runningSince: str | None  # a turn is running
        agents: int
        asked: int  # calls that may start one, in this turn
        told: int  # the highest mark, in per cent, that the user was told of
        host: str
        transcript: str
        startsAt: int | None  # in bytes of the transcript
        records: list[str]  # of agents
        takenAt: str  # by the conversation that has the run now
        before: int  # tokens in the conversations that had the run before
        lost: bool  # and nobody knows how many

    class UserNotice(TypedDict):
        id: str
        text: str

    class Tally(TypedDict, total=False):
        """What counts against a run, beside its ledger: no damage makes it less."""

        opened: Any  # the row that opened the round
        early: int
        marks: dict[str, Any]  # by item, as `ItemMark` has them
        ended: Any  # the row of an end that was no pass

    class Mark(TypedDict, total=False):
        """The end of a ledger, as it is kept apart from it: in a session's row, or in `mark.json`."""

        seq: int
        digest: str
        known: dict[str, list[object]]  # by number, the digests of rows
        damaged: list[str]  # when the ledger was found to be damaged
        counts: Tally

    class SessionRow(TypedDict, total=False):
        """`sessions.ID` of the runtime file."""

        ulw: Required[Ulw]
        stopContinuation: Required[StopContinuation]
        work: Required[dict[str, Summary]]
        givenUp: list[GivenUp]
        notices: list[UserNotice]  # that the next Stop shows the user
        budget: Budget
        spent: Spent
        denials: dict[str, int]  # refused tool calls, by digest
        pins: bool  # the user pinned something in it, or took it away: it holds in the whole project
        client: str  # the host's program: whether it still runs is told by it
        instructed: bool  # the instructions of ultrawork are in the conversation
        asked: str  # the workflow that the user typed, until something of it is begun or they were told that nothing is
        reminded: str  # the Stop at which the agent was sent back for that
        awaits: str | None  # the type of an agent whose word is waited for
        briefs: dict[str, list[str]]  # by type of agent, digests of what it may be asked
        lastUsedAt: str
        ledger: Mark
        invalid: bool  # something of it was no object; never written

    class Runtime(TypedDict):
        """`runtime.local.json`, whose first line is made from its sessions."""

        version: int
        sessions: dict[str, Any]  # as they are stored: each is read by `read_row`


EMPTY: SessionRow = {"ulw": {}, "stopContinuation": {}, "work": {}}
PARTS = ("ulw", "stopContinuation", "work")  # which every row has
GIVEN_UP = ("run", "what", "by", "why")
OTHER_PARTS = ("budget", "spent", "denials", "briefs", "ledger")


def _is_refused(part: Any) -> bool:
    return isinstance(part, dict) and all(isinstance(part.get(key), list) for key in ("calls", "rules"))


def read_row(stored: Mapping[str, Any]) -> SessionRow:
    """What is missing or no object is empty; of the latter the row says that it is invalid."""
    row: Any = {**EMPTY, **stored}
    row.pop("invalid", None)
    is_whole = True
    for part in PARTS:
        if not isinstance(row[part], dict):
            is_whole = False
            row[part] = {}
    for kind, summary in list(row["work"].items()):
        if not isinstance(summary, dict):
            is_whole = False
            row["work"] = without(row["work"], kind)
    if row["ulw"].get("enabled") and not row["work"]:  # the shape that the source has, without summaries
        row["work"] = {"ulw": {"state": "active"}}
    for part in OTHER_PARTS:
        if part in row and not isinstance(row[part], dict):
            del row[part]
    for part in ("said", "otherLoop", "limits", "refused"):
        stored_part = row["ulw"].get(part, {})
        is_odd = part == "refused" and part in row["ulw"] and not _is_refused(stored_part)
        if is_odd or not isinstance(stored_part, dict):
            row["ulw"] = without(row["ulw"], part)
    if "notices" in row:
        listed = row["notices"] if isinstance(row["notices"], list) else []
        notices = [notice for notice in listed if isinstance(notice, dict)]
        row["notices"] = [{key: str(notice.get(key) or "?") for key in ("id", "text")} for notice in notices]
    if "givenUp" in row:
        listed = row["givenUp"] if isinstance(row["givenUp"], list) else []
        entries = [entry for entry in listed if isinstance(entry, dict)]
        row["givenUp"] = [{key: str(entry.get(key) or "?") for key in GIVEN_UP} for entry in entries]
    if not is_whole:
        row["invalid"] = True
    typed: SessionRow = row
    return typed


def notified(row: SessionRow, name: str, text: str) -> SessionRow:
    """Have the next Stop show the user a text, once for each `name`."""
    others = [notice for notice in row.get("notices", []) if notice["id"] != name]
    return {**row, "notices": [*others, {"id": name, "text": text}]}


def went_on(what: str, row: object) -> str:
    """Say that a damaged ledger went on."""
    return f"the ledger of {what} was damaged: omo went on after row {row}, and the end will not be called done"


def without(part: Part, *names: str) -> Part:
    """A row, or a part of one, without fields of these names."""
    left: Any = {name: value for name, value in part.items() if name not in names}
    typed: Part = left
    return typed


def read_base(value: object) -> Base:
    """As a ledger has it; empty where it is missing or something else."""
    stored: Any = value if isinstance(value, dict) else {}
    base: Base = stored
    return base


def read_files(value: object) -> FilesAtEnd:
    """The same for the files of an end."""
    stored: Any = value if isinstance(value, dict) else {}
    files: FilesAtEnd = stored
    return files


def claimed(summary: Mapping[str, Any]) -> str:
    """What a summary says of work, and the ledger does not."""
    what = summary.get("unvouched")
    return clip(what, 20) if isinstance(what, str) else "done"  # True: marked by an earlier version
