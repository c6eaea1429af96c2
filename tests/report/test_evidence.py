"""What stands behind goals, criteria and steps, for the workflows that have questions, judges and critics."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.context import Context
from omo.report.document import whole
from omo.report.document.whole import Report
from omo.state.journal import Journal
from omo.ultraplan import critique
from omo.verify import session_summary
from tests.ralph import court
from tests.ultraplan import plan_desk, plans
from tests.verify import workshop

pytestmark = pytest.mark.xdist_group("report")


def gathered(root: Path, now: float, session: str = "s1") -> Report:
    return whole.gather(Context({}, str(root), now + 5), session)


def test_the_judges_own_words_are_shown_and_its_doubts_are_in_plain_sight(tmp_path: Path) -> None:
    at = court.asked(tmp_path)
    doubt = {"criterion": "C1", "text": "a README can name what is not there"}
    at.says(("C1", "clear", "pass"), challenges=[doubt])
    assert at.judge().verdict == "pass"
    found = gathered(at.desk.root, at.desk.now)
    assert found.verdict.text == (
        "Proven with 1 exception: the one criterion is judged to hold on the files as they are."
    )
    assert [(one.what, one.where) for one in found.notices] == [("challenge", "C1")]
    (part,) = found.parts
    names = {one.name: one for one in part.proof.whole.exhibits}
    assert names["Briefs"].text == "round 1, call 1: C1"
    assert at.nonce in names["The judge's answer"].text
    assert dict(part.proof.whole.covers)["covers"].startswith("C1 ")
    assert part.proof.dossier("C1").tables[0].rows[0][1].text == "judge"


def test_a_judgement_from_a_file_is_of_reduced_independence(tmp_path: Path) -> None:
    at = court.asked(tmp_path)
    at.judge(court.reply(at.nonce, ("C1", "clear", "pass")))
    found = gathered(at.desk.root, at.desk.now)
    assert [one.what for one in found.notices] == ["reduced independence"]
    assert "no hook saw the judge" in " ".join(one.what for one in found.story.events)


def test_answers_are_shown_with_the_files_they_cite(tmp_path: Path) -> None:
    shop = workshop.project(tmp_path / "project")
    shop.add(verification={"outcomes": ["quotes are kept"]})
    shop.work()
    shop.begin()
    session_summary.tell_sessions(shop.place, "s1", began="G1", limits=workshop.LIMITS)
    shop.answer_all()
    shop.finish()
    session_summary.tell_sessions(shop.place, "s1", limits=workshop.LIMITS)
    found = gathered(shop.root, shop.now)
    assert found.verdict.text == "Proven: the one goal is verified."
    dossier = found.parts[0].proof.dossier("G1")
    assert [(one.name, one.state) for one in dossier.exhibits] == [
        ("Answer to q1", ""),
        ("parser.py", "as recorded"),
        ("Answer to q1.5", ""),
        ("Answer to q2", ""),
        ("Answer to q3", ""),
    ]
    assert dict(dossier.covers)["outcomes"] == "quotes are kept"
    assert dossier.said == workshop.SUMMARY
    shop.work(text="def parse(text): return []\n")
    after = gathered(shop.root, shop.now)
    assert not after.verdict.is_proven
    assert {"evidence changed", "stale receipt"} <= {one.what for one in after.notices}


def test_a_plan_is_shown_with_what_its_critic_found_and_what_was_skipped(tmp_path: Path) -> None:
    desk = plan_desk.desk(tmp_path, steps=2, step2={"On failure": "skip — it can be left out"})
    started = desk.start()
    finding = {"dimension": "scope", "text": "step 2 names no test", "severity": "advisory", "line": 12}
    row = {"kind": "critique", "digest": started.record.plan, "clean": True, "findings": [finding]}
    reviews: Journal = critique.reviews(desk.state)
    reviews.change(lambda rows: (None, [row]), actor="hook", now=desk.now, wait=5.0)
    plans.carry_out(desk.root, 1)
    desk.skip(2)
    desk.finish()
    found = gathered(desk.root, desk.now)
    assert found.verdict.text.startswith("Proven with 2 exceptions: ")
    assert [(one.what, one.where) for one in found.notices] == [
        ("not reviewed", started.record.run),
        ("skipped step", "2"),
    ]
    (part,) = found.parts
    (table,) = part.proof.whole.tables
    assert [cell.text for cell in table.rows[0]] == ["advisory", "scope", "12", "step 2 names no test"]
    assert dict(part.proof.dossier("2").covers) == {"skipped because": "the plan lets it be left out"}
    assert "### Step 1" in part.proof.whole.exhibits[0].text


def test_words_do_not_hide_what_was_let_through(tmp_path: Path) -> None:
    """A reason that sounds like another notice, which is told in full elsewhere, is told all the same."""
    at = court.asked(tmp_path, by="user", reduced_scope="judged with reduced independence, 1 replay exempted")
    at.judge(court.reply(at.nonce, ("C1", "clear", "pass")))
    found = gathered(at.desk.root, at.desk.now)
    assert [one.what for one in found.notices] == ["reduced scope", "reduced independence"]
