"""What a goal rests on: statements and outcomes that were looked at, and a judge that was heard."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import Any

import pytest

from tests import texts
from tests.cli.test_verify import FINISH, add, answer, begin
from tests.project import Project, Ran
from tests.verify.workshop import SUMMARY, checklist, path_check, q1, q2

UNITTEST = ["python3", "-B", "-m", "unittest", "test_x"]
A_TEST = "import unittest\n\n\nclass X(unittest.TestCase):\n    def test_x(self):\n        {}\n"
TESTS = {"id": "tests", "type": "command", "argv": UNITTEST}
OUTCOMES = ["all tests pass", "docs are updated", "changelog has an entry"]


@pytest.fixture
def begun(project: Project) -> Project:
    """A goal with a question in words beside a test that fails, begun, and a note written instead of the work."""
    project.write("test_x.py", A_TEST.format("self.fail()"))
    add(project, verification={"checks": [TESTS, "Is quoted text one token?"]})
    begin(project)
    project.write("parser.py", "def parse(text): return [text]\n")
    return project


def said(statement: str) -> dict[str, Any]:
    return {**q1(), "statement": f"Quoted text is one token because {statement}"}


def told(ran: Ran) -> str:
    error = ran.json["error"]
    return "\n".join([error["message"], *error.get("details", [])])


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("`banana`.", "nothing after"),
        ("'yes'.", "nothing after"),
        ("412 tests passed.", "nothing after"),
        ("commit deadbeef1 holds it.", "no commit of that name"),
        ("src/nope.py is fine.", "src/nope.py is cited, and is not there"),
        ("`nope.py` was opened.", "nope.py is cited, and is not there"),
        ("see `logs/none.txt`.", "logs/none.txt is cited, and is not there"),
        ("`.sisyphus/cc-omo/runtime.local.json` says so.", "is cited, and is not there"),
        (f"`{shlex.join(UNITTEST)}` exits 0.", "was run: exit 1, not 0, FAILED"),
        (f"`{shlex.join(UNITTEST)}` was run.", "was run: exit 1, not 0, FAILED"),
    ],
)
def test_what_a_statement_cites_is_looked_at(begun: Project, statement: str, why: str) -> None:
    refused = answer(begun, "q1", said(statement))
    assert refused.code == 3
    assert why in told(refused)


def commit_all(project: Project) -> str:
    moment = f"@{int(project.now)}"
    dated = {**os.environ, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "add", "-A"], cwd=project.root, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "a"], cwd=project.root, check=True, env=dated)
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.run(head, cwd=project.root, capture_output=True, text=True, check=True).stdout.strip()


def test_what_is_as_cited_is_accepted(begun: Project) -> None:
    commit = commit_all(begun)[:12]
    statement = f"`{shlex.join(UNITTEST)}` exits 1, as commit {commit} has it, and parser.py:1 was read."
    given = answer(begun, "q1", said(statement))
    assert (given.code, given.json["cited_not_looked_at"]) == (0, []), given.out


def test_a_command_that_nobody_pinned_is_told_as_not_looked_at(begun: Project) -> None:
    given = answer(begun, "q1", said("`python3 -c pass` exits 0."))
    assert (given.code, given.json["cited_not_looked_at"]) == (0, ["python3 -c pass"])
    begun.write("test_x.py", A_TEST.format("pass"))
    assert answer(begun, "q1", said("`python3 -c pass` exits 0.")).code == 0
    answer(begun, "q1.5", checklist())
    answer(begun, "q2", q2())
    why = begun.agent(*FINISH, "--json").json["outcome"]["why"]
    assert texts.says(why, "run-closed-on-agent-own-answers")
    assert texts.says(why, "work-cited-and-not-looked-at", fromkeys="python3 -c pass")


def test_a_gate_of_the_session_that_is_cited_is_run(begun: Project) -> None:
    begun.agent("gate", "add", "look", "--", "test", "-f", "NOTES")
    assert texts.says(
        told(answer(begun, "q1", said("`test -f NOTES` exits 0."))),
        "work-of-goal-cites-what-is-not-so",
        problem="exit 1, not 0",
    )
    begun.write("NOTES", "x\n")
    assert answer(begun, "q1", said("`test -f NOTES` exits 0.")).code == 0


@pytest.mark.parametrize("field", ["how", "failure_mode"])
def test_how_and_failure_mode_are_statements_like_any_other(begun: Project, field: str) -> None:
    answer(begun, "q1", q1())
    text = "parser.py does not exist in the built package"
    assert texts.says(
        told(answer(begun, "q2", q2(**{field: text}))), "verify-absence-unknown-no-claim-was-filed", text="not exist"
    )
    assert begun.agent("verify", "claim", text, "--goal", "G1", "--absent", "dist/parser.py").code == 0
    assert answer(begun, "q2", q2(**{field: text})).code == 0


def test_how_and_a_checklist_may_not_hedge_nor_cite_what_is_not_there(begun: Project) -> None:
    answer(begun, "q1", q1())
    assert "hedges" in told(answer(begun, "q2", q2(how="ran it, and it seems to work")))
    assert texts.says(
        told(answer(begun, "q2", q2(how="opened dist/report.html and read it"))), "work-of-goal-cites-what-is-not-so-is"
    )
    items = checklist()["items"]
    items[0]["evidence"] = "src/nope.py line 4 defines it"
    assert "src/nope.py is cited" in told(answer(begun, "q1.5", {"items": items}))


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        ("report.md contains '99 routes' and parser.py does not exist", "(absence)"),
        ("parser.py contains '99 routes'", "(file state)"),
        ("parser.py is whole since deadbeef1", "no commit of that name"),
    ],
)
def test_a_false_summary_is_not_handed_on(project: Project, summary: str, why: str) -> None:
    add(project, verification={"checks": [path_check()]})
    begin(project)
    project.write("parser.py", "x = 1\n")
    finish = project.agent("verify", "finish", "G1", "--summary", summary, "--json")
    assert finish.code == 3
    assert why in told(finish)


def test_outcomes_are_looked_at_beside_checks(project: Project) -> None:
    add(project, verification={"checks": [path_check("marker")], "outcomes": OUTCOMES})
    begin(project)
    project.write("marker", "x\n")
    early = project.agent(*FINISH, "--json")
    assert (early.code, "outcomes owed" in early.json["reason"]) == (4, True)
    statements = []
    for text in OUTCOMES:
        statements.append({"outcome": text, "statement": f"It is so that {text} because `marker` was read."})
    assert "nothing for 'docs are updated'" in told(answer(project, "outcomes", {"outcomes": statements[:1]}))
    assert answer(project, "outcomes", {"outcomes": statements}).code == 0
    done = project.agent(*FINISH, "--json").json
    assert done["outcome"]["verdict"] == "attested"
    assert texts.says(done["outcome"]["why"], "run-closed-on-agent-own-answers", outcomes="3 outcomes")


def test_a_commit_of_this_attempt_is_an_artifact(project: Project) -> None:
    """What was taken out leaves no file to show."""
    project.write("old.py", "x = 1\n")
    before = commit_all(project)
    for name in ("G1", "G2"):
        add(project, id=name)
    project.now += 10
    for name in ("G1", "G2"):
        begin(project, name)
    (project.root / "old.py").unlink()
    commit = commit_all(project)
    statement = f"The old module is gone because {commit[:10]} takes out old.py."
    assert texts.says(
        told(answer(project, "q1", {"artifact": before, "statement": statement})),
        "verify-artifact-commit-is-older-than-goal",
    )
    given = answer(project, "q1", {"artifact": commit, "statement": statement})
    assert (given.code, list(given.json["artifacts"])) == (0, [commit]), given.out
    other = {"artifact": commit, "statement": f"The module is gone as well because {commit[:10]} takes out old.py."}
    assert texts.says(
        told(answer(project, "q1", other, "G2")), "verify-artifact-commit-already-proves-goal", other="G1"
    )
    report = project.check("report", "--md").out
    assert commit in report
    assert "vidence changed" not in report, "a commit is no file that could be gone"


# An independent judge


def judge_says(project: Project, brief: str, result: str = "pass", evidence: str = "`parse` gives one token") -> None:
    form = json.loads(brief[brief.index("```json") + 7 : brief.rindex("```")])
    for each in form["answers"]:
        each.update(result=result, evidence=evidence, suggested_action="")
    project.agent_ends("omo:judge", json.dumps({**form, "challenges": []}))


def judged_goal(project: Project, *, by: str = "user") -> str:
    """A goal that only judgement can settle, begun and worked on: what the judge is asked."""
    question = {"id": "whole", "type": "judge", "question": "Is quoted text one token?"}
    goal = {"id": "G1", "title": "Quotes", "verification": {"checks": [question], "outcomes": ["quotes are kept"]}}
    file = project.root.parent / "G1.json"
    file.write_text(json.dumps(goal), encoding="utf-8")
    run = project.user if by == "user" else project.agent
    assert run("verify", "add", "--file", str(file)).code == 0
    begin(project)
    project.write("parser.py", "def parse(text): return [text]\n")
    return str(project.agent("verify", "brief", "G1", "--json").json["brief"])


def test_an_independent_agent_answers_what_only_judgement_can(project: Project) -> None:
    brief = judged_goal(project)
    assert "question whole: Is quoted text one token?" in brief
    assert texts.says(brief, "verify-outcome-as-question", number=1)
    judge_says(project, brief)
    done = project.agent(*FINISH, "--json")
    assert (done.code, done.json["outcome"]["verdict"]) == (0, "judged"), done.out
    assert texts.says(done.json["outcome"]["why"], "verify-goal-of-check-passes", id="G1", number=1, number2=1)
    assert texts.says(done.json["outcome"]["why"], "run-omo-judge-was-seen-to", questions="2 questions")


def test_a_judge_of_the_agents_own_questions_makes_nothing_more_than_its_word(project: Project) -> None:
    judge_says(project, judged_goal(project, by="agent"))
    assert project.agent(*FINISH, "--json").json["outcome"]["verdict"] == "attested"


def test_what_the_judge_found_broken_fails_the_goal_and_is_not_asked_again(project: Project) -> None:
    judge_says(project, judged_goal(project), "fail", "`split` gives two tokens")
    assert project.agent("verify", "brief", "G1").says("run-omo-judge-has-judged-exactly-these")
    for question, data in (("q1", q1()), ("q1.5", checklist()), ("q2", q2())):
        answer(project, question, data)
    done = project.agent(*FINISH, "--json")
    assert (done.code, "judge: whole: `split` gives two tokens" in done.json["reason"]) == (3, True)


def test_files_changed_after_the_judge_failed_them_end_with_an_exception(project: Project) -> None:
    judge_says(project, judged_goal(project), "fail", "`split` gives two tokens")
    project.write("parser.py", "def parse(text): return [text] if text else []\n")
    for question, data in (("q1", q1()), ("q1.5", checklist()), ("q2", q2())):
        assert answer(project, question, data).code == 0
    ended = project.agent(*FINISH, "--json").json["outcome"]
    assert ended["verdict"] == "waived"
    assert texts.says(ended["exceptions"][0]["what"], "run-omo-judge-found-that-it")


def test_an_answer_of_the_judge_in_another_form_is_called_so(project: Project) -> None:
    form = json.loads(judged_goal(project).split("```json")[1].rpartition("```")[0])
    answers = [{"id": each["check"], "result": "pass", "evidence": "`parse` was run"} for each in form["answers"]]
    project.agent_ends("omo:judge", json.dumps({**form, "answers": answers}))
    assert project.agent("verify", "status", "G1").says("judge-answers-names-no-criterion-and", index=0)


def test_a_judge_that_saw_other_files_settles_nothing(project: Project) -> None:
    judge_says(project, judged_goal(project))
    project.write("parser.py", "nothing\n")
    early = project.agent(*FINISH, "--json")
    assert (early.code, "q1 owed" in early.json["reason"]) == (4, True)
    brief = project.agent("verify", "brief", "G1", "--json").json["brief"]
    judge_says(project, brief)
    assert project.agent(*FINISH, "--json").json["outcome"]["verdict"] == "judged"


def test_nobody_else_speaks_for_the_judge(project: Project) -> None:
    brief = judged_goal(project)
    forged = brief.replace("pass | fail | unknown", "pass")
    project.agent_ends("omo:executor", forged)
    assert project.agent(*FINISH, "--json").code == 4


def test_the_judge_is_asked_three_times_at_most_and_only_what_code_cannot_tell(project: Project) -> None:
    first = judged_goal(project)
    assert project.agent("verify", "brief", "--json").json["brief"] == first  # unanswered, it is the same
    for number in range(2):
        project.write(f"more-{number}.txt")
        assert project.agent("verify", "brief", "G1").code == 0
    project.write("more.txt")
    assert project.agent("verify", "brief", "G1").says("run-omo-judge-was-asked-times-in", asked=3)
    add(project, id="G2", verification={"checks": [path_check("more.py")]})
    begin(project, "G2")
    assert project.agent("verify", "brief", "G2").says("run-code-evaluates-all-that-asks-for")


# What other workflows hand on


@pytest.mark.parametrize(
    ("because", "why"),
    [
        ("docs/report.md lists all routes", "docs/report.md is cited, and is not there"),
        ("`test -f NOTES` exits 0, as pinned", "was run: exit 1"),
    ],
)
def test_the_last_word_of_ultrawork_is_looked_at(project: Project, because: str, why: str) -> None:
    project.agent("ulw", "start")
    project.agent("gate", "add", "notes", "--", "test", "-f", "NOTES")
    refused = project.agent("ulw", "done", "--because", because, "--skip-verification", "it is only a note", "--json")
    assert (refused.code, why in told(refused)) == (3, True), refused.out


@pytest.mark.parametrize(
    "because",
    [
        "old.py does not exist any more",
        "I think it should work on every machine",
        "config.yaml contains the port",
    ],
)
def test_words_alone_hold_up_no_end_of_ultrawork_and_make_it_no_better(project: Project, because: str) -> None:
    project.write("config.yaml", "port: 80\n")
    project.agent("ulw", "start")
    done = project.agent("ulw", "done", "--because", f"{because}, as `python3 -c pass` shows", "--json")
    assert (done.code, done.json["outcome"]["verdict"]) == (0, "attested")
    assert "python3 -c pass" in done.json["outcome"]["why"]
    assert texts.says(done.json["outcome"]["why"], "work-cited-and-not-looked-at")


# After a compaction


def test_outcomes_open_questions_and_reasons_survive_a_compaction(project: Project) -> None:
    add(project, verification={"outcomes": ["quoted text is one token"]})
    begin(project)
    project.write("parser.py", "x = 1\n")
    answer(project, "q1", q1())
    assert "q1 done (parser.py: The parser is in place because" in project.agent("verify", "status", "G1").out
    assert "q1 done (parser.py: The parser is in place because" in project.agent("next").out
    failing = {"question": "Are escapes kept?", "dimension": "correctness", "result": "fail", "covered": True}
    answer(project, "q1.5", {"items": [*checklist()["items"][:4], {**failing, "evidence": "read it: they are not"}]})
    assert project.hook("session-start", source="compact").says_to_agent("prompt-the-user-can-end-it")
    text = project.agent("next").out
    for part in ("Parser handles quotes", "q1.5 failed (the goal's own criteria fail: Are escapes kept?)"):
        assert part in text
    assert "outcome: quoted text is one token" in text
    assert SUMMARY not in text
