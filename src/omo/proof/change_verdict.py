"""The verdict on a change: do its tests fail without it, and pass with it? It needs no run of the loop and no agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from omo.json_text import Json
from omo.proof import contents, experiment, hunks, reading, verdicts
from omo.proof.arrangements import arrange
from omo.proof.gate_runs import AS_IT_IS, MOST_NAMED, OLD_TESTS, WITHOUT, CommandRun, GateCommand, Subject
from omo.proof.test_names import function_of
from omo.proof.typed_commands import typed
from omo.proof.verdicts import Experiment
from omo.text import counted, listed

PROVEN, NOTHING, NOT_PROVEN, CANNOT_TELL = "proven", "nothing to prove", "not proven", "cannot tell"
EXIT_CODES = {PROVEN: 0, NOTHING: 0, NOT_PROVEN: 3, CANNOT_TELL: 4}


@dataclass(frozen=True)
class TriedCommand:
    """One command, and what came of it."""

    command: GateCommand
    made: Experiment

    @property
    def data(self) -> Json:
        runs = {name: {"result": run.result, "said": _said(run)} for name, run in self.made.runs.items()}
        row: Json = {"command": typed(self.command.argv), "directory": self.command.cwd, "verdict": self.made.verdict}
        return row | {"reason": self.made.reason, "runs": runs, "notes": list(self.made.notes)}


@dataclass(frozen=True)
class ChangeVerdict:
    """`fact` decides, in one line; `facts` stand below it; `fix` says what would help, if anything would."""

    word: str
    fact: str
    tried: Sequence[TriedCommand] = ()
    facts: Sequence[str] = ()
    fix: str = ""

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.word]

    @property
    def headline(self) -> str:
        return f"{self.word}. {self.fact}."

    @property
    def data(self) -> Json:
        row: Json = {"verdict": self.word, "headline": self.headline, "facts": list(self.facts), "fix": self.fix}
        return row | {"exit": self.exit_code, "commands": [each.data for each in self.tried]}


def judge(
    subject: Subject, commands: Sequence[GateCommand], seen: Sequence[CommandRun] = (), *, is_refactoring: bool = False
) -> ChangeVerdict:
    """Make the runs of every command, and say what they show together. `seen` are runs of them on the files as they
    are. `is_refactoring`: a person says that nothing but the form was to change, so that a pass without the change is
    what they expect."""
    if subject.changed_documents_alone:
        return ChangeVerdict(NOTHING, "only documentation was changed")
    tried = []
    for number, command in enumerate(commands):
        made = _with_failure_checked(subject, command, _made(subject, command, seen[number : number + 1]))
        if is_refactoring and made.verdict in verdicts.SHOWS_NO_RED:
            made = _weakened(subject, command) or replace(made, verdict=REFACTORED)
        tried.append(TriedCommand(command, made))
    for verdict in ORDER:
        for each in tried:
            if each.made.verdict == verdict:
                return _verdict_of(each.made, tried)
    raise AssertionError("every experiment ends in one of these")


def _made(subject: Subject, command: GateCommand, seen: Sequence[CommandRun]) -> Experiment:
    made = experiment.prove(subject, command, seen, lambda: experiment.run_now(subject, command))
    if made.verdict == verdicts.PASSES_WITHOUT and _is_same_code(subject, command):
        return _weakened(subject, command) or replace(made, verdict=SAME_CODE)
    if made.verdict != verdicts.NO_WORK:
        return made
    # Nothing can be taken away: then the tests have to pass as they are, and as they were.
    now = experiment.run_now(subject, command)
    if now.result != "pass":
        return replace(made, verdict=verdicts.FAILS, reason=f"it {now.failure}", runs={AS_IT_IS: now})
    return _weakened(subject, command) or replace(made, runs={AS_IT_IS: now})


def _weakened(subject: Subject, command: GateCommand) -> Experiment | None:
    """Say what the old tests say against the change; where they could not be run, nobody can tell."""
    made = experiment.weakened(subject, command)
    if made is not None and not made.was_tried:
        return replace(made, verdict=verdicts.NOT_MADE)
    return made


def _is_same_code(subject: Subject, command: GateCommand) -> bool:
    """Return whether comments, blanks and docstrings are all that differs in the work."""
    arranged = arrange(subject, command)
    for path in arranged.work:
        if not hunks.is_same_code(path, arranged.at_base[path], contents.now(subject.root, path)):
            return False
    return True


def _with_failure_checked(subject: Subject, command: GateCommand, made: Experiment) -> Experiment:
    """Look again at what fails. If the command could not be judged, or passes when it is run once more, nobody can
    tell. So it was said of pluggy that it fails, where all its tests had passed: it has a module of pytest's."""
    if made.verdict != verdicts.FAILS:
        return made
    now = made.runs.get(AS_IT_IS)
    if now is not None and now.result == "unknown":
        shadows = reading.shadows(subject.root, subject.began, command, subject.allowed)
        return replace(made, verdict=verdicts.NOT_MADE, to_allow=shadows)
    if experiment.run_now(subject, command).result == "pass":
        return replace(made, verdict=verdicts.FLAKY, reason="it fails and passes on the same files")
    return made


REFACTORED = "refactored"
NAMES_OF_RUNS = {WITHOUT: "without the change", OLD_TESTS: "with the tests as they were", AS_IT_IS: "as it is"}
SAME_CODE = "same code"
# Which of several commands decides: the worst of those that speak against the change, else the best.
ORDER = (
    *(verdicts.FAILS, verdicts.ENDED_EARLY, *verdicts.MAY_BE_ALLOWED, verdicts.FLAKY, verdicts.NOT_MADE),
    *(
        verdicts.HOLDS,
        verdicts.NOT_BUILT,
        verdicts.NOTHING_SHOWN,
        verdicts.PASSES_WITHOUT,
        REFACTORED,
        SAME_CODE,
        verdicts.NO_WORK,
    ),
)
WORDS = {
    **dict.fromkeys((verdicts.FAILS, *verdicts.MAY_BE_ALLOWED, verdicts.PASSES_WITHOUT), NOT_PROVEN),
    **dict.fromkeys((REFACTORED, SAME_CODE, verdicts.NO_WORK), NOTHING),
    verdicts.HOLDS: PROVEN,
}


def _verdict_of(made: Experiment, tried: Sequence[TriedCommand]) -> ChangeVerdict:
    word = WORDS.get(made.verdict, CANNOT_TELL)
    fact = FACTS[made.verdict](made) if made.verdict in FACTS else made.reason
    facts = []
    for each in tried:
        facts += _facts_of(each, fact)
    return ChangeVerdict(word, fact, tried, facts, _fix(made))


def _facts_of(tried: TriedCommand, known: str) -> list[str]:
    """Say what a command showed, one fact a line, but for the fact that is `known`."""
    made, facts = tried.made, [typed(tried.command.argv)]
    for name, words in NAMES_OF_RUNS.items():
        if name in made.runs:
            facts.append(f"{words}: {_said(made.runs[name])}")
    if not made.runs and made.reason != known:
        facts.append(made.reason)
    facts += made.notes
    if failures := made.known_failures:
        facts.append(f"{counted(len(failures), 'known failure')} allowed: {_names(failures)}")
    return facts


def _proven(made: Experiment) -> str:
    without, now = made.runs[WITHOUT], made.runs[AS_IT_IS]
    failing = [name for name in without.failing if name not in now.failing]
    red = f"{_which_fail(failing)} without the change"
    if without.broke_before_tests or not failing:
        red = "it fails without the change"
    if now.counts is None:
        return f"{red} and passes with it"
    verb = "passes" if now.counts.passed == 1 else "pass"
    return f"{red}; {counted(now.counts.passed, 'test')} {verb} with it"


def _fails(made: Experiment) -> str:
    now = made.runs.get(AS_IT_IS)
    named = f": {_names(now.failing)}" if now is not None and now.failing else ""
    return f"it fails as it is{named}" + (", as it does without the change" if made.still_failing else "")


def _passes_without(made: Experiment) -> str:
    return f"{_tests(made.runs[WITHOUT])} without the change too"


def _old_tests_fail(made: Experiment) -> str:
    old, now = made.runs.get(OLD_TESTS), made.runs.get(AS_IT_IS)
    failing = [name for name in old.failing if now is None or name not in now.failing] if old is not None else []
    if not failing:
        return made.reason
    return f"with the tests as they were, {_which_fail(failing)}"


def _refactored(made: Experiment) -> str:
    return f"a refactoring, as you say: {_tests(made.runs[AS_IT_IS])}, also as they were"


def _same_code(made: Experiment) -> str:
    return f"of the code only comments, docstrings or layout were changed; {_tests(made.runs[WITHOUT])}"


def _only_tests(made: Experiment) -> str:
    return f"only tests, settings or data were changed; {_tests(made.runs[AS_IT_IS])}"


FACTS: Mapping[str, Callable[[Experiment], str]] = {
    verdicts.HOLDS: _proven,
    verdicts.FAILS: _fails,
    verdicts.PASSES_WITHOUT: _passes_without,
    verdicts.OLD_TESTS_FAIL: _old_tests_fail,
    REFACTORED: _refactored,
    SAME_CODE: _same_code,
    verdicts.NO_WORK: _only_tests,
}


def _fix(made: Experiment) -> str:
    if made.verdict == verdicts.PASSES_WITHOUT:
        return "write a test that fails without the change; or, if only the form was to change: omo proof --refactoring"
    if made.verdict == verdicts.NOT_BUILT:
        return "name a command that builds it first: omo proof -- sh -c 'BUILD && TESTS'"
    if made.to_allow and made.verdict in (verdicts.FAILS, verdicts.NOT_MADE, *verdicts.MAY_BE_ALLOWED):
        allowed = " ".join(f"--allow {typed([name])}" for name in made.to_allow[:MOST_NAMED])
        return f"if that is meant: omo proof {allowed}"
    return ""


def _said(run: CommandRun) -> str:
    """Say what a run printed, and if it failed by no test, its exit code."""
    return (run.summary or "exit 0") if run.result == "pass" else run.said


def _tests(run: CommandRun) -> str:
    if run.counts is None:
        return "the command passes"
    passed = run.counts.passed
    return "1 test passes" if passed == 1 else f"{passed} tests pass"


def _which_fail(names: Sequence[str]) -> str:
    """Name each function once, however many of its cases fail."""
    is_one = len(set(map(function_of, names))) == 1
    return f"{_names(names)} {'fails' if is_one else 'fail'}"


def _names(names: Sequence[str]) -> str:
    return listed(list(dict.fromkeys(map(function_of, names))), MOST_NAMED)
