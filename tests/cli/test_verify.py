"""`omo verify` from the agent's shell: file, begin, work, answer, finish; and Stop, which holds in between."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.hosts import claude
from omo.table import BY_KIND
from tests import texts
from tests.cli.sessions import next_stop
from tests.project import Project, Ran, damage
from tests.verify.workshop import Q3, SUMMARY, checklist, path_check, q1, q2

VERIFY = BY_KIND["verify"]
FINISH = ("verify", "finish", "G1", "--summary", SUMMARY)


def ledger_of(project: Project, goal: str = "G1") -> Path:
    return Path(VERIFY.directory(project.state), goal, "ledger.jsonl")


def add(project: Project, *more: str, **fields: Any) -> Ran:
    goal = {"id": "G1", "title": "Parser handles quotes", **fields}
    file = project.root.parent / f"{goal['id']}.json"
    file.write_text(json.dumps(goal), encoding="utf-8")
    return project.agent("verify", "add", "--file", str(file), "--json", *more)


def begin(project: Project, name: str = "G1") -> Ran:
    ran = project.agent("verify", "begin", name)
    assert ran.code == 0, ran.err
    return ran


def answer(project: Project, question: str, data: object, name: str = "G1") -> Ran:
    file = project.root.parent / "answer.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return project.agent("verify", "answer", name, "--question", question, "--file", str(file), "--json")


def test_a_refusal_names_a_page_that_is_there(project: Project) -> None:
    project.write("goal.yaml", "id: G1\ntitle: x\nverification: {checks: [{id: a, type: metric, argv: [sh, x]}]}\n")
    refused = project.check("verify", "begin", "--file", "goal.yaml", code=2)
    page = refused.err.partition("then the same again; ")[2].partition(" shows a whole goal")[0]
    assert page.endswith("verify.md")
    assert Path(page).is_file()


def test_a_goal_from_filing_to_completion(project: Project) -> None:
    assert (
        add(project, verification={"checks": [path_check(), "Is it readable?"]}).json["next"] == "omo verify begin G1"
    )
    begun = project.agent("verify", "begin", "G1", "--json")
    assert (begun.code, begun.json["verdict"], begun.json["flags"]) == (
        0,
        "fail",
        ["checks_failed", "has_string_checks"],
    )
    assert [step["name"] for step in begun.json["owed"]] == ["checks", "q1", "q1.5", "q2", "q3", "finish"]
    assert next_stop(project) == "block"
    project.write("parser.py", "def parse(text): return [text]\n")
    early = project.agent(*FINISH, "--json")
    assert (early.code, early.json["ok"], early.json["verdict"]) == (4, False, "unknown")
    for question, data in (("q1", q1()), ("q1.5", checklist()), ("q2", q2()), ("q3", Q3)):
        given = answer(project, question, data)
        assert (given.code, given.json["result"]) == (0, "ok"), given.out
    assert next_stop(project) == "block"
    done = project.agent(*FINISH, "--json")
    assert done.code == 0
    assert {key: done.json[key] for key in ("ok", "goal_completed", "parent_complete", "verdict", "unblocked")} == {
        "ok": True,
        "goal_completed": True,
        "parent_complete": False,
        "verdict": "pass",
        "unblocked": [],
    }
    assert next_stop(project) == "done"
    assert project.agent("verify", "status", "G1", "--json").json["status"] == "completed"


def test_the_only_goal_need_not_be_named_and_is_filed_as_it_is_begun(project: Project) -> None:
    missing = project.agent("verify", "begin")
    assert (missing.code, missing.says("verify-which-goal-is-meant-is-not")) == (2, True)
    assert missing.says("verify-none-is-open-omo-verify-begin")
    project.write(
        "../goal.json", json.dumps({"id": "G1", "title": "Parser", "verification": {"checks": [path_check()]}})
    )
    begun = project.agent("verify", "begin", "--file", "../goal.json")
    assert begun.says("verify-goal-filed-by", item="G1", filed_by="agent", state="pending", checks="1 check")
    assert begun.says("verify-goal-attempt-of", name="G1", what="begun", fail_count=1, most_rounds=3, title="Parser")
    project.write("parser.py", "def parse(text): return [text]\n")
    assert project.agent("verify", "begin").says("verify-goal-goes-on-attempt-of", name="G1")
    add(project, id="G2")  # only filed: the session is held to the other
    project.check("verify", "finish", "--summary", SUMMARY)
    assert project.agent("verify", "begin", "--json").json["goal"] == "G2"
    add(project, id="G3", verification={"checks": [path_check("more.py")]})
    begin(project, "G3")
    unclear = project.agent("verify", "finish", "--summary", SUMMARY)
    assert (unclear.code, "G2, G3" in unclear.err) == (2, True)


def test_a_goal_with_checks_alone_owes_no_answer(project: Project) -> None:
    add(project, verification={"checks": [path_check()]})
    begin(project)
    failed = project.agent(*FINISH, "--learned", "the file was never written", "--json")
    assert (failed.code, failed.json["verdict"], failed.json["attempts_left"]) == (3, "fail", 2)
    assert next_stop(project) == "block"
    assert "pending, failed" in project.agent("verify", "status").out
    again = begin(project)
    assert again.says("verify-failed-check", id="there")
    assert "(learned: the file was never written)" in again.out
    assert SUMMARY not in project.agent("verify", "status", "G1").out, "what it says is not so"
    assert "learned" not in project.agent(*FINISH).out
    assert SUMMARY not in begin(project).out
    project.write("parser.py", "x = 1\n")
    assert project.agent(*FINISH).says("verify-goal-now", verdict="pass", state="completed")


def test_a_goal_and_an_answer_from_stdin(project: Project) -> None:
    goal = "id: G1\ntitle: Parser handles quotes\nroutine: true\nblocked_by: null\n"
    assert project.agent("verify", "add", "--file", "-", stdin=goal).code == 0
    begin(project)
    project.write("parser.py", "def parse(text): return [text]\n")
    given = project.agent("verify", "answer", "G1", "--question", "q1", "--file", "-", stdin=json.dumps(q1()))
    assert (given.code, given.err) == (0, "")
    assert given.says("verify-of-goal", question="q1", name="G1", result="ok")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not usable YAML"),
        ("a: &x [1]\nb: *x\n", "anchors and aliases are not allowed"),
        ("a: [", "is not usable YAML"),
        ("[]", "not a goal"),
        ("id: G1\n", "title: is missing"),
    ],
)
def test_a_file_that_is_no_goal_is_refused_with_every_defect(project: Project, text: str, why: str) -> None:
    project.write("goal.yaml", text)
    ran = project.agent("verify", "add", "--file", "goal.yaml")
    assert (ran.code, why in ran.err) == (2, True)


def test_a_missing_file_and_an_unknown_goal_are_bad_input(project: Project) -> None:
    assert project.agent("verify", "add", "--file", "nowhere.yaml").code == 2
    assert project.agent("verify", "begin", "G1").says("run-there-is-no", unit="goal", name="'G1'")
    assert project.agent("verify", "answer", "G1", "--question", "q9", "--file", "-").code == 2


def test_a_refused_answer_exits_three_and_a_failing_one_too(project: Project) -> None:
    add(project)
    begin(project)
    project.write("parser.py", "x = 1\n")
    hedged = answer(project, "q1", {**q1(), "statement": "It might be done."})
    assert (hedged.code, hedged.json["error"]["code"]) == (3, "refused")
    assert hedged.json["error"]["fix"].startswith("omo verify answer G1 --question q1")
    answer(project, "q1", q1())
    failed = answer(project, "q1.5", {"items": [*checklist()["items"][:4], failing("Are escapes kept?", covered=True)]})
    assert (failed.code, failed.json["result"]) == (3, "failed")


def failing(question: str, *, covered: bool) -> dict[str, Any]:
    evidence = "read parser.py: it does nothing of the kind"
    return {
        "question": question,
        "dimension": "correctness",
        "result": "fail",
        "covered": covered,
        "evidence": evidence,
    }


def test_uncovered_failures_are_kept_and_shown_to_the_next_goal(project: Project) -> None:
    add(project, category="parser")
    begin(project)
    project.write("parser.py", "x = 1\n")
    answer(project, "q1", q1())
    items = [*checklist()["items"], failing("Is there a changelog entry?", covered=False)]
    assert answer(project, "q1.5", {"items": items}).json["missing_criteria"] == ["Is there a changelog entry?"]
    assert Path(project.state, "verify", "missing-verification-criteria.jsonl").exists()
    add(project, id="G2", category="parser")
    assert "G1 never asked: Is there a changelog entry?" in begin(project, "G2").out


def test_output_of_a_predecessor_is_shown_as_quoted_data(project: Project) -> None:
    add(project, verification={"checks": [path_check()]})
    add(project, id="G2", blocked_by="G1", depends_on=[{"goal_id": "G1", "expects": "the token type"}])
    assert project.agent("verify", "begin", "G2").says("verify-goal-is-blocked-by", name="G2", blocked="G1")
    begin(project)
    project.write("parser.py", "x = 1\n")
    assert project.agent(*FINISH, "--json").json["unblocked"] == ["G2"]
    begun = begin(project, "G2")
    assert begun.says("run-output-of-predecessors-data-not")
    assert f"  > {SUMMARY}" in begun.out
    assert "expected: the token type" in begun.out


def test_the_users_leg_is_visible_in_every_list(project: Project) -> None:
    block = {"outcomes": ["drafted", "user signs"], "outcomes_agent_leg": ["drafted"]}
    add(project, participants=["agent", "user"], verification=block)
    begin(project)
    project.write("parser.py", "a draft\n")
    assert answer(project, "agent-leg", {"outcomes": [{"outcome": "drafted", **q1()}]}).code == 0
    done = project.agent(*FINISH, "--json")
    assert (done.code, done.json["state"], done.json["goal_completed"]) == (0, "agent-leg-complete", False)
    assert next_stop(project) == "done"
    assert project.agent("verify", "status").says("verify-leg-left-for-the-user", goal="G1", what="user signs")
    leg = project.agent("verify", "status", "G1", "--json").json["users_leg"]
    assert leg == {"state": "pending", "outcomes": ["user signs"]}
    assert project.user(*FINISH).code == 0
    assert project.agent("verify", "status", "G1", "--json").json["status"] == "completed"


def test_streaks_and_unblocking_of_recurring_goals(project: Project) -> None:
    add(project, recurring=True, interval_hours=6, verification={"checks": [path_check()]})
    add(project, id="G2", blocked_by="G1", depends_on="G1")
    assert project.agent("verify", "status", "G1").says("verify-streaks", current=0, longest=0, achieved=0)
    project.write("parser.py", "x = 1\n")

    def streak() -> int:
        begin(project)
        finished = project.agent(*FINISH)
        assert (finished.code, "  streak " in finished.out) == (0, True)
        return int(project.agent("verify", "status", "G1", "--json").json["streak"]["current"])

    assert streak() == 1
    assert project.agent("verify", "status", "G2", "--json").json["inputs"][0]["summary"] == SUMMARY
    assert project.agent("verify", "begin", "G1").says("run-is-not-due-before")
    project.now += 12 * 3600 - 60
    assert streak() == 2
    project.now += 13 * 3600
    assert streak() == 1


def test_the_goal_file_is_not_part_of_the_work_and_an_answer_is_no_file_of_it(project: Project) -> None:
    project.write("base", "x\n")
    project.commit("base")
    scope = {"id": "fenced", "type": "scope", "touch": ["src/**"], "guard": True}
    goal = {"id": "G1", "title": "Parser handles quotes", "verification": {"checks": [scope, "Is it readable?"]}}
    project.write("goal.json", json.dumps(goal))
    assert project.agent("verify", "add", "--file", "goal.json").code == 0
    begin(project)
    project.write("src/parser.py", "def parse(text): return [text]\n")
    for question, data in (("q1", q1("src/parser.py")), ("q1.5", checklist()), ("q2", q2("src/parser.py")), ("q3", Q3)):
        project.write("src/answer.json", json.dumps(data))
        refused = project.agent("verify", "answer", "G1", "--question", question, "--file", "src/answer.json")
        assert (refused.code, "stdin" in refused.err) == (3, True)
        (project.root / "src" / "answer.json").unlink()
        assert answer(project, question, data).code == 0
    done = project.agent(*FINISH, "--json")
    assert (done.code, done.json["verdict"]) == (0, "pass"), done.out


def test_only_the_user_reopens(project: Project) -> None:
    add(project, max_retries=1, verification={"checks": [path_check()]})
    begin(project)
    failed = project.agent(*FINISH)
    assert (failed.code, failed.says("verify-attempts-left", goal="G1")) == (3, True)
    assert project.agent(*FINISH).says("run-only-user-can-open-it-again")
    assert next_stop(project) == "waiting"
    assert project.agent("next", "--json").json["next"]["command"] == "omo verify begin G1 --again WHY"
    project.check("verify", "begin", "G1", "--again", "a good reason", code=3)
    reopened = project.user("verify", "begin", "G1", "--again", "the disk was full")
    assert reopened.code == 0
    assert reopened.says("verify-goal-attempt-of", what="begun", fail_count=1, most_rounds=1)


def test_a_goal_whose_beginning_is_lost_ends_and_is_filed_anew(project: Project) -> None:
    add(project, max_retries=1, verification={"checks": [path_check()]})
    begin(project)
    journal = ledger_of(project)
    journal.write_text(journal.read_text().replace("quotes", "nothing"), encoding="utf-8")
    refused = project.agent(*FINISH)
    assert (refused.code, "goal G1 cannot go on" in refused.err) == (3, True), "its first row was edited"
    assert next_stop(project) == "done"
    assert not journal.exists()
    assert project.agent("verify", "status").says("verify-no-goal-is-filed")
    add(project, verification={"checks": [path_check()]})
    begin(project)
    assert next_stop(project) == "block"


def test_the_end_names_a_ledger_that_was_damaged(project: Project) -> None:
    add(project, verification={"checks": [path_check()]})
    begin(project)
    journal = ledger_of(project)
    with journal.open("a") as ledger:
        ledger.write('{"kind": "finished", "goal": "G1", "state": "completed"}\n')
    project.write("parser.py", "x = 1\n")
    finished = project.agent(*FINISH, "--json").json
    (exception,) = finished["outcome"]["exceptions"]
    assert texts.says(exception["what"], "end-its-ledger-was-damaged-after")


def test_a_hand_written_result_is_worth_nothing(project: Project) -> None:
    add(project, verification={"checks": [path_check()]})
    begin(project)
    journal = ledger_of(project)
    forged = {"seq": 4, "kind": "finished", "goal": "G1", "verdict": "pass", "to": "completed"}
    with journal.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**forged, "ts": "2026-02-22T17:20:01Z", "summary": "", "reason": ""}) + "\n")
    refused = project.agent(*FINISH)
    assert (refused.code, "0 found, 1 needed: parser.py" in refused.out) == (3, True)


def test_begin_outside_a_session_says_that_nothing_is_held(project: Project) -> None:
    add(project)
    begun = project.user("verify", "begin", "G1")
    assert (begun.code, begun.says("verify-no-session-is-meant-so-no")) == (0, True)
    assert begun.says("verify-q3-asked-never-gates", goal="G1")


def test_status_reads_and_writes_nothing(project: Project) -> None:
    add(project)
    begin(project)
    before = {path: path.read_bytes() for path in Path(project.state).rglob("*.json*") if path.is_file()}
    for _ in range(3):
        project.agent("verify", "status")
        project.agent("verify", "status", "G1")
    assert {path: path.read_bytes() for path in before} == before


def test_a_begun_goal_is_changed_by_the_user_alone(project: Project) -> None:
    add(project, verification={"checks": [path_check()]})
    begin(project)
    more = {"checks": [path_check(), path_check("other.py", "other")]}
    refused = add(project, verification=more)
    assert (refused.code, refused.says("run-file-what-is-missing-under-another")) == (3, True)
    same = add(project, verification={"checks": [path_check()]})
    assert (same.code, same.json["status"], same.json["pinned"]) == (0, "in-progress", [])
    add(project, id="G2", verification=more)
    assert project.user("verify", "add", "--file", str(project.root.parent / "G1.json")).code == 0


def test_what_is_not_in_progress_is_not_sent_to_a_begin_that_refuses_too(project: Project) -> None:
    add(project, verification={"checks": [{"type": "path", "path": "parser.py"}]})
    add(project, id="G2", blocked_by=["G1"])
    assert "omo verify begin G1" in project.check("verify", "brief", "G1", code=3).err
    assert "omo verify status G2" in project.check("verify", "brief", "G2", code=3).err
    begin(project)
    project.write("parser.py")
    project.check(*FINISH)
    assert "omo verify status G1" in project.check("verify", "brief", "G1", code=3).err


def test_the_list_shows_every_override_with_or_without_a_goal(project: Project) -> None:
    claim = ("verify", "claim", "--contains", "x", "--in", "nowhere.py", "--override", "it is built at run time")
    assert project.agent(*claim).code == 0
    shown = project.agent("verify", "status").out
    assert shown.startswith(
        "No goal is filed. omo verify add --file GOAL\noverride of no goal: it is built at run time"
    )
    add(project)
    assert project.agent(*claim, "--goal", "G1").code == 0
    assert project.agent("verify", "claim", "--absent", "nowhere.py").code == 0, "which is no override"
    listed = project.agent("verify", "status")
    assert listed.says("verify-override-of-no-goal")
    assert "override of G1: " in listed.out
    rows = project.agent("verify", "status", "--json").json["overrides"]
    assert [row["goal"] for row in rows] == [None, "G1"]


def test_a_predecessor_nobody_filed_is_noted_and_a_circle_refused(project: Project) -> None:
    noted = add(project, blocked_by="G0", depends_on=["G7", "G0"])
    assert (noted.code, "G0, G7" in noted.err) == (0, True)
    circle = add(project, id="G7", blocked_by="G1")
    assert (circle.code, "G7 → G1 → G7" in circle.json["error"]["message"]) == (3, True)


LOOK = """
import collections, sys
opened = collections.Counter()

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].endswith((".jsonl", "mark.json")):
        opened[arguments[0]] += 1

sys.addaudithook(watch)
sys.path.insert(0, sys.argv[2])
from omo.cli.main import main
main(["verify", "status", "G1"], {}, sys.argv[1], 1771780900.0, has_terminal=False)
print("pydantic" in sys.modules, sorted(opened.values()), file=sys.stderr)
"""


def test_a_look_opens_each_file_once_and_loads_no_models(project: Project) -> None:
    add(project, verification={"checks": [path_check()]})
    begin(project)
    assert project.agent("verify", "claim", "--absent", "old.py", "--goal", "G1").code == 0
    argv = [sys.executable, "-c", LOOK, str(project.root), str(Path(claude.__file__).parents[2])]
    ran = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert "in-progress" in ran.stdout
    # Each open of a file is told twice: as the descriptor is made, and as Python wraps it.
    assert ran.stderr.splitlines()[-1] == "False [2, 2, 2, 2]"


def test_checks_that_failed_before_the_work_are_not_owed_after_it(project: Project) -> None:
    add(project, hypothesis="H1", verification={"checks": [path_check()]})
    begin(project)
    assert "checks" in project.summary("verify")["next"]
    project.write("parser.py", "def parse(text): return [text]\n")
    told = project.agent("verify", "status", "G1")
    assert not told.says("ulw-mend-what-they-say-then-omo")
    assert told.says("verify-finish-owed-with-result")
    assert "omo verify finish G1 --summary TEXT --hypothesis-result RESULT" in project.agent("next").out
    assert project.agent(*FINISH, "--hypothesis-result", "Confirmed").code == 0, "in any case of letters"


def test_a_goal_that_failed_and_that_the_user_filed_anew_still_holds(project: Project) -> None:
    for file in ("parser.py", "other.py"):
        goal = {"id": "G1", "title": "Parser handles quotes", "verification": {"checks": [path_check(file)]}}
        project.write("goal.json", json.dumps(goal))
        project.prompt("/omo:verify goal.json")
        project.check("verify", "add", "--file", "goal.json")
        if file == "parser.py":
            begin(project)
            project.check(*FINISH, code=3)
    assert next_stop(project) == "block"
    assert "omo verify begin G1" in project.agent("next").out


def test_a_recurring_goal_whose_hypothesis_was_confirmed_does_not_wait_for_it(project: Project) -> None:
    add(project, hypothesis="H1", recurring=True, verification={"checks": [path_check()]})
    begin(project)
    project.write("parser.py", "x = 1\n")
    project.check(*FINISH, "--hypothesis-result", "confirmed")
    assert next_stop(project) == "done"


def test_the_only_goal_that_another_conversation_has_begun_need_not_be_named(project: Project) -> None:
    add(project, verification={"checks": [path_check()]})
    begin(project)
    resumed = project.check("verify", "begin", session="later")
    assert resumed.says("verify-goal-goes-on-attempt-of", name="G1")
    assert next_stop(project, session="later") == "block"


def test_a_goal_that_is_named_beside_the_file_of_another_is_not_passed_over(project: Project) -> None:
    add(project, id="G2", verification={"checks": [path_check("more.py")]})
    project.write("../goal.json", json.dumps({"id": "G1", "title": "Parser"}))
    refused = project.check("verify", "begin", "G2", "--file", "../goal.json", code=2)
    assert refused.says("verify-is-goal-and-is-named", file="../goal.json", item="G1", named="G2")
    assert [goal["goal"] for goal in project.agent("verify", "status", "--json").json["goals"]] == ["G2"]
    project.check("verify", "begin", "G1", "--file", "../goal.json")


def test_what_is_in_progress_is_not_opened_again(project: Project) -> None:
    add(project, verification={"checks": [path_check()]})
    begin(project)
    again = ("verify", "begin", "G1", "--again", "it was not what I meant")
    assert project.check(*again, code=3).says("run-again-is-user-to-say")
    assert project.check(*again, code=3, by="user").says("ultragoal-goal-is", status="in progress")


@pytest.mark.parametrize("named", [(), ("G1",)])
def test_a_damaged_journal_is_not_called_one_without_goals(project: Project, named: tuple[str, ...]) -> None:
    add(project, verification={"checks": [path_check()]})
    damage(ledger_of(project))
    refused = project.check("verify", "status", *named, code=3)
    assert "goal G1 cannot go on: not even the beginning of its ledger is whole" in refused.err


def test_a_goal_that_was_filed_and_never_begun_is_named_at_the_end(project: Project) -> None:
    add(project, id="G2", verification={"checks": [path_check("more.py")]})
    add(project, verification={"checks": [path_check()]})
    begin(project)
    project.write("parser.py", "x = 1\n")
    project.check(*FINISH)
    assert "; filed and not begun: G2" in project.stop().message


def test_a_goal_that_is_met_after_another_is_not_called_open(project: Project) -> None:
    add(project, id="G2", verification={"checks": [path_check()]})
    add(project, verification={"checks": [path_check()]})
    begin(project)
    project.write("parser.py", "x = 1\n")
    project.check(*FINISH)
    project.check("verify", "begin", "G2")
    project.check("verify", "finish", "G2", "--summary", "it is there")
    told = project.stop().message
    assert "G2" in told
    assert "not begun" not in told


def test_an_answer_in_a_file_that_is_not_there_is_not_called_a_file_of_the_project(project: Project) -> None:
    add(project)
    begin(project)
    refused = project.check("verify", "answer", "--question", "q1", "--file", "nowhere.json", code=2)
    assert refused.says("ultraplan-cannot-be-read-no-such-file", path2="b/nowhere.json")


def test_a_goal_that_is_filed_and_begun_at_once_runs_its_checks_once(project: Project) -> None:
    check = {"id": "tests", "type": "command", "argv": ["sh", "-c", "echo ran >> ../runs; exit 1"]}
    project.write("G1.json", json.dumps({"id": "G1", "title": "A file", "verification": {"checks": [check]}}))
    assert project.check("verify", "begin", "--file", "G1.json").says("verify-check-fails-exit", gate="tests", number=1)
    runs = project.root.parent / "runs"
    assert runs.read_text() == "ran\n"
    project.check("verify", "begin", "G1")
    assert runs.read_text() == "ran\nran\n"
    other = {"id": "G2", "title": "A file", "verification": {"checks": [check]}}
    project.write("G2.json", json.dumps(other))
    project.check("verify", "add", "--file", "G2.json")
    project.commit("the base of the pin is the commit before this one")
    project.write("G2.json", json.dumps({**other, "title": "Another title"}))
    project.check("verify", "begin", "--file", "G2.json")
    assert runs.read_text() == "ran\n" * 5, "the second time on the base of its pin"


def test_a_goal_that_the_user_names_while_another_is_under_way_holds_the_session(project: Project) -> None:
    for name, path in (("G1", "parser.py"), ("G2", "more.py")):
        goal = {"id": name, "title": "A file", "verification": {"checks": [path_check(path)]}}
        project.write(f"{name}.json", json.dumps(goal))
    project.prompt("/omo:verify G1.json")
    project.check("verify", "begin", "--file", "G1.json")
    project.prompt("/omo:verify G2.json")
    project.write("parser.py", "x = 1\n")
    project.check("verify", "finish", "G1", "--summary", SUMMARY)
    assert "the user named G2.json, and nothing of it" in project.stop().json["reason"]
    assert "$ omo verify begin --file G2.json" in project.check("next").out
    project.check("verify", "begin", "--file", "G2.json")
    project.write("more.py", "x = 2\n")
    project.check("verify", "finish", "G2", "--summary", SUMMARY)
    told = project.stop().message
    assert "goal G2" in told
    assert "named" not in told


def test_a_goal_that_the_agent_had_to_mend_is_begun_all_the_same(project: Project) -> None:
    project.write("G1.json", "{")
    project.prompt("/omo:verify G1.json")
    goal = {"id": "G1", "title": "A file", "verification": {"checks": [path_check()]}}
    project.write("G1.json", json.dumps(goal))
    project.check("verify", "begin", "--file", "G1.json")
    project.write("parser.py", "x = 1\n")
    project.check(*FINISH)
    assert "goal G1" in project.stop().message
