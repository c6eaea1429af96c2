"""The table of workflows: all that the rest of omo knows of one. A workflow is the folder that its row names, and
what others ask of it is there under one name:

- `status.status(viewer)`: how its run stands, and `status.BEGINNINGS`, what begins one, by what the user typed;
- `sections.sections(viewer, status)`: the evidence behind it, for the report;
- the modules in `commands`: `register(commands)`;
- where its runs have a `home`, `ledgers`: `RUNS`, the Kind of them; `take_up(caller, source, run)`, for another
  session that goes on with one; `problems(caller)`, by ledger, what is wrong in others that its runs lean on.

Hooks read it, so it imports next to nothing.
"""

from __future__ import annotations

from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Workflow:
    """`kind` is what a session's row calls its work, `name` what people do, `unit` one of its items.

    `commands` are those of `omo`, each with the module of the folder that has it and what it is for. `typed` are the
    names that a user types behind /omo:, and `without_run` those of them that begin no run. `home` is where its runs
    lie in the state directory; `journal`, where it has no runs, is the one ledger of the project's items, which its
    sessions share. `open_unit` is what a session's row counts as open, where that is not `unit`.

    Each folder has a `lifecycle` with `clear(caller, force=…)`, and where it `has_states` also `register_states`, the
    verbs of `omo state KIND`.
    """

    __slots__ = (
        "commands",
        "folder",
        "has_states",
        "home",
        "journal",
        "kind",
        "name",
        "open_unit",
        "title",
        "typed",
        "unit",
        "without_run",
    )

    def __init__(
        self,
        kind: str,
        title: str,
        unit: str,
        commands: dict[str, tuple[str, str]],
        *,
        name: str = "",
        home: str = "",
        journal: str = "",
        open_unit: str = "",
        typed: tuple[str, ...] = (),
        without_run: tuple[str, ...] = (),
        has_states: bool = False,
    ) -> None:
        self.kind = kind
        self.name = name or kind
        self.title = title
        self.unit = unit
        self.folder = f"omo.workflows.{self.name}"
        self.commands = {command: (f"{self.folder}.{module}", about) for command, (module, about) in commands.items()}
        self.home = home
        self.journal = journal
        self.open_unit = open_unit or unit
        self.typed = typed or (self.name,)
        self.without_run = without_run
        self.has_states = has_states

    def module(self, name: str) -> Any:
        """One of its folder, loaded only when it is asked for."""
        import importlib

        return importlib.import_module(f"{self.folder}.{name}")


# What speaks for a session that has several kinds of work comes first.
ROWS = (
    Workflow(
        *("ultraplan", "Steps", "step"),
        {"plan": ("verbs", "plans as contracts: validate, critique, sessions, audit, recovery")},
        home="plans",
        typed=("ultraplan", "ultraexecute"),
        without_run=("ultraplan",),
    ),
    Workflow(
        *("ultragoal", "Goals", "goal"),
        {
            "ultragoal": ("verbs", "durable multi-goal plans: goals, gates, receipts, steering, review"),
            "evidence": ("evidence_verbs", "evidence files: add, replay, list"),
            "goal": ("goal_verbs", "what this session is after: get, create, complete, …"),
        },
        home="ultragoal",
        has_states=True,
    ),
    Workflow(
        *("ralph", "Criteria", "criterion"),
        {"ralph": ("verbs", "rounds of work with an independent judge: start, judge, status")},
        home="ralph",
    ),
    Workflow(
        *("verify", "Verified goals", "goal"),
        {"verify": ("verbs", "goals and the proof that they are met: checks, questions, claims")},
        journal="verify/goals",
        open_unit="step",
    ),
    Workflow(
        *("ulw", "Gates", "gate"),
        {},  # it is the engine's own
        name="ultrawork",
        typed=("ulw",),
    ),
)
BY_KIND = {row.kind: row for row in ROWS}
BY_TYPED = {name: row for row in ROWS for name in row.typed}


def name_of(kind: str) -> str:
    """Also of a kind that another version wrote."""
    return BY_KIND[kind].name if kind in BY_KIND else clip(kind, 20)


def with_runs() -> list[Workflow]:
    """Those whose runs have a directory and a ledger each."""
    return [row for row in ROWS if row.home]
