"""`omo ralph`, as the agent and the user type it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.state import ledger
from tests import texts
from tests.cli.sessions import OF_ANOTHER, next_stop, use_blocks
from tests.project import SESSION, Project, Ran, damage
from tests.ralph.project import RALPH, answer, criterion, question, reply
from tests.ralph.project import Project as RalphProject


def criteria(project: Project, *items: Any, name: str = "criteria.json") -> str:
    project.write(name, json.dumps({"criteria": list(items) or [criterion(1), criterion(2, question())]}))
    return name


def start(project: Project, *options: str) -> Ran:
    ran = project.agent("ralph", "start", "--criteria", criteria(project), *options, "--json")
    assert ran.code == 0, ran.out
    return ran


def judged(project: Project, **results: str) -> None:
    """As if omo ralph judge had found so."""
    project.now += 100
    RalphProject(project.root, now=project.now - 90, session=SESSION).judged(**results)


def ledger_of(project: Project) -> Path:
    (directory,) = Path(RALPH.home(project.state)).glob("r*-*")
    return directory / "ledger.jsonl"


def rows(project: Project) -> list[dict[str, Any]]:
    return ledger.rows(str(ledger_of(project)))


def cut_last_row(project: Project) -> None:
    lines = ledger_of(project).read_text().splitlines()
    ledger_of(project).write_text("\n".join(lines[:-1]) + "\n")


def test_a_start_shows_the_criteria_for_the_user_to_see(project: Project) -> None:
    ran = project.agent("ralph", "start", "--criteria", criteria(project))
    assert ran.code == 0
    for part in ("C1 part 1 is in place (now: fail)", "path done-1.txt", "judge question Does README.md", "at most 5"):
        assert part in ran.out
    assert ran.says("run-show-this-to-user-iteration-is")
    places = [ran.out.index(f"\n  {name} ") for name in ("PLAN", "IMPL", "VERIFY", "REFINE", "SHIP")]
    assert places == sorted(places)
    assert ran.says("ralph-next-open-iteration-of-when-its", id="C1", id2="C2", number=1, number2=5)
    assert next_stop(project) == "block"


def test_a_run_after_one_that_the_agent_cleared_away_says_so(project: Project) -> None:
    run = start(project).json["run"]
    project.check("state", "clear", "--mode", "ralph", "--force")
    project.stop()
    start(project)
    assert project.agent("ralph", "status").says("ralph-carries-on-after-cleared", id=run)


def test_yaml_and_the_file_beside_the_command(project: Project) -> None:
    text = "criteria:\n- {id: C1, description: a.txt is there, checks: [{type: path, path: a.txt}]}\n"
    project.write("c.yaml", text)
    ran = project.agent("ralph", "start", "--criteria", "c.yaml", "--max-iterations", "2", "--json")
    assert (ran.code, ran.json["max_iterations"], ran.json["before"]) == (0, 2, {"C1": "fail"})


TESTS = "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        open('done-1.txt')\n"


def test_without_a_file_and_checks_of_the_project_the_request_is_all_there_is(project: Project) -> None:
    project.git("init", "-q")
    project.commit()
    project.prompt("/omo:ralph write down what it is for")
    ran = project.check("ralph", "start")
    assert ran.says("run-no-check-of-project-as-whole", unit="criterion")
    assert ran.says("run-show-this-to-user-iteration-is")
    page = Path(project.check("report").out.splitlines()[-1]).read_text(encoding="utf-8")
    assert texts.says(page, "ralph-criteria-from-in-page"), "no file is named before it"


def test_without_a_file_the_criteria_are_the_request_and_the_projects_own_checks(project: Project) -> None:
    project.git("init", "-q")
    project.write("test_it.py", TESTS)
    project.write("Makefile", "lint:\n\ttrue\n")
    project.commit()
    project.prompt("/omo:ralph make the tests pass")
    ran = project.agent("ralph", "start")
    assert (ran.code, ran.err) == (0, "")
    assert ran.says("ralph-criterion-of-the-request", id="c0", result="unknown")
    assert ran.says(
        "ralph-criterion-of-makefile", id="c1", command="python3 -m unittest", file="test_it.py", result="fail"
    )
    assert ran.says("ralph-criterion-of-makefile-guard", id="c2", command="make lint", file="Makefile", result="pass")
    assert ran.says("run-are-project-own-checks-as-its", units="criteria")
    assert ran.says("run-show-this-to-user-iteration-is")
    project.agent_ends("omo:planner")
    project.write("done-1.txt")
    project.agent_ends("omo:qa")
    project.agent_ends("omo:critic")
    shown = project.agent("ralph", "artifacts")
    assert (
        shown.code,
        (shown.says("ralph-phase-with-no-gate") and shown.says("run-judgement-runs-check-of-project", item="C1")),
    ) == (0, True)
    assert project.agent("ralph", "judge").code == 4
    nonce = project.agent("ralph", "brief", "--json").json["nonce"]
    project.agent_ends("omo:judge", reply(nonce, answer("C0", "request", evidence="`python3 -m unittest` says OK")))
    ended = project.agent("ralph", "judge")
    assert (ended.code, "  C2 PASS: " in ended.out) == (0, True)
    told = project.summary("ralph")["outcome"]
    assert told["verdict"] == "judged"
    assert texts.says(told["why"], "run-judged-against-what-user-asked", typed=" with /omo:ralph")


def test_without_a_file_something_has_to_fail_or_be_asked_for(project: Project) -> None:
    refused = project.agent("ralph", "start")
    assert (refused.code, refused.says("run-nobody-said-what-is-wanted-and")) == (3, True)
    project.git("init", "-q")
    project.write("Makefile", "lint:\n\ttrue\n")
    project.commit()
    refused = project.agent("ralph", "start")
    assert (refused.code, refused.says("run-project-own-checks-pass-already-and")) == (3, True)
    assert project.agent("ralph", "status", "--json").json["run"] is None
    project.check("ralph", "start", "--request", "write the manual")


@pytest.mark.parametrize(
    ("items", "code", "said"),
    [
        ([{**criterion(1), "description": "the code is clean code"}], 2, "cannot be checked"),
        ([criterion(1, {"type": "path", "path": "value"})], 3, "C1: passes before the work"),
        ([{**criterion(1), "checks": []}], 2, "at least one check"),
    ],
)
def test_what_cannot_be_judged_is_refused_and_nothing_begins(
    project: Project, items: list[Any], code: int, said: str
) -> None:
    ran = project.agent("ralph", "start", "--criteria", criteria(project, *items), "--json")
    assert (ran.code, ran.json["ok"]) == (code, False)
    assert said in str(ran.json["error"]["details"])
    assert ran.json["error"]["fix"]
    assert project.agent("ralph", "status", "--json").json["run"] is None


def test_only_the_user_reduces_the_scope_and_every_report_shows_it(project: Project) -> None:
    reason = "a demonstration, nobody needs QA"
    name = criteria(project)
    refused = project.agent("ralph", "start", "--criteria", name, "--reduced-scope", reason)
    assert refused.code == 3
    assert f"--session {SESSION}" in refused.err
    ran = project.user("ralph", "start", "--criteria", name, "--reduced-scope", reason, "--session", SESSION)
    assert ran.code == 0
    assert reason in project.agent("ralph", "status").out
    assert project.agent("ralph", "status", "--json").json["reduced_scope"] == reason
    assert reason in project.agent("ralph", "artifacts").out


def test_a_reduced_scope_lets_every_phase_be_left_out_but_the_work(project: Project) -> None:
    name = criteria(project, criterion(1), criterion(2))
    less = ("--reduced-scope", "two text files, nobody needs QA")
    started = project.check("ralph", "start", "--criteria", name, *less, by="user", session=SESSION)
    assert started.says("run-user-lets-all-but-be-left", required="IMPL")
    refused = project.check("ralph", "judge", code=3).err
    assert texts.says(refused, "run-iteration-is-not-judged-did-not", missing="IMPL", attempts=1, most=3)
    project.write("done-1.txt")
    assert project.check("ralph", "judge", "--json", code=3).json["iteration"] == 1


def test_a_round_costs_two_calls(project: Project) -> None:
    """Agents, gates and the judge are seen; nothing is noted, copied or opened by hand."""
    project.prompt("/omo:pin build -- test -f done-1.txt")
    start(project)
    next_step = project.agent("next").out
    for phase in ("PLAN: let omo:planner", "IMPL: ", "VERIFY: let omo:qa", "REFINE: let omo:critic"):
        assert f"\n  {phase}" in next_step
    project.agent_ends("omo:planner")
    project.write("done-1.txt")
    project.agent_ends("omo:qa")
    asked = project.agent("ralph", "judge", "--no-refine", "one file, nothing to refine")
    assert (asked.code, asked.says("judge-start-with-brief", command="omo ralph brief; then omo ralph judge")) == (
        4,
        True,
    )
    assert project.agent("next").says("judge-start-with-brief")
    nonce = project.agent("ralph", "brief", "--json").json["nonce"]
    project.agent_ends("omo:judge", reply(nonce, answer("C2", result="fail", evidence="README.md names `2 of 3`")))
    ran = project.agent("ralph", "judge", "--json")
    assert (ran.code, ran.json["iteration"], ran.json["verdict"]) == (3, 1, "fail")
    assert [(entry["id"], entry["status"]) for entry in ran.json["criteria"]] == [("C1", "PASS"), ("C2", "FAIL")]
    assert ran.json["remaining"] == ["C2"]
    opened = rows(project)[-1]
    assert (opened["kind"], opened["iteration"]) == ("exec-delegated", 2)
    shown = project.agent("next").out
    assert texts.says(shown, "ralph-judge-saw", id="clear", text="README.md names `2 of 3`")
    assert "C1" not in shown
    assert project.agent("ralph", "judge").code == 3
    report = project.agent("report", "--md").out
    assert "**skipped phase** (ralph): round 1: REFINE was skipped: one file, nothing to refine" in report
    assert "**circumvention** (ralph): round 2: a verdict was asked for over phases that did not happen: PLAN" in report


def test_a_gate_that_fails_is_told_with_what_it_prints_and_counts_against_nobody(project: Project) -> None:
    project.prompt("/omo:pin build -- sh -c 'echo it is broken; test -f mended'")
    start(project)
    for agent in ("omo:planner", "omo:executor", "omo:qa", "omo:critic"):
        project.agent_ends(agent)
    refused = project.agent("ralph", "judge")
    assert refused.code == 3
    assert refused.says("run-iteration-is-not-judged-yet-its")
    assert refused.says("ralph-it-is-broken")
    project.write("mended")
    assert project.agent("ralph", "judge").code == 4
    assert "exec-circumvention" not in [row["kind"] for row in rows(project)]


def test_the_third_verdict_asked_for_over_missing_phases_ends_the_run(project: Project) -> None:
    start(project)
    for attempt in (1, 2):
        refused = project.check("ralph", "judge", code=3).err
        assert f"circumvention {attempt} of 3)" in refused
        assert next_stop(project) == "block"
    refused = project.check("ralph", "judge", code=3).err
    assert texts.says(refused, "run-iteration-is-not-judged-did-not-happen", attempts=3, number=3)
    told = project.check("ralph", "status", "--json").json
    assert (told["state"], told["circumventions"]) == ("ended: circumvented", 3)
    assert next_stop(project) == "done"
    again = project.check("ralph", "start", "--criteria", criteria(project), code=3).err
    assert texts.says(again, "ralph-end-your-turn-stop-shows-user")


def test_what_comes_and_goes_is_blocked_the_third_time_and_ends_the_run(project: Project) -> None:
    """Two files, of which one is there in each round: no criterion fails twice in a row."""
    name = criteria(project, criterion(1), criterion(2))
    less = ("--reduced-scope", "two text files, nobody needs QA", "--max-iterations", "9")
    project.check("ralph", "start", "--criteria", name, *less, by="user", session=SESSION)
    seen = []
    for number in (1, 2, 1, 2, 1, 2):
        (project.root / f"done-{3 - number}.txt").unlink(missing_ok=True)
        project.write(f"done-{number}.txt")
        project.agent("ralph", "judge")
        told = project.check("ralph", "status", "--json").json
        seen.append([each["status"] for each in told["criteria"]])
    assert seen[:2] == [["PASS", "FAIL"], ["REGRESSED", "PASS"]]
    assert seen[-2:] == [["PASS", "REGRESSED"], ["BLOCKED", "PASS"]]
    assert (told["state"], told["verdict"]) == ("ended: partial", "partial")


def test_a_criterion_that_holds_for_the_first_time_gives_the_blocks_back(project: Project) -> None:
    """What holds for the second time does not."""
    name = criteria(project, criterion(1), criterion(2))
    less = ("--reduced-scope", "two text files, nobody needs QA")
    project.check("ralph", "start", "--criteria", name, *less, by="user", session=SESSION)
    use_blocks(project, 3)
    project.write("done-1.txt")
    project.check("ralph", "judge", code=3)
    assert project.row()["ulw"]["stopBlocks"] == 0
    use_blocks(project, 3)
    project.write("beside.txt")
    project.check("ralph", "judge", code=3)
    assert project.row()["ulw"]["stopBlocks"] == 3


def test_a_pass_ends_with_a_receipt_and_lets_go(project: Project) -> None:
    start(project)
    judged(project, C1="pass", C2="pass")
    told = project.agent("ralph", "status", "--json").json
    assert (told["verdict"], told["decision"], told["state"]) == ("pass", "done", "ended: pass")
    assert set(told["receipt"]["criteria"]) == {"C1", "C2"}
    assert next_stop(project) == "done"
    assert project.agent("ralph", "judge").code == 3
    damage(ledger_of(project))
    told = project.agent("ralph", "status", "--json").json
    assert (told["state"], told["next"]["action"]) == ("damaged", "start")
    assert next_stop(project) == "done", "what is over stays so"


def test_the_last_iteration_is_a_forced_honest_stop(project: Project) -> None:
    start(project, "--max-iterations", "1")
    judged(project, C1="pass")
    told = project.agent("ralph", "status", "--json").json
    assert (told["verdict"], told["decision"], told["receipt"]) == ("fail", "safeguard", None)
    assert next_stop(project) == "done"
    assert "C2" in project.agent("ralph", "status").out


def test_the_criteria_are_those_of_the_start(project: Project) -> None:
    start(project)
    criteria(project, criterion(1, {"type": "path", "path": "value"}))
    told = project.agent("ralph", "status", "--json").json
    assert (told["ok"], told["iteration"], told["max_iterations"]) == (True, 1, 5)
    assert (told["verdict"], told["decision"], told["judged"]) == ("fail", "replan", False)
    keys = ("id", "status", "fail_count", "previous_status", "regressed_at_iteration")
    assert [tuple(one[key] for key in keys) for one in told["criteria"]] == [
        ("C1", "PENDING", 0, None, None),
        ("C2", "PENDING", 0, None, None),
    ]


def test_the_ledger_of_a_run_is_verified_with_the_sessions(project: Project) -> None:
    start(project)
    assert project.agent("ledger", "verify").code == 0
    ledger_of(project).write_text(ledger_of(project).read_text().replace("part 1", "part 9"))
    ran = project.agent("ledger", "verify", "--json")
    assert ran.code == 3
    assert [path for path, found in ran.json["ledgers"].items() if found] == [str(ledger_of(project))]
    told = project.agent("ralph", "status", "--json").json
    assert (told["state"], told["iteration"], told["verdict"], told["criteria"]) == ("damaged", None, None, [])
    assert told["problems"]
    refused = project.agent("ralph", "judge")
    assert (refused.code, "not even the beginning of its ledger is whole" in refused.err) == (3, True)
    again = project.agent("ralph", "start", "--criteria", criteria(project))
    assert "ended without a pass, and the user has not been shown it" in again.err
    project.stop()
    begun = project.check("ralph", "start", "--criteria", criteria(project))
    assert ": damaged" in begun.out


def test_a_run_whose_end_was_cut_off_is_carried_on_all_the_same(project: Project) -> None:
    start(project, "--max-iterations", "1")
    judged(project, C1="pass")
    project.stop()
    cut_last_row(project)
    begun = project.agent("ralph", "start", "--criteria", criteria(project, criterion(3)))
    assert "safeguard; 2 criteria were dropped (C1, C2)" in begun.out


def test_that_a_ledger_was_damaged_is_told_with_the_end(project: Project) -> None:
    start(project)
    judged(project, C1="pass")
    cut_last_row(project)
    judged(project, C1="pass", C2="pass")
    (let_through,) = project.summary("ralph")["outcome"]["exceptions"]
    assert texts.says(let_through["what"], "end-its-ledger-was-damaged-after", get=3)


def test_giving_up(project: Project) -> None:
    run = start(project).json["run"]
    assert project.agent("ralph", "abandon", "no").code == 2
    ran = project.agent("ralph", "abandon", "the user wants something else")
    assert ran.code == 0
    assert ran.says("run-user-is-shown-this-at-next")
    assert next_stop(project) == "done"
    assert rows(project)[-1]["kind"] == "ended"
    assert project.agent("ralph", "abandon", "the user wants something else").says(
        "ralph-ralph-run-ended-already-abandoned"
    )
    assert project.agent("ralph", "start", "--criteria", criteria(project)).says("ralph-end-your-turn-stop-shows-user")
    RalphProject(project.root, now=project.now).turn_ends(SESSION)
    ran = project.agent("ralph", "start", "--criteria", criteria(project, criterion(1)))
    assert "omo gate add NAME -- COMMAND" in ran.err
    for argv in (("status",), ("artifacts",)):
        assert "abandoned; 1 criterion was dropped (C2)" in project.agent("ralph", *argv).out, argv
    project.agent("ralph", "status", "--run", run)
    assert next_stop(project) == "block"


def test_an_agent_gives_up_only_its_own(project: Project) -> None:
    run = start(project).json["run"]
    for argv in (("judge",), ("abandon", "it is in my way here")):
        for named, why in (
            (("--run", run), "an agent acts only on its own"),
            (("--session", SESSION), "another session than this agent's own, other"),
        ):
            refused = project.omo("ralph", *argv, *named, by="user", env=OF_ANOTHER)
            assert (refused.code, why in refused.err) == (3, True), (argv, named)
    project.check("ralph", "abandon", "it is in my way here", "--run", run, "--session", SESSION, by="user")


def test_a_run_that_is_named_is_held_to_what_its_own_session_saw(project: Project) -> None:
    run = start(project).json["run"]
    project.agent_ends("omo:planner")
    own = project.agent("ralph", "artifacts", "--json").json
    assert "PLAN" not in own["missing"]
    assert project.omo("ralph", "artifacts", "--run", run, "--json", by="user", env=OF_ANOTHER).json == own
    refused = project.user("ralph", "judge", "--run", run, "--session", "other", "--json").json["error"]
    assert [line.split(":")[0] for line in refused["details"]] == own["missing"]


def test_a_run_that_nobody_knows_is_bad_input_and_a_known_one_is_named(project: Project) -> None:
    run = start(project).json["run"]
    for argv in (("status",), ("brief",), ("artifacts",), ("judge",)):
        ran = project.agent("ralph", *argv, "--run", "r1-mistyped", "--json")
        assert (ran.code, run in ran.json["error"]["fix"]) == (2, True)
    assert f"omo ralph judge --run {run}" in project.agent("ralph", "status", "--run", run).out
    assert f"omo ralph judge --run {run}" in project.agent("ralph", "brief", "--run", run).err


def test_without_a_run_every_verb_names_the_start(project: Project) -> None:
    for argv in (("judge",), ("brief",), ("artifacts",), ("abandon", "nothing to give up")):
        ran = project.agent("ralph", *argv)
        assert (ran.code, "omo ralph start" in ran.err) == (3, True), argv
    assert "omo ralph start" in project.agent("ralph", "status").out
    ran = project.agent("ralph", "start", "--criteria", "nowhere.json")
    assert (ran.code, "nowhere.json" in ran.err) == (2, True)


def ship_proof(project: Project) -> dict[str, str]:
    checks = project.agent("ralph", "artifacts", "--json").json["checks"]
    return {check["phase"]: f"{check['status']}: {check['proof']}" for check in checks}


def test_a_test_command_that_the_user_confirmed_is_not_pinned_once_more(project: Project) -> None:
    criteria(project, criterion(1, {"id": "t", "type": "command", "argv": ["test", "-f", "done.py"]}))
    project.prompt("/omo:ralph criteria.json")
    project.check("ralph", "start", "--criteria", "criteria.json")
    assert texts.situations(ship_proof(project)["SHIP"]) == {
        "ralph-no-gate-pinned-so-far",
        "run-judgement-runs-which-user-confirmed",
    }


def test_documentation_needs_no_gate(project: Project) -> None:
    project.commit()
    criteria(project, criterion(1, {"id": "t", "type": "content", "path": "README.md", "regex": "Usage"}))
    project.commit()
    project.check("ralph", "start", "--criteria", "criteria.json")
    assert texts.says(ship_proof(project)["SHIP"], "ralph-no-gate-pinned-in-session", state="missing")
    project.write("README.md", "# Usage\n")
    assert texts.situations(ship_proof(project)["SHIP"]) == {
        "ralph-no-gate-pinned-so-far",
        "run-only-documents-were-changed",
    }
    project.write("tool.py", "print(1)\n")
    assert ship_proof(project)["SHIP"].startswith("missing: ")
