"""How a run of a workflow stands, in the one shape that every reader is written over: Stop's summary, `omo status`,
the status line, explain and report."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from omo.json_text import Json
from omo.text import block, clip, listed

if TYPE_CHECKING:
    from omo.state.rows import Outcome


PLURALS = {"criterion": "criteria"}
DAMAGED = "the ledger is damaged"
BY_USER, BY_AGENT = "pinned by the user", "pinned by the agent"  # whose a gate is that no file of the project names
SHORT_LEADS = ("then", "or")
UNKNOWN_TREE = "the files cannot be read, so nobody can tell"
NEXT = "omo next"
LONGEST_SHORT = 160
LONGEST_TEXT = 8000


def plural(unit: str) -> str:
    return PLURALS.get(unit, f"{unit}s")


def units(count: int, unit: str) -> str:
    """1 goal, 3 criteria."""
    return f"{count} {unit if count == 1 else plural(unit)}"


def named(ids: list[str], most: int = 6) -> str:
    """`C1, C2 and 3 more`."""
    return listed(ids, most) or "nothing"


class Command(NamedTuple):
    """One command as argv. `lead` says when it is due ("then", "if it fails after retry"), `after` what for.

    Without argv it is something only a person or the agent's own work can do, and `lead` says what.
    """

    argv: tuple[str, ...] = ()
    lead: str = ""
    after: str = ""

    @property
    def line(self) -> str:
        return command_line(self.argv)

    @property
    def when(self) -> str:
        """All that is said about the command."""
        if self.lead and self.after:
            return f"{self.lead} ({self.after.strip('()')})"
        return self.lead or self.after

    @property
    def text(self) -> str:
        """`then omo ralph exec`, `to go on: omo plan recover SPEC`."""
        lead = self.lead
        if lead and self.argv and lead not in SHORT_LEADS:
            lead += ":"
        return " ".join(filter(None, [lead, self.line, self.after]))

    @property
    def data(self) -> Json:
        return {"when": self.when, "command": self.line}


def command(*argv: str, lead: str = "", after: str = "") -> Command:
    """`command("omo ralph exec", lead="then")`: the first argument is split at its spaces, the others are words."""
    first = argv[0].split() if argv else []
    return Command((*first, *argv[1:]), lead, after)


def command_line(argv: tuple[str, ...]) -> str:
    """What can be pasted into a shell. Words with spaces stand in double quotes where that is enough.

    It is never cut; but an id in it may be anybody's words, and moves no cursor.
    """
    words = []
    for word in argv:
        is_plain_text = " " in word and not set(word) & set("\"$`\\!'\n")
        words.append(f'"{word}"' if is_plain_text else shlex.quote(word))
    return "".join(letter if letter.isprintable() else " " for letter in " ".join(words))


class NextStep(NamedTuple):
    """What moves a run on. `action` is stable, for programs; `who` can do it: the agent or the user."""

    action: str = ""
    why: str = ""
    commands: tuple[Command, ...] = ()
    who: str = "agent"
    item: str = ""  # the goal, step or criterion it is about

    @property
    def command(self) -> str:
        """The commands in one sentence, the first one first."""
        sentence = ""
        for each in self.commands:
            joint = "; " if each.lead.startswith(("or", "if", "once")) else ", "
            sentence += (joint if sentence else "") + each.text
        return sentence

    @property
    def text(self) -> str:
        return f"{self.why}: {self.command}" if self.command else self.why

    @property
    def short(self) -> str:
        """For hooks: in one line with its command whole, or with `omo next` in its place, which has all of it."""
        if len(self.text) <= LONGEST_SHORT:
            return self.text
        return f"{clip(self.why, LONGEST_SHORT - len(NEXT) - 2)}: {NEXT}"

    @property
    def data(self) -> Json:
        return {
            "action": self.action,
            "who": self.who,
            "item": self.item or None,
            "why": self.why,
            "command": self.command,
            "ways": [each.data for each in self.commands],
        }

    def with_run(self, workflow: str, run: str) -> NextStep:
        """The same about a run that was named with --run."""
        if not run:
            return self
        commands = []
        for each in self.commands:
            is_its_own = each.argv[:2] == ("omo", workflow) and each.argv[2:3] != ("start",)
            commands.append(each._replace(argv=(*each.argv, "--run", run)) if is_its_own else each)
        return self._replace(commands=tuple(commands))


class Fact(NamedTuple):
    """Something that was read: its name, the file, field or setting it came from, and what it was."""

    what: str
    where: str
    value: object


class Item(NamedTuple):
    """One goal, step, criterion or gate. `mark` says how it is drawn, whatever word its workflow uses for `status`:

    done, active, open, failed, stale (it was proven, and is not any more), waiting, cut (it no longer counts).
    """

    id: str
    title: str
    status: str
    mark: str
    notes: tuple[str, ...] = ()
    receipt: str = ""  # fresh or stale; empty where there is none
    receipt_why: str = ""  # what made it stale
    overrides: tuple[str, ...] = ()  # what was let through without its proof
    text: str = ""  # all one has to know to do it, in lines: a goal's objective, how a criterion is checked

    @property
    def is_open(self) -> bool:
        return self.mark not in ("done", "cut")

    @property
    def counts(self) -> bool:
        return self.mark != "cut"

    def no_longer(self, why: str) -> Item:
        """The same where what proved it cannot be leaned on; what is open, or stale already, stays as it is."""
        if self.mark != "done" and self.receipt != "fresh":
            return self
        mark = "stale" if self.counts else self.mark
        return self._replace(mark=mark, receipt="stale", receipt_why=why)

    @property
    def data(self) -> Json:
        return {
            "id": self.id,
            "title": self.title,
            "status": self.status,
            "mark": self.mark,
            "receipt": self.receipt or None,
            "receipt_why": self.receipt_why or None,
            "notes": list(self.notes),
            "overrides": list(self.overrides),
        }

    @property
    def whole(self) -> Json:
        """For whoever is to do it."""
        return {**self.data, "text": block(self.text, LONGEST_TEXT)}


class Status(NamedTuple):
    """One kind of work of one session, from its own ledger. `unit` is what its items are called.

    `is_of_session`: it has no ledger but the session's. `tells_task`: its facts begin with what the user asked for.
    """

    kind: str
    unit: str
    title: str = ""  # the heading over its items, if that is not what they are called
    run: str = ""
    headline: str = ""
    items: tuple[Item, ...] = ()
    next: NextStep = NextStep()
    facts: tuple[str, ...] = ()  # iteration 2 of 5; the tree has changed since the receipt of G002
    changed: tuple[str, ...] = ()  # of the facts, those that say what is no longer as it was
    overrides: tuple[str, ...] = ()  # reduced independence, a skipped verification: always in plain sight
    problems: tuple[str, ...] = ()  # what is not as omo wrote it, or cannot be read
    outcome: Outcome | None = None  # how it ended, as its own last row has it; None while it is open
    damage: str = "damaged ledger"  # what `problems` are called
    is_of_session: bool = False
    tells_task: bool = False

    @property
    def heading(self) -> str:
        return self.title or plural(self.unit).capitalize()

    @property
    def total(self) -> int:
        return sum(item.counts for item in self.items)

    @property
    def done(self) -> int:
        return sum(item.mark == "done" for item in self.items)

    @property
    def stale(self) -> int:
        return sum(item.mark == "stale" for item in self.items)

    @property
    def believed(self) -> Status:
        """Of a damaged ledger nothing counts that it calls done."""
        if not self.problems:
            return self
        return self._replace(items=tuple(item.no_longer(DAMAGED) for item in self.items))

    @property
    def lapsed(self) -> str:
        """Of work that is over: why it does not hold as it did then; empty while it does."""
        left = [item for item in self.items if item.counts and item.mark != "done"]
        if left:
            reasons = {item.receipt_why for item in left}
            if len(reasons) == 1 and "" not in reasons:
                return reasons.pop()
            verb = "does" if len(left) == 1 else "do"
            return f"{len(left)} of {units(self.total, self.unit)} {verb} not hold now"
        if self.problems:
            return DAMAGED
        return "" if self.total else "what proved it is not there"

    def state_of(self, item: Item) -> str:
        """complete, receipt fresh; what a gate passed on has no receipt, it is fresh or stale itself."""
        receipt = item.receipt if self.unit == "gate" or not item.receipt else f"receipt {item.receipt}"
        return ", ".join(filter(None, [clip(item.status, 24), receipt]))

    @property
    def data(self) -> Json:
        return {
            "kind": self.kind,
            "run": self.run or None,
            "unit": self.unit,
            "headline": self.headline,
            "done": self.done,
            "stale": self.stale,
            "total": self.total,
            "items": [item.data for item in self.items],
            "next": self.next.data,
            "facts": list(self.facts),
            "overrides": list(self.overrides),
            "problems": list(self.problems),
            "outcome": self.outcome,
        }
