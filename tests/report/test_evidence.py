"""What stands behind goals, criteria and steps, for the workflows that have questions, judges and critics."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from omo.context import Context
from omo.state import ownership
from omo.state.journal import Journal
from omo.views.report import gather as whole
from omo.views.report import markdown
from omo.views.report.gather import Report
from omo.workflows.ultraplan import critique
from tests import texts
from tests.engine import project
from tests.project import believe
from tests.report import hostile
from tests.ultraplan import plans, repos
from tests.ultraplan import project as ultraplan
from tests.verify import workshop


def gathered(root: Path, now: float, session: str = "s1") -> Report:
    return whole.gather(Context({}, str(root), now + 5), session)


def test_the_judges_own_words_are_shown_and_its_doubts_are_in_plain_sight(tmp_path: Path) -> None:
    at = project.asked(tmp_path, by="user")
    doubt = {"criterion": "C1", "text": "a README can name what is not there"}
    at.says(("C1", "clear", "pass"), challenges=[doubt])
    assert at.judge().verdict == "pass"
    found = gathered(at.root, at.now)
    run = found.parts[0].view.run
    text = found.verdict.text
    assert texts.says(text, "end-rounds-judged", kind="laps", run=run, passing=1, total=1, iteration=1)
    assert texts.says(text, "end-decided-by-judge")
    assert texts.says(text, "run-user-confirmed", units="criteria")
    assert texts.says(text, "end-on-files-as-at", clock="17:20:12")
    assert [(one.what, one.where) for one in found.notices] == [("challenge", "C1")]
    part = found.parts[0]
    names = {one.name: one for one in part.whole.attachments}
    assert at.nonce in names["The judge's answer"].text
    assert dict(part.whole.covers)["covers"] == "C1"
    assert part.evidence("C1").tables[0].rows[0][1].text == "judge"


def test_answers_are_shown_with_the_files_they_cite(tmp_path: Path) -> None:
    shop = workshop.project(tmp_path / "project")
    shop.add(verification={"outcomes": ["quotes"]})
    shop.work()
    shop.begin()
    shop.publish("G1")
    shop.answer_all()
    shop.finish()
    shop.publish()
    found = gathered(shop.root, shop.now)
    assert texts.says(found.verdict.text, "end-agents-own-answers", goal="G1")
    assert [one.where for one in found.notices] == ["G1"]
    assert texts.says(found.notices[0].what, "report-agents-own-answers")
    dossier = found.parts[0].evidence("G1")
    assert [(one.name, one.problem) for one in dossier.attachments] == [
        ("Answer to q1", ""),
        ("parser.py", ""),
        ("Answer to q1.5", ""),
        ("Answer to q2", ""),
        ("Answer to q3", ""),
    ]
    assert dict(dossier.covers)["outcomes"] == "quotes"
    assert dossier.said == workshop.SUMMARY
    shop.work(text="def parse(text): return []\n")
    after = gathered(shop.root, shop.now)
    assert not after.verdict.is_proven
    assert {"evidence changed", "stale receipt"} <= {one.what for one in after.notices}


def verified(tmp_path: Path, *checks: object) -> workshop.Workshop:
    """A goal that only has checks, finished, in a project with a commit to compare with."""
    shop = workshop.project(tmp_path / "project").as_user()
    repos.run_git(shop.root, "add", "README.md")
    repos.run_git(shop.root, "commit", "-q", "-m", "chore: begin")
    shop.add(verification={"checks": list(checks)})
    shop.begin()
    shop.publish("G1")
    shop.work()
    shop.finish()
    shop.publish()
    return shop


def test_a_goal_with_checks_alone_holds_while_the_files_say_so(tmp_path: Path) -> None:
    shop = verified(tmp_path, workshop.path_check())
    text = gathered(shop.root, shop.now).verdict.text
    assert texts.says(text, "end-goal-checks-pass", goal="G1", passing=1, total="1 check")
    assert texts.says(text, "end-checks-look-at-form")
    (shop.root / "parser.py").unlink()
    found = gathered(shop.root, shop.now)
    said = {"verdict": "NOT proven", "held": 0, "total": "1 goal holds", "item": "G1"}
    assert texts.says(found.verdict.text, "report-tree-changed", **said)
    assert found.parts[0].view.items[0].receipt == "stale"


def test_a_goal_that_expired_is_in_the_report_beside_one_that_passes(tmp_path: Path) -> None:
    shop = workshop.project(tmp_path / "project")
    for name, path in (("A", "speed.txt"), ("B", "parser.py")):
        shop.add(id=name, hypothesis="H1" if name == "A" else None, **workshop.checks(workshop.path_check(path)))
        shop.begin(name)
        shop.publish(name)
    shop.finish("A", hypothesis="expired")
    shop.work()
    shop.finish("B")
    shop.publish()
    found = gathered(shop.root, shop.now)
    assert texts.says(found.verdict.text, "end-hypothesis-expired", goal="A", hypothesis="H1")
    assert texts.says(found.verdict.text, "end-next-goal-checks-pass", goal="B", passing=1, total="1 check")
    assert [item.id for item in found.parts[0].view.items] == ["A", "B"]
    assert markdown.render(found).count("✅") == 1, "of goal B alone"


def test_a_goal_whose_checks_are_commands_holds_on_the_files_it_was_finished_on(tmp_path: Path) -> None:
    """A look runs nothing, so on other files nobody can tell."""
    command = {"id": "runs", "type": "command", "argv": ["test", "-e", "parser.py"]}
    shop = verified(tmp_path, command)
    assert gathered(shop.root, shop.now).verdict.is_proven
    shop.write("parser.py", "def parse(text): return []\n")
    assert texts.says(gathered(shop.root, shop.now).verdict.text, "report-tree-changed", item="G1")
    shop.work()
    assert gathered(shop.root, shop.now).verdict.is_proven
    shop.write("notes.txt", "for another goal")
    assert texts.says(gathered(shop.root, shop.now).verdict.text, "report-tree-changed", item="G1")
    (shop.root / "notes.txt").unlink()
    journal = Path(shop.goals.run("G1").journal.path)
    hostile.rewrite(journal, lambda row: {key: value for key, value in row.items() if key != "tree"})
    told = gathered(shop.root, shop.now)
    assert texts.says(told.verdict.text, "report-files-unread", item="G1")
    assert not told.verdict.is_proven


def test_files_that_cannot_be_read_prove_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = verified(tmp_path, workshop.path_check())
    at = project.asked(tmp_path / "court", by="user")
    at.says(("C1", "clear", "pass"))
    at.judge()
    assert gathered(at.root, at.now).verdict.is_proven
    blind_git(tmp_path / "bin", monkeypatch)
    for root, now, was_proven in ((shop.root, shop.now, False), (at.root, at.now, True)):
        believe(str(root / ".sisyphus" / "cc-omo"))
        found = gathered(root, now)
        assert texts.says(found.verdict.text, "report-was-proven") is was_proven
        assert texts.says(found.verdict.text, "report-files-unread")
        assert {item.mark for part in found.parts for item in part.view.items} == {"stale"}


def blind_git(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that may not look into a directory, as it is for who may not read it; root may read everything."""
    directory.mkdir()
    real = shutil.which("git")
    said = "warning: could not open directory 'private/': Permission denied"
    script = f'#!/bin/sh\ncase "$*" in *ls-files*) echo "{said}" >&2;; esac\nexec {real} "$@"\n'
    (directory / "git").write_text(script)
    (directory / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")


def finished_plan(tmp_path: Path) -> ultraplan.Project:
    desk = ultraplan.make_project(tmp_path, steps=2)
    desk.start()
    plans.carry_out(desk.root, 1)
    plans.carry_out(desk.root, 2)
    desk.finish()
    assert gathered(desk.root, desk.now).verdict.level == "waived"
    return desk


def test_a_plan_that_cannot_be_audited_any_more_is_not_proven(tmp_path: Path) -> None:
    desk = finished_plan(tmp_path)
    for plan in Path(desk.state, "plans").rglob("plan.md"):
        plan.unlink()
    subprocess.run(["git", "reset", "-q", "--hard", "HEAD~2"], cwd=desk.root, check=True)
    (desk.root / "plan.md").write_text("# Another plan\n")
    found = gathered(desk.root, desk.now)
    assert texts.says(found.verdict.text, "report-work-not-believed", kind="ultraplan")
    (part,) = found.parts
    assert [(item.status, item.mark, item.receipt) for item in part.view.items] == [("pass", "stale", "stale")] * 2
    assert found.notices[0].what == "damaged"


def test_a_copy_of_a_project_proves_no_plan(tmp_path: Path) -> None:
    desk = finished_plan(tmp_path)
    """Not even where the user has taken the copy's state for their own."""
    shutil.copytree(desk.root, tmp_path / "copy")
    ownership.adopt(str(tmp_path / "copy" / ".sisyphus" / "cc-omo"), [])
    found = gathered(tmp_path / "copy", desk.now)
    assert not found.verdict.is_proven
    assert "belongs to" in found.verdict.text
    assert found.parts[0].view.done == 0


def test_a_plan_is_shown_with_what_its_critic_found_and_what_was_skipped(tmp_path: Path) -> None:
    desk = ultraplan.make_project(tmp_path, steps=2, step2={"On failure": "skip — it can be left out"})
    started = desk.start()
    finds = "step 2: no test"
    finding = {"dimension": "scope", "text": finds, "severity": "advisory", "line": 12}
    row = {"kind": "critique", "digest": started.state.terms.plan, "clean": True, "findings": [finding]}
    reviews: Journal = critique.reviews(desk.state)
    reviews.change(lambda rows: (None, [row]), actor="hook", now=desk.now, wait=5.0)
    plans.carry_out(desk.root, 1)
    desk.skip(2)
    desk.finish()
    found = gathered(desk.root, desk.now)
    (no_critique, skipped) = found.notices
    assert texts.says(found.verdict.text, "end-exception-no-clean-critique", who="user")
    assert texts.says(no_critique.what, "report-no-clean-critique")
    assert (no_critique.where, skipped.what, skipped.where) == ("ultraplan", "skipped step", "2")
    (part,) = found.parts
    verified, findings = part.whole.tables
    assert [cell.text for cell in verified.rows[0]] == ["1", "python3 src/part1.py", "pass", ""]
    assert [cell.text for cell in findings.rows[0]] == ["advisory", "scope", "12", finds]
    assert texts.says(dict(part.evidence("2").covers)["skipped because"], "report-plan-lets-it-be-left-out")
    assert "### Step 1" in part.whole.attachments[0].text


def test_words_do_not_hide_what_was_let_through(tmp_path: Path) -> None:
    """A reason that sounds like another notice, which is told in full elsewhere, is told all the same."""
    at = project.asked(tmp_path, by="user", reduced_scope="not judged independently, 1 replay exempted")
    assert [one.what for one in gathered(at.root, at.now).notices] == ["reduced scope"]
    at.judge(project.reply(at.nonce, ("C1", "clear", "pass")))
    found = gathered(at.root, at.now)
    (reduced_scope, not_independent) = found.notices
    assert reduced_scope.what == "reduced scope"
    assert texts.says(not_independent.what, "report-not-judged-independently")
