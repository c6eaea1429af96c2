"""The table of workflows: all that the rest of omo knows of one. A row names the workflow's folder, which has

- `register(commands)` in each module that `commands` names;
- if the engine carries it out (`EngineWorkflow`): `flow.FLOW`;
- else `status.status(viewer)`, how its run stands;
- if the engine does not, or its row `has_sections`: `sections.sections(viewer, status)`, the evidence for the report;
- `lifecycle.clear(caller, force=…)`, `lifecycle.register_states`, the verbs of `omo state KIND`, and
  `lifecycle.problems(caller)`, what is wrong in ledgers that its runs lean on, by ledger, if its row `has_states`.

Hooks read it, so it imports next to nothing.
"""

from __future__ import annotations

from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Workflow:
    """One row."""

    kind: str  # its name in a session's row
    name = ""  # its name for people and of its folder, if that is another
    unit = ""  # what a session's row counts as open
    commands: Mapping[str, tuple[str, str]] = {}  # of `omo`, each with its module of the folder and what it is for
    typed: tuple[str, ...] = ()  # what a user types after /omo: to begin it, if that is not its name
    without_run: Mapping[str, str] = {}  # those of `typed` that begin no run, with what is said until they are begun
    home = ""  # the directory of its runs, below the state directory
    is_shared = False  # its runs are the project's, and a session only holds some
    claims = ""  # the ledger of the claims about its items
    has_sections = False  # what stands behind an item is its own, in its folder
    has_states = False  # its runs have phases, which are verbs of `omo state`
    files_checks = ""  # the command that pins a check by filing it

    # For people
    offered = 0  # its place among the workflows that people are told of; 0: they are not
    words: str  # the names by which it is stopped or taken up again
    in_words: tuple[str, ...] = ()  # how a prompt asks for it without its command

    # What its sessions' events must have: `base` in the one with what the user typed, `files` or `fingerprint` in the
    # result of a gate.
    keeps: tuple[str, ...] = ()

    # For the hooks
    skill = ""  # the skill with its rules for the model
    says_so_again: str  # the command that calls it done again, once files were changed after it was
    looks_again = True  # whether that command holds the tests against what the user has allowed since
    cannot_go_on = ""  # the command by which the agent says so, in place of omo ulw blocked
    may_ask = False  # whether omo ulw blocked is for it all the same, to ask the user something
    looks: Mapping[tuple[str, ...], tuple[str, ...]] = {}  # calls that only look, with the options that leave them so
    needs_files: tuple[tuple[str, ...], ...] = ()  # those of `looks` that need the project's files as they are
    leaders: Mapping[str, tuple[str, ...]] = {}  # by command, the verbs that only the leader of its work may call
    leaders_with: Mapping[tuple[str, str], str] = {}  # verbs that are the leader's only with this word after them
    briefs: Mapping[str, str] = {}  # by agent, the command that prints its task; a word in capitals is a name
    instead: Mapping[str, str] = {}  # by the name of a file of its state, what to call instead of editing it

    def __init__(self) -> None:
        self.name = self.name or self.kind
        self.typed = self.typed or (self.name,)
        self.folder = f"omo.workflows.{self.name}"
        self.commands = {name: (f"{self.folder}.{module}", about) for name, (module, about) in self.commands.items()}

    @property
    def command(self) -> str:
        """The first word of its commands."""
        return next(iter(self.commands))

    @property
    def has_own_ledger(self) -> bool:
        """Return whether it has one beside the session's, which is all that ultrawork has."""
        return bool(self.home)

    @property
    def counts(self) -> str:
        """What a session's row counts as open."""
        return self.unit

    def status(self, viewer: Any) -> Any:
        """Return how its run stands, if there is one."""
        return self.module("status").status(viewer)

    def sections(self, viewer: Any, status: Any) -> Any:
        """Return the evidence behind each item, for the report."""
        return self.module("sections").sections(viewer, status)

    def directory(self, state: str) -> str:
        import os

        return os.path.join(state, self.home)

    def module(self, name: str) -> Any:
        """Return a module of its folder."""
        return _omo(f"workflows.{self.name}.{name}")


class EngineWorkflow(Workflow):
    """A row whose workflow is data: its folder has `flow.FLOW`, and `omo.engine` does the rest."""

    @property
    def flow(self) -> Any:
        return self.module("flow").FLOW

    @property
    def counts(self) -> str:
        unit: str = self.flow.unit
        return "step" if self.flow.is_filed else unit  # what its items owe

    @property
    def runs(self) -> Any:
        """The Kind of its runs."""
        return _omo("engine.runs").kind_of(self.flow)

    def status(self, viewer: Any) -> Any:
        return _omo("engine.show").status(self.flow, viewer)

    def sections(self, viewer: Any, status: Any) -> Any:
        if self.has_sections:
            return super().sections(viewer, status)
        more = self.module("claims").tables if self.claims else None
        return _omo("engine.evidence").sections(self.flow, viewer, status, more)

    def clear(self, caller: Any, *, force: bool) -> Any:
        """Give up what a session has of it, and keep all bytes."""
        if self.is_shared:
            return _omo("engine.filed").release(self.flow, caller, force=force)
        if self.has_states:
            return self.module("lifecycle").clear(caller, force=force)
        return _omo("work.lifecycle").clear(self.runs, caller, force=force)

    def beginnings(self, typed: str) -> Any:
        """Return the commands that begin it, by what the user typed."""
        return _omo("engine.show").beginnings(self.flow, typed)

    def named_files(self, typed: str) -> Any:
        """Return the ends of a file that the command takes as the user has named it."""
        return _omo("engine.show").named_files(self.flow, typed)


def _omo(name: str) -> Any:
    """Import a module of omo, only now."""
    import importlib

    return importlib.import_module(f"omo.{name}")


class UltraplanWorkflow(EngineWorkflow):
    kind = "ultraplan"
    commands: Mapping[str, tuple[str, str]] = {
        "plan": ("verbs", "plans as contracts: validate, critique, sessions, audit, recovery")
    }
    home = "plans"
    has_sections = True
    offered = 3
    words = "ultraplan plan plans planning plano план 计划 計劃 计画 プラン 計画 계획"
    in_words = ("ultraplan", "ultraexecute")
    typed = ("ultraplan", "ultraexecute")
    without_run: Mapping[str, str] = {"ultraplan": "no plan has gone to the critic"}
    keeps = ("base",)
    skill = "ultraexecute"
    says_so_again = "omo plan finish"
    cannot_go_on = "omo plan finish --failed STEP --error TEXT --tried TEXT"
    looks: Mapping[tuple[str, ...], tuple[str, ...]] = {
        ("plan", "validate"): (),
        ("plan", "status"): ("--run=",),
        ("plan", "audit"): (),
    }
    needs_files = (("plan", "audit"),)
    leaders: Mapping[str, tuple[str, ...]] = {"plan": ("start", "skip", "recover", "finish")}
    briefs: Mapping[str, str] = {"omo:critic": "omo plan critique PLAN"}


class UltragoalWorkflow(EngineWorkflow):
    kind = "ultragoal"
    commands: Mapping[str, tuple[str, str]] = {
        "ultragoal": ("verbs", "durable multi-goal plans: goals, gates, receipts, steering, review"),
        "evidence": ("evidence_verbs", "evidence files: add, replay"),
        "goal": ("goal_tool", "what this session is after: get, create, complete, …"),
    }
    home = "ultragoal"
    offered = 2
    words = """ultragoal ultragoals goal goals ziel ziele objectif objectifs objetivo objetivos цель цели
        目标 目標 ゴール 목표"""
    in_words = ("ultragoal",)
    keeps = ("base", "files")  # its quality gates may cite a result, as long as these are the files
    has_states = has_sections = True
    skill = "ultragoal"
    says_so_again = "omo goal complete"
    looks_again = False  # its receipts stand
    cannot_go_on = "omo ultragoal checkpoint --status blocked --evidence TEXT, and take the next goal"
    looks: Mapping[tuple[str, ...], tuple[str, ...]] = {
        ("goal", "get"): (),
        ("ultragoal", "brief"): ("--goal-id=",),
        ("ultragoal", "status"): (),
    }
    leaders: Mapping[str, tuple[str, ...]] = {
        "ultragoal": (
            *("create-goals", "complete-goals", "checkpoint", "steer", "classify-blocker"),
            "record-review-blockers",
        ),
        "goal": ("create", "complete", "pause", "resume", "drop"),
        "state": ("clear", "ultragoal"),
    }
    leaders_with: Mapping[tuple[str, str], str] = {("ultragoal", "review"): "review-start"}
    briefs: Mapping[str, str] = {
        "omo:architect": "omo ultragoal brief architect",
        "omo:qa": "omo ultragoal brief qa",
        "omo:critic": "omo ultragoal brief critic",
    }
    instead: Mapping[str, str] = {
        "goals.json": "omo ultragoal status shows the plan, omo ultragoal steer changes it",
        "ledger.jsonl": "omo alone writes the ledger: omo ultragoal checkpoint and steer add to it, status shows it",
    }


class RalphWorkflow(EngineWorkflow):
    kind = "ralph"
    commands: Mapping[str, tuple[str, str]] = {
        "ralph": ("flow", "rounds of work with an independent judge: start, judge, status")
    }
    home = "ralph"
    offered = 4
    words = "ralph"
    in_words = ("use ralph", "run ralph", "start ralph", "with ralph")  # "Ralph" may be somebody
    keeps = ("base", "fingerprint")  # it compares whole trees
    skill = "ralph"
    says_so_again = "omo ralph judge"
    cannot_go_on = "omo ralph abandon REASON, which the user is told; to ask them first: omo ulw blocked"
    may_ask = True
    looks: Mapping[tuple[str, ...], tuple[str, ...]] = {
        ("ralph", "status"): ("--run=",),
        ("ralph", "artifacts"): ("--run=",),
        ("ralph", "brief"): ("--run=",),
        ("ralph", "judge"): ("--run=", "--no-refine="),
    }
    needs_files = (("ralph", "artifacts"), ("ralph", "judge"))
    leaders: Mapping[str, tuple[str, ...]] = {"ralph": ("start", "judge", "abandon")}
    briefs: Mapping[str, str] = {
        "omo:judge": "omo ralph brief",
        "omo:qa": "omo ralph brief qa",
        "omo:critic": "omo ralph brief critic",
    }


class VerifyWorkflow(EngineWorkflow):
    kind = "verify"
    commands: Mapping[str, tuple[str, str]] = {
        "verify": ("verbs", "goals and the proof that they are met: checks, questions, claims")
    }
    home = "verify/goals"
    is_shared = True
    claims = "verify/claims"
    files_checks = "omo verify add"
    offered = 1
    words = """verify verification verifying verifikation prüfung vérification verificación verificação проверку
        проверка 验证 驗證 検証 검증"""
    keeps = ("base",)
    skill = "verify"
    says_so_again = "omo verify finish GOAL --summary TEXT"
    looks: Mapping[tuple[str, ...], tuple[str, ...]] = {("verify", "brief"): (), ("verify", "status"): ()}
    leaders: Mapping[str, tuple[str, ...]] = {"verify": ("add", "begin", "answer", "finish")}
    briefs: Mapping[str, str] = {"omo:judge": "omo verify brief GOAL"}


class UltraworkWorkflow(Workflow):
    kind, unit = "ulw", "gate"
    commands: Mapping[str, tuple[str, str]] = {
        "ulw": ("verbs", "an ultrawork run: start, status, done"),
        "gate": ("gate_verbs", "verification gates: suggest, add, run, record, remove, list"),
    }
    name = "ultrawork"
    typed = ("ulw",)
    words = "ulw ultrawork"
    says_so_again = "omo ulw done"
    looks: Mapping[tuple[str, ...], tuple[str, ...]] = {
        ("gate", "list"): (),
        ("gate", "run"): (),
        ("gate", "suggest"): (),
        ("ulw", "status"): (),
        ("ulw", "done"): ("--because=",),  # not --skip-verification, which lets something through
    }
    needs_files = (("gate", "run"), ("ulw", "done"))
    leaders: Mapping[str, tuple[str, ...]] = {"ulw": ("start", "done", "blocked")}


# In a session with several kinds of work the first of these speaks for it.
ROWS = (UltraplanWorkflow(), UltragoalWorkflow(), RalphWorkflow(), VerifyWorkflow(), UltraworkWorkflow())
BY_KIND = {row.kind: row for row in ROWS}
BY_TYPED = {name: row for row in ROWS for name in row.typed}


def name_of(kind: str) -> str:
    """Its name for people; for a kind that only another version of omo knows, the kind."""
    return BY_KIND[kind].name if kind in BY_KIND else clip(kind, 20)


def not_begun(typed: str, otherwise: str = "nothing of it was begun") -> str:
    """What is so of a workflow that the user typed, until it is begun; `otherwise` where that is a run."""
    workflow = BY_TYPED.get(typed)
    return workflow.without_run.get(typed, otherwise) if workflow else otherwise


def with_runs() -> list[EngineWorkflow]:
    """Those whose runs have a directory and a ledger each."""
    return [row for row in ROWS if isinstance(row, EngineWorkflow)]


def offered() -> list[Workflow]:
    """Those that people are told of, in that order."""
    return sorted([row for row in ROWS if row.offered], key=lambda row: row.offered)
