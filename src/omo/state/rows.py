"""The rows we keep, by type. Nothing of the types exists when a hook runs.

A row comes from a file that anybody can edit, so its parts are read with the functions below: what is missing or
no object is empty. Unknown keys are kept by whoever changes a row.
"""
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypedDict

    from omo.hosts import OtherLoop

    class Message(TypedDict, total=False):
        """What a person wrote since the run was armed or resumed."""

        at: str
        text: str
        quoted: bool  # the agent was sent back with it
        told: bool  # the user was told that the agent only answered

    class Ulw(TypedDict, total=False):
        """What holds a Stop, and the counters of its breakers."""

        enabled: bool
        by: str  # user, or the kind of work that armed it
        limits: dict[str, Any]
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
        otherLoop: OtherLoop  # what held the session at its last Stop, in place of omo
        shownOn: list[str]  # the kinds of work that the user was shown to be on
        readTo: int  # where in the transcript the last Stop had read to
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

    class Summary(TypedDict, total=False):
        """One kind of work, as hooks need it."""

        run: str
        state: str  # active, waiting, paused, blocked, done, exhausted
        open: int
        total: int
        next: str | None
        notRun: list[str]  # of the open gates
        wayOut: str  # how the agent says that it cannot go on, where that is not the workflow's usual way
        why: str
        question: str
        told: bool  # the user was shown that it ended or waits
        own: bool  # the workflow itself put it so, not the user
        answered: bool  # the user has written since they were told, and the agent may begin again
        stoppedByName: bool
        hostLimit: bool  # waits for the host alone, and goes on with it
        cleared: bool  # given up
        at: str  # when the files were looked at
        files: dict[str, Any]  # which files an end speaks of, until the user was told of it
        stopped: bool  # the user said stop after it had ended
        changed: list[str]  # those that changed after it was called done, so that it is active again
        outcome: dict[str, Any]
        earlier: dict[str, Any]  # the same of runs before it, whose end the user was not shown
        endedBy: str
        takenBy: str  # the session that took it up
        damaged: bool  # waits because a ledger is, and goes on when the user has repaired it
        unvouched: bool  # called done here, and not by the ledger
        deny: dict[str, str]  # what the tool gates refuse, with the sentence
        attended: bool
        fence: dict[str, Any]

    class GivenUp(TypedDict, total=False):
        """Work that the agent gave up in this conversation, as the exception that a later end has to name."""

        run: str
        what: str
        by: str
        why: str

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
        startsAt: int  # in bytes of the transcript
        records: list[str]  # of agents
        takenAt: str  # by the conversation that has the run now
        before: int  # tokens in the conversations that had the run before
        lost: bool  # and nobody knows how many

    class Mark(TypedDict, total=False):
        """The end of the session's ledger, as this row knows it."""

        seq: int
        digest: str

    class SessionRow(TypedDict, total=False):
        """`sessions.ID` of the runtime file."""

        ulw: Ulw
        stopContinuation: StopContinuation
        work: dict[str, Summary]
        givenUp: list[GivenUp]
        budget: Budget
        spent: Spent
        denials: dict[str, int]  # refused tool calls, by digest
        pins: bool  # the user pinned something in it, or took it away: it holds in the whole project
        client: str  # the host's program: whether it still runs is told by it
        instructed: bool  # the instructions of ultrawork are in the conversation
        asked: str  # the workflow that the user typed, until something of it is begun or they were told that nothing is
        reminded: str  # the Stop at which the agent was sent back for that
        awaits: str  # the type of an agent whose word is waited for
        briefs: dict[str, list[str]]  # by type of agent, digests of what it may be asked
        lastUsedAt: str
        ledger: Mark


def _object(row: Mapping[str, Any], key: str) -> Any:
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def ulw_of(row: Mapping[str, Any]) -> Ulw:
    return _object(row, "ulw")


def message_of(row: Mapping[str, Any]) -> Message:
    return _object(_object(row, "ulw"), "said")


def other_loop_of(row: Mapping[str, Any]) -> OtherLoop:
    return _object(_object(row, "ulw"), "otherLoop")


def cancel_of(row: Mapping[str, Any]) -> StopContinuation:
    return _object(row, "stopContinuation")


def given_up_of(row: Mapping[str, Any]) -> list[GivenUp]:
    listed = row.get("givenUp")
    entries: Any = []
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            entries.append(entry)
    return entries


def budget_of(row: Mapping[str, Any]) -> Budget:
    return _object(row, "budget")


def spent_of(row: Mapping[str, Any]) -> Spent:
    return _object(row, "spent")


def work_of(row: Mapping[str, Any]) -> dict[str, Summary]:
    return _object(row, "work")


def summary_of(row: Mapping[str, Any], kind: str) -> Summary:
    return _object(_object(row, "work"), kind)
