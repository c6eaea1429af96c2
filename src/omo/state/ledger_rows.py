"""The rows of ledgers, by type. No hook loads this. Each workflow has the type of its own rows beside its fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from omo.state.rows import Base, Outcome, SessionRow, Tally


class LedgerRow(TypedDict, total=False):
    """What every row of a ledger has. What its kind adds is said by the type of each ledger's rows."""

    seq: int
    ts: str
    kind: str
    actor: str  # user, agent or hook
    prev: str  # the digest of the row before it


class Repaired(LedgerRow, total=False):
    """A damaged ledger was kept aside, and goes on after a row."""

    kept: str  # under which name, if there was anything to keep
    row: int  # the last that was whole, and stays
    counts: Tally  # what the ledger counted before
    times: int  # how often it was damaged by now


class Reopened(LedgerRow, total=False):
    """The end of some work does not stand any more."""

    goal: str
    run: str
    changed: list[str] | None


class NamedFile(TypedDict):
    """A file that the user named, as it was when they did."""

    name: str  # as they typed it
    path: str
    digest: str
    text: str


class GateResult(LedgerRow, total=False):
    """What came out of a command: `omo.proof.gate_runs.Run`, and where it ran."""

    name: str
    argv: list[str]
    command: str
    env: str
    on_files: str
    result: str
    why: str
    exit: int | None
    seconds: float
    counts: list[int] | None
    names_are_whole: bool
    failing: list[str]
    ran: str  # names of tests, packed
    broke_before_tests: bool
    quoted: str
    tail: str
    timed_out: bool
    program: str | None
    installed: dict[str, str]  # programs that its run has brought into the project's environment, by their digests
    tree: str
    left_out: list[str]
    is_agents: bool  # a command that neither the user nor the project has named
    moved: list[str]
    fingerprint: str
    changed: Any  # by path, the digests of files; in other rows of a session their names
    files: Any  # as a Base has them; where the user named some, those


From = TypedDict("From", {"from": str}, total=False)  # no name for a field of a class


class SessionEvent(GateResult, From, total=False):
    """A row of a session's ledger, of whichever kind."""

    after: SessionRow  # as it was left
    rule: str
    reason: str
    run: str | None
    base: Base  # how the files were
    variables: list[str]  # marks of those that the user's client had
    text: str  # what the user typed
    documents: list[NamedFile]  # which they named as what to do
    workflow: str
    head: str | None
    endedBy: str  # of a run that was let go
    anew: bool  # typed for something else than the run that was called off or let go
    named: list[str]
    refused: list[str]
    unvouched: list[str]
    work: Any  # the kind of it; of what went to another session, the runs by kind
    state: str
    open: int | None
    next: str | None
    what: str
    evidence: str
    outcome: Outcome
    session: str
    agentType: str | None
    agentId: str
    message: str
    digest: str | None
    cut: bool  # of the message
    gate: str  # that denied a tool
    tool: str
    times: int
    cwd: str
    by: str
    timeout: float
    sealed: list[str]
    gave_way: bool  # the command before it did not get to the project's tests
    elsewhere: str  # the session in which the user pinned it
    path: str
    test: str
    commands: list[str]  # by their ids, in which the test has failed
    how: str
    gates: list[str]
    row: int  # the last that was whole when it was repaired
    kept: str | list[str] | None  # under another name
    mode: str
    forced: bool
    ceilings: str
    spent: str
