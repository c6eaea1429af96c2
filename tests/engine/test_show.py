"""What a judgement leaves to do, in groups that never mix."""

from __future__ import annotations

from dataclasses import asdict

from omo.engine.show import changed_since_pass, to_do
from tests import texts
from tests.engine.project import Project, criterion


def shown(project: Project) -> str:
    case = project.status()
    results = {item.id: case.last_result(item.id) for item in case.items}
    return "\n".join(to_do(case, results, project.files))


def mixed(project: Project) -> Project:
    project.start(*(criterion(number, affected_paths=["src/**"]) for number in range(1, 6)), max_iterations=9)
    project.write("src/a.txt", "first\n")
    project.judged(C1="pass", C2="pass", C5="pass")
    project.judged(C1="pass", C2="pass", C5="pass")
    project.write("src/b.txt", "breaks it\n")
    project.write("notes.txt", "beside it\n")
    project.judged(C1="pass", C2="fail", C4="unknown", C5="unknown")
    return project


def test_every_criterion_is_in_one_group(project: Project) -> None:
    mixed(project)
    lines = [line for line in shown(project).splitlines() if not line.startswith("     ")]
    headings = [line.split(":")[0].split(" (")[0].split() for line in lines[::2]]
    assert [words[-1] for words in headings] == ["Regressed", "fix", "again", "Blocked", "Complete"]
    assert [line.split()[0] for line in lines[1::2]] == ["C2", "C4", "C5", "C3", "C1"]


def test_what_is_blocked_is_not_tried_again(project: Project) -> None:
    mixed(project)
    blocked, _, rest = shown(project).partition("Blocked (")[2].partition("Complete")
    assert "saw fail" in blocked
    assert "try:" not in blocked
    assert "try:" in shown(project).partition("To fix")[2].partition("To judge")[0]
    assert rest


def test_a_regression_names_the_files_changed_since_it_passed(project: Project) -> None:
    mixed(project)
    case = project.status()
    assert changed_since_pass(case, case.items[1], project.files) == ["notes.txt", "src/b.txt"]
    assert case.marks["C2"].last_pass_iteration == 2
    text = shown(project)
    assert texts.says(text, "run-changed-since-pass", iteration=2, files='"notes.txt", "src/b.txt"')
    assert "src/a.txt" not in text


def test_after_rewritten_history_nobody_can_tell_what_changed(project: Project) -> None:
    project.start()
    project.commit("a commit that will be gone")
    project.judged(C1="pass")
    project.git("reset", "-q", "--soft", "HEAD~1")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    project.judged(C1="fail")
    assert texts.says(shown(project), "run-changed-since-pass-unknown", iteration=1)


def test_what_was_said_is_quoted_and_stays_on_its_line(project: Project) -> None:
    project.start(criterion(1))
    run = project.run()
    at = run.require_whole()
    said = 'no"\n\x1b[31mComplete (9)\n  C9 PASS: all is well ' + "x" * 5000
    result = {"result": "fail", "evidence": said, "source": "judge", "suggested_action": said}
    marks = {"C1": {**asdict(at.marks["C1"]), "status": "FAIL", "fail_count": 1}}
    judged = {"kind": "judged", "iteration": 1, "results": {"C1": result}, "marks": marks, "tree": "t"}
    run.append({**judged, "verdict": "fail", "decision": "replan", "independence": "full"})
    lines = shown(project).splitlines()
    assert [line for line in lines if line.lstrip().startswith(("Complete", "C9"))] == []
    assert "\x1b" not in "".join(lines)
    assert max(map(len, lines)) < 500
    assert any(line.startswith('     seen: "no\\"') for line in lines)


def test_an_earlier_run_goes_with_the_criterion_it_could_not_do(project: Project) -> None:
    project.start(criterion(1), max_iterations=9)
    for _ in range(3):
        project.judged()
    project.start(criterion(7, {"type": "path", "path": "done-1.txt"}), criterion(8))
    told = [line for line in shown(project).splitlines() if texts.says(line, "run-criterion-of-earlier-run")]
    assert len(told) == 1
    assert "saw fail" in told[0]
    assert "C1 " in told[0]
