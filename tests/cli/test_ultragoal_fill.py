"""The quality gate that omo fills in: from what it ran, what was recorded, and what hooks saw reviewers say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import texts
from tests.project import Project, Ran
from tests.ultragoal.gates import screenshot, terminal, transcript, valid_gate
from tests.ultragoal.project import CLEAN

GREET = "import sys\nprint('hello', *sys.argv[1:])\n"
BRIEF = "Plain words.\n@goal: Greet\nSay hello.\n@goal: Leave\nSay bye."
REPORT = "I looked at greet.py.\n\nAI SLOP CLEANUP REPORT\nScope: G001\nGate Result: PASS\n"


@pytest.fixture
def started(project: Project) -> Project:
    project.write("greet.py", GREET)
    assert project.agent("ultragoal", "create-goals", "--start", "--brief", BRIEF).code == 0
    return project


def attacked(project: Project) -> None:
    case = ("--attack", "no name at all", "--expect", "a plain hello")
    assert project.agent("evidence", "replay", *case, "--", "python3", "greet.py").code == 0


def reviewed(project: Project, **words: str) -> None:
    for agent, clean in CLEAN.items():
        project.agent_ends(agent, words.get(agent.removeprefix("omo:"), json.dumps(clean)))


def closed(project: Project, *command: str) -> Ran:
    return project.agent("ultragoal", "checkpoint", "--evidence", "it says hello", *(command and ("--", *command)))


def kept_gate(project: Project, goal: str = "G001") -> dict[str, Any]:
    gate: dict[str, Any] = {}
    for line in Path(status(project)["paths"]["ledger"]).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row.get("goalId") == goal and "qualityGateJson" in row:
            gate = row["qualityGateJson"]
    return gate


def status(project: Project) -> dict[str, Any]:
    return project.agent("ultragoal", "status", "--json").json


def independence(project: Project, goal: str = "G001") -> str | None:
    receipts: dict[str, str | None] = {row["id"]: row["independence"] for row in status(project)["goals"]}
    return receipts[goal]


def test_one_command_closes_a_goal_that_was_shown_attacked_and_reviewed(started: Project) -> None:
    attacked(started)
    started.agent_ends("omo:critic", REPORT)
    reviewed(started)
    ran = closed(started, "python3", "greet.py", "you")
    assert ran.code == 0, ran.err
    assert (independence(started), ran.err) == ("full", "")
    assert ran.says("ultragoal-next-ultragoal-goal", started="G002", title="Leave")
    gate = kept_gate(started)
    qa = gate["executorQa"]
    assert [row["description"] for row in qa["artifactRefs"]] == ["python3 greet.py", "python3 greet.py you"]
    assert qa["surfaceEvidence"][0]["invocation"] == "python3 greet.py; python3 greet.py you"
    (case,) = qa["adversarialCases"]
    assert (case["scenario"], case["expectedBehavior"]) == ("no name at all", "a plain hello")
    assert qa["contractCoverage"][0]["obligation"] == "Say hello."
    assert gate["iteration"]["evidence"].startswith("it says hello\nomo ran on the files as they are: ")
    assert texts.says(gate["iteration"]["evidence"], "ultragoal-gate-result", word="PASS")


def test_what_is_missing_is_named_with_what_brings_it_and_nothing_is_written(started: Project) -> None:
    before = status(started)
    ran = closed(started)
    assert ran.code == 3
    assert [line.strip("- ").split(": ")[0] for line in ran.err.splitlines() if line.startswith("  - ")] == [
        "architectReview",
        "executorQa.redTeamStatus",
        "executorQa.surfaceEvidence",
        "executorQa.adversarialCases",
    ]
    for words in ("omo:architect was not seen", "omo:qa was not seen", "omo evidence replay -- COMMAND", "--attack"):
        assert words in ran.err
    assert "gate init --goal-id G001" in ran.err
    assert status(started) == before


def no_verdict(project: Project) -> None:
    reviewed(project, architect="Looks good to me.")


def blocked(project: Project) -> None:
    reviewed(project, qa=json.dumps({"e2eStatus": "passed", "redTeamStatus": "failed"}))


def changed_after(project: Project) -> None:
    reviewed(project)
    project.write("greet.py", GREET + "print('more')\n")
    attacked(project)


def forged(project: Project) -> None:
    """The record of the attack says something else now."""
    reviewed(project)
    path = ".sisyphus/evidence/G001/replay-1.json"
    record = json.loads((project.root / path).read_text())
    project.write(path, json.dumps({**record, "scenario": "a million names"}))


def red_gate(project: Project) -> None:
    project.agent("gate", "add", "tests", "--", "python3", "greet.py")
    assert project.agent("gate", "run").code == 0
    project.write("greet.py", "import sys\nprint('hello', *sys.argv[1:])\nsys.exit(len(sys.argv) == 1)\n")
    attacked(project)
    reviewed(project)


NOT_SHOWN: dict[Callable[[Project], None], str] = {
    no_verdict: "omo:architect ended without its verdict",
    blocked: "failed was said by omo:qa",
    changed_after: "omo:architect found it clean before greet.py changed: let it look again",
    forged: "nobody has tried to break it",
    red_gate: "gate tests did not pass (fail): mend what it says",
}


@pytest.mark.parametrize("spoil", NOT_SHOWN, ids=lambda spoil: spoil.__name__)
def test_facts_that_do_not_hold_fill_nothing_in(started: Project, spoil: Callable[[Project], None]) -> None:
    attacked(started)
    spoil(started)
    ran = closed(started, "python3", "greet.py", "you")
    assert (ran.code, NOT_SHOWN[spoil] in ran.err) == (3, True), ran.err
    assert status(started)["current_goal"] == "G001"


def test_the_sessions_gates_are_run_and_cited_once_for_each_goal(started: Project) -> None:
    started.agent("gate", "add", "tests", "--", "python3", "greet.py")
    for goal in ("G001", "G002"):
        attacked(started)
        reviewed(started)
        assert closed(started).code == 0
        cited = [row.get("gate") for row in kept_gate(started, goal)["executorQa"]["artifactRefs"]]
        assert cited == [None, "tests"]
    assert len([row for row in started.events() if row["kind"] == "gate-ran"]) == 2


def test_a_gate_that_never_passed_holds_up_the_end_and_no_goal_before_it(started: Project) -> None:
    started.agent("gate", "add", "bye", "--", "test", "-f", "bye.py")
    for goal, code in (("G001", 0), ("G002", 3)):
        attacked(started)
        reviewed(started)
        ran = closed(started, "python3", "greet.py", goal)
        assert (ran.code, "gate bye did not pass" in ran.err) == (code, code == 3), ran.err


def test_a_command_that_fails_shows_nothing_though_it_is_a_gate_that_may_fail(started: Project) -> None:
    started.write("bye.py", "raise SystemExit(3)\n")
    started.agent("gate", "add", "bye", "--", "python3", "bye.py")
    attacked(started)
    reviewed(started)
    ran = closed(started, "python3", "bye.py")
    assert (
        ran.code,
        ran.says("ultragoal-ended-with-exit-which-is-no", argv="executorQa.e2eCommands: python3 bye.py", exit_code=3),
    ) == (3, True), ran.err
    assert closed(started).code == 0


def test_what_is_to_be_recorded_anew_is_named_with_where(started: Project) -> None:
    started.write("bin/bye.py", "print('bye')\n")
    started.check("evidence", "replay", "--", "python3", "bye.py", cwd=started.root / "bin")
    started.write("greet.py", GREET + "print('more')\n")
    ran = closed(started)
    assert ran.says(
        "ultragoal-executorqa-surfaceevidence-recorded-before-changed-in",
        file="greet.py",
        word="python3",
        file2="bye.py",
    ), ran.err


def test_what_a_reviewer_returned_as_rows_is_taken_as_it_is(started: Project) -> None:
    report = valid_gate(started.root)["executorQa"]
    read = {"evidence": "the diff", "commands": ["git diff"]}
    started.check("evidence", "add", "artifacts/G001/api-report.txt", "--goal", "G001")
    architect = json.dumps({**CLEAN["omo:architect"], **read})
    reviewed(started, qa=f"All held.\n```json\n{json.dumps(report)}\n```", architect=architect)
    ran = closed(started, "python3", "greet.py", "you")
    assert ran.code == 0, ran.err
    gate = kept_gate(started)
    cited = [row["id"] for row in gate["executorQa"].pop("artifactRefs")]
    assert cited == ["api-report", "attack-report", "evidence-2"]
    assert {key: report[key] for key in gate["executorQa"]} == gate["executorQa"]
    assert {key: gate["architectReview"][key] for key in read} == read


def test_files_that_were_added_show_the_surface_that_they_are_of(started: Project) -> None:
    started.write("page.html", "<p>hello</p>\n")
    started.commit()
    reviewed(started)
    started.write("page.html", "<p>bye</p>\n")
    started.check("evidence", "add", "page.html", "--goal", "G001")
    assert closed(started).says(
        "ultragoal-found-it-clean-before-changed-let", agent="architectReview: omo:architect", changed="page.html"
    ), "it is work, though cited"
    folder = started.root / ".sisyphus/evidence/G001"
    screenshot(folder / "page.png")
    transcript(folder / "drive.json", None)
    terminal(folder / "session.txt")
    for name in ("page.png", "drive.json", "session.txt"):
        assert started.agent("evidence", "add", f".sisyphus/evidence/G001/{name}", "--goal", "G001").code == 0
    assert closed(started).says("ultragoal-iteration-reruncommands-nothing-was-run-that")
    started.agent("gate", "add", "tests", "--", "python3", "greet.py")
    attacked(started)
    reviewed(started)
    ran = closed(started)
    assert ran.code == 0, ran.err
    rows = kept_gate(started)["executorQa"]["surfaceEvidence"]
    assert {row["surface"] for row in rows} == {"web", "tui", "cli", "package"}


def test_the_suite_is_asked_for_where_computer_control_changed(started: Project) -> None:
    started.write(".sisyphus/omo.json", '{"computer_control": ["greet.py"]}')
    attacked(started)
    reviewed(started)
    ran = closed(started, "python3", "greet.py", "you")
    assert (ran.code, ran.says("ultragoal-executorqa-adversarialcases-has-no-case-kill-switch")) == (3, True), ran.err


LEFT_TO_WRITE = {
    *("architectureStatus", "productStatus", "codeStatus", "recommendation", "evidence", "commands"),
    *("e2eStatus", "redTeamStatus"),
}


def test_without_reviewers_at_most_ten_values_are_left_to_write(started: Project) -> None:
    attacked(started)
    started.agent("evidence", "replay", "--", "python3", "greet.py", "you")
    ran = started.agent("ultragoal", "gate", "init", "--json")
    path = started.root / ran.json["path"]
    gate = json.loads(path.read_text())
    left = []
    for section in gate.values():
        left += [name for name, value in section.items() if value in ("", []) and name != "blockers"]
    assert (set(left), len(left)) == (LEFT_TO_WRITE, 9)
    gate["architectReview"] |= {**CLEAN["omo:architect"], "recommendation": "APPROVE"}
    gate["architectReview"] |= {"evidence": "I read the diff myself", "commands": ["git diff"]}
    gate["executorQa"] |= {**CLEAN["omo:qa"], "evidence": "I tried it myself"}
    path.write_text(json.dumps(gate))
    ran = started.agent(
        "ultragoal", "checkpoint", "--evidence", "it says hello", "--quality-gate-json", ran.json["path"]
    )
    assert ran.code == 0, ran.err
    assert independence(started) == "reduced"


def test_the_same_checkpoint_again_stands(started: Project) -> None:
    attacked(started)
    reviewed(started)
    assert closed(started, "python3", "greet.py", "you").code == 0
    again = started.agent("ultragoal", "checkpoint", "--goal-id", "G001", "--evidence", "it says hello")
    assert (again.code, again.says("ultragoal-complete-it-stood-already")) == (0, True)


def test_a_lighter_gate_of_an_earlier_version_is_not_there_and_breaks_nothing(project: Project) -> None:
    project.write("greet.py", GREET)
    project.write(".sisyphus/omo.json", '{"goal_gate": "light"}')
    project.git("add", "-f", ".sisyphus/omo.json")
    project.commit()
    project.environ["OMO_GOAL_GATE"] = "light"
    project.prompt(f"/omo:ultragoal gate: light\n{BRIEF}")
    made = project.agent("ultragoal", "create-goals", "--start", "--brief", f"gate: light\n{BRIEF}")
    assert made.code == 0, made.err
    refused = closed(project, "python3", "greet.py", "you")
    assert (
        refused.code,
        refused.says("ultragoal-was-not-seen-to-review-start", agent="architectReview: omo:architect", goal="G001"),
    ) == (3, True)


# What others have to bring, and what was left out


def test_the_next_step_names_what_the_gate_still_asks_for(started: Project) -> None:
    refused = closed(started, "python3", "greet.py", "you")
    assert refused.says("ultragoal-is-not-shown-yet-its-quality", defects="3 defects")
    text = started.agent("next").out
    for part in (
        "omo ultragoal brief architect",
        "omo ultragoal brief qa",
        "nobody has tried to break it",
        "no cleaner",
    ):
        assert part in text
    attacked(started)
    started.agent_ends("omo:critic", REPORT)
    reviewed(started)
    text = started.agent("next").out
    assert "omo ultragoal brief" not in text
    assert "$ omo ultragoal checkpoint --goal-id G001" in text


def test_a_cleaner_that_was_left_out_is_named_at_the_end(started: Project) -> None:
    for _ in range(2):
        attacked(started)
        reviewed(started)
        ran = closed(started, "python3", "greet.py", "you")
        assert (ran.code, ran.says("ultragoal-no-cleaner-looked-at-it-which")) == (0, True), ran.err
    assert started.agent("goal", "complete").code == 0
    message = started.stop().message
    assert message.startswith("omo: ended with exceptions: no cleaner looked at G001, G002 (let through by the agent: ")
    assert "No exception was made" not in started.agent("report", "--md").out


@pytest.mark.parametrize("title", ["AI SLOP CLEANUP REPORT", "## AI Slop Cleanup Report"])
def test_a_cleaner_that_looks_afterwards_makes_it_good(started: Project, title: str) -> None:
    attacked(started)
    reviewed(started, architect=f"The AI slop cleanup report is good.\n{json.dumps(CLEAN['omo:architect'])}")
    argv = ("ultragoal", "checkpoint", "--goal-id", "G001", "--evidence", "it says hello")
    assert started.agent(*argv, "--", "python3", "greet.py", "you").code == 0
    started.agent_ends("omo:critic", REPORT.replace("AI SLOP CLEANUP REPORT", title))
    again = started.agent(*argv)
    assert (again.code, again.err) == (0, "")
    (first, _) = status(started)["goals"]
    assert first["completionVerification"]["cleaned"] is True


def test_the_cleaner_is_told_the_files_of_its_goal(started: Project) -> None:
    started.write("hello.py", "print('hello')\n")
    assert "Files changed since it began:\n  hello.py\n" in started.agent("ultragoal", "brief", "critic").out
    attacked(started)
    reviewed(started)
    assert closed(started, "python3", "greet.py", "you").code == 0
    assert started.agent("ultragoal", "brief", "critic").says("ultragoal-no-file-was-changed-since")
    started.write("bye.py", "print('bye')\n")
    reviewed(started)
    assert "Files changed since it began:\n  bye.py\n" in started.agent("ultragoal", "brief", "critic").out
