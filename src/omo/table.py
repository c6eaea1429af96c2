"""The table of workflows: all that the rest of omo knows of one. A workflow is the folder that its row names, and
what others ask of it is there under one name:

- `status.status(viewer)`: how its run stands, and `status.BEGINNINGS`, what begins one, by what the user typed;
- `sections.sections(viewer, status)`: the evidence behind it, for the report;
- the modules in `commands`: `register(commands)`;
- where its runs have a `home`, `run.RUNS`: the Kind of them;
- where it has no such runs to clear, or where it `has_states`, `lifecycle.clear(caller, force=…)`; with those also
  `register_states`, the verbs of `omo state KIND`, and `problems(caller)`, by ledger, what is wrong in others that its
  runs lean on.

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
    sessions share, and `claims` that of the claims about them. `open_unit` is what a session's row counts as open,
    where that is not `unit`. `damage` is what a report calls a run that is not as omo wrote it, `files_checks` the
    command that pins a check by filing it. Where its `facts_have_task`, those of its status begin with what the user
    asked for.

    For people: `offered` is its place among those that they are offered. `words` are the names by which it is stopped
    or taken up again, `in_words` how a prompt asks for it without its command.

    Events of a session: `asked` is the kind of the one that has what the user typed behind its command, and `keeps`
    has the keys that it needs: there `head`, `base` or `criteria` (a file that is all they typed), in the result of a
    gate `files` or `fingerprint`.

    For the hooks: `skill` has its rules for the model, `says_so_again` calls it done again once files changed after
    that, `cannot_go_on` is how the agent says so. `looks` are the calls of its commands that only look, each with the
    options that leave it so, and `needs_files` those of them that need the project's files as they are; `leaders` are
    the verbs that only the leader of its work may call, `leaders_with` those that are so with a word behind them.
    `briefs` has, by agent, the command that prints what it is asked; a word in capitals is a name. `instead` says, by
    the name of a file of its state, what to call in place of editing it, and `denies`, for what its summary may refuse
    the session, what opens that. Where it `has_states`, they are verbs of `omo state`.
    """

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
        claims: str = "",
        open_unit: str = "",
        damage: str = "damaged ledger",
        files_checks: str = "",
        facts_have_task: bool = False,
        offered: int = 0,
        words: str,
        in_words: tuple[str, ...] = (),
        asked: str = "asked",
        keeps: tuple[str, ...] = (),
        typed: tuple[str, ...] = (),
        without_run: tuple[str, ...] = (),
        has_states: bool = False,
        skill: str = "",
        says_so_again: str,
        cannot_go_on: str = "",
        looks: dict[tuple[str, ...], tuple[str, ...]] | None = None,
        needs_files: tuple[tuple[str, ...], ...] = (),
        leaders: dict[str, tuple[str, ...]] | None = None,
        leaders_with: dict[tuple[str, str], str] | None = None,
        briefs: dict[str, str] | None = None,
        instead: dict[str, str] | None = None,
        denies: dict[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.name = name or kind
        self.title = title
        self.unit = unit
        self.folder = f"omo.workflows.{self.name}"
        self.commands = {command: (f"{self.folder}.{module}", about) for command, (module, about) in commands.items()}
        self.home = home
        self.journal = journal
        self.claims = claims
        self.open_unit = open_unit or unit
        self.damage = damage
        self.files_checks = files_checks
        self.facts_have_task = facts_have_task
        self.offered = offered
        self.words = words
        self.in_words = in_words
        self.asked = asked
        self.keeps = keeps
        self.typed = typed or (self.name,)
        self.without_run = without_run
        self.has_states = has_states
        self.skill = skill
        self.says_so_again = says_so_again
        self.cannot_go_on = cannot_go_on
        self.looks = looks or {}
        self.needs_files = needs_files
        self.leaders = leaders or {}
        self.leaders_with = leaders_with or {}
        self.briefs = briefs or {}
        self.instead = instead or {}
        self.denies = denies or {}

    def directory(self, state: str) -> str:
        """Of its runs."""
        import os

        return os.path.join(state, self.home)

    @property
    def runs(self) -> Any:
        """The Kind of its runs."""
        return self.module("run").RUNS

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
        damage="damaged",  # of a plan it may be the spec
        offered=3,
        words="ultraplan plan plans planning plano план 计划 計劃 计画 プラン 計画 계획",
        in_words=("ultraplan", "ultraexecute"),
        typed=("ultraplan", "ultraexecute"),
        without_run=("ultraplan",),
        skill="ultraexecute",
        says_so_again="omo plan finish",
        cannot_go_on="omo plan finish --failed STEP --error TEXT --tried TEXT",
        looks={("plan", "validate"): (), ("plan", "status"): ("--run=",), ("plan", "audit"): ()},
        needs_files=(("plan", "audit"),),
        leaders={"plan": ("start", "skip", "recover", "finish")},
        briefs={"omo:critic": "omo plan critique PLAN"},
    ),
    Workflow(
        *("ultragoal", "Goals", "goal"),
        {
            "ultragoal": ("verbs", "durable multi-goal plans: goals, gates, receipts, steering, review"),
            "evidence": ("evidence_verbs", "evidence files: add, replay, list"),
            "goal": ("goal_verbs", "what this session is after: get, create, complete, …"),
        },
        home="ultragoal",
        offered=2,
        words="""ultragoal ultragoals goal goals ziel ziele objectif objectifs objetivo objetivos цель цели
            目标 目標 ゴール 목표""",
        in_words=("ultragoal",),
        keeps=("head", "files"),  # its quality gates may cite a result, as long as these are the files
        has_states=True,
        skill="ultragoal",
        says_so_again="omo goal complete",
        cannot_go_on="omo ultragoal checkpoint --status blocked --evidence TEXT, and take the next goal",
        looks={
            ("goal", "get"): (),
            ("evidence", "list"): ("--goal=",),
            ("ultragoal", "brief"): ("--goal-id=",),
            ("ultragoal", "status"): (),
        },
        leaders={
            "ultragoal": (
                *("create-goals", "complete-goals", "checkpoint", "steer", "classify-blocker"),
                "record-review-blockers",
            ),
            "goal": ("create", "complete", "pause", "resume", "drop"),
            "state": ("clear", "ultragoal"),
        },
        leaders_with={("ultragoal", "review"): "review-start"},
        briefs={
            "omo:architect": "omo ultragoal brief architect",
            "omo:qa": "omo ultragoal brief qa",
            "omo:critic": "omo ultragoal brief critic",
        },
        instead={
            "goals.json": "omo ultragoal status shows the plan, omo ultragoal steer changes it",
            "ledger.jsonl": "omo alone writes the ledger: "
            "omo ultragoal checkpoint and steer add to it, status shows it",
        },
        denies={
            "ask": "no goal is open, the run is handed off, or the setting attended is on where the hook runs",
            "pause": "a blocker that only a person can remove, recorded just before: omo ultragoal classify-blocker",
            "complete": "a fresh final receipt that covers the plan: omo ultragoal checkpoint",
        },
    ),
    Workflow(
        *("ralph", "Criteria", "criterion"),
        {"ralph": ("verbs", "rounds of work with an independent judge: start, judge, status")},
        home="ralph",
        offered=4,
        facts_have_task=True,
        words="ralph",
        in_words=("use ralph", "run ralph", "start ralph", "with ralph"),  # "Ralph" may be somebody
        asked="ralph-asked",
        keeps=("criteria", "base", "fingerprint"),  # it compares whole trees
        skill="ralph",
        says_so_again="omo ralph judge",
        cannot_go_on="omo ralph abandon REASON, which the user is told",
        looks={
            ("ralph", "status"): ("--run=",),
            ("ralph", "artifacts"): ("--run=",),
            ("ralph", "brief"): ("--run=",),
            ("ralph", "judge"): ("--run=", "--no-refine="),
        },
        needs_files=(("ralph", "artifacts"), ("ralph", "judge")),
        leaders={"ralph": ("start", "judge", "abandon")},
        briefs={
            "omo:judge": "omo ralph brief",
            "omo:qa": "omo ralph brief qa",
            "omo:critic": "omo ralph brief critic",
        },
    ),
    Workflow(
        *("verify", "Verified goals", "goal"),
        {"verify": ("verbs", "goals and the proof that they are met: checks, questions, claims")},
        journal="verify/goals",
        claims="verify/claims",
        files_checks="omo verify add",
        offered=1,
        words="""verify verification verifying verifikation prüfung vérification verificación verificação проверку
            проверка 验证 驗證 検証 검증""",
        open_unit="step",
        skill="verify",
        says_so_again="omo verify finish GOAL --summary TEXT",
        looks={("verify", "brief"): (), ("verify", "status"): ()},
        leaders={"verify": ("add", "begin", "answer", "finish")},
        briefs={"omo:judge": "omo verify brief GOAL"},
    ),
    Workflow(
        *("ulw", "Gates", "gate"),
        {},  # it is the engine's own
        name="ultrawork",
        typed=("ulw",),
        words="ulw ultrawork",
        says_so_again="omo ulw done",
        looks={
            ("gate", "list"): (),
            ("gate", "run"): (),
            ("gate", "suggest"): (),
            ("ulw", "status"): (),
            ("ulw", "done"): ("--because=",),  # not --skip-verification, which lets something through
        },
        needs_files=(("gate", "run"), ("ulw", "done")),
        leaders={"ulw": ("start", "done", "blocked")},
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


def offered() -> list[Workflow]:
    """As people are told of them."""
    return sorted([row for row in ROWS if row.offered], key=lambda row: row.offered)
