"""The end of a session: what the report says, and what Stop and the user are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput
from omo.hooks import messages
from tests.ultraplan.plan_desk import WHY, Desk, desk, record_critique
from tests.ultraplan.plans import carry_out, commit

FAILURE = (2, "ImportError: no module named parts", "another name, then a relative import")


def test_a_session_that_passes_is_done_and_its_fence_comes_down(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    here.start()
    carry_out(here.root, 1)
    carry_out(here.root, 2)
    done = here.finish()
    assert (done.exit_code, done.closed, done.verdict) == (0, True, "pass")
    assert here.told()["state"] == "done"
    assert here.told()["outcome"] == here.record().finished["outcome"]
    assert here.told()["outcome"] == {
        "verdict": "waived",
        "why": f"plan session {here.record().run}: 2 steps pass the audit; its Verify commands were not run by omo",
        "exceptions": [{"what": "no clean critique of the plan", "by": "agent", "why": WHY}],
    }
    assert "fence" not in here.told()
    assert Path(done.path).read_text() == done.report
    assert here.kinds()[-1] == "finished"


def ended(here: Desk, **start: Any) -> str:
    """What the user reads at Stop once every step is carried out."""
    here.start(**start)
    for number in here.record().steps:
        if number not in here.record().skipped:
            carry_out(here.root, number)
    here.finish()
    return messages.release("done", here.row(), here.row(), {})


def test_an_audit_that_passes_is_the_agents_word_and_says_what_was_not_run(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    record_critique(here)
    assert ended(here, unreviewed="") == (
        f"omo: finished on the agent's word: ultraplan: plan session {here.record().run}: 1 step passes the audit; "
        "its Verify commands were not run by omo."
    )


LET_THROUGH: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "no critic": ({}, {"unreviewed": WHY}, f"no clean critique of the plan (by the agent: {WHY})"),
    "an older plan": (
        {"version": None, "step1": {"manifest": None}},
        {"unreviewed": ""},
        "a plan before 1.7: no critic was asked (by the agent: what it does not say was taken from its prose)",
    ),
    "no preflight": (
        {"needs": ["env:NOT_THERE"]},
        {"OMO_SKIP_PREFLIGHT": "1"},
        "preflight bypassed (by the agent: OMO_SKIP_PREFLIGHT)",
    ),
}


@pytest.mark.parametrize("name", LET_THROUGH)
def test_an_exit_meant_for_the_user_that_the_agent_took_is_an_exception(tmp_path: Path, name: str) -> None:
    changes, start, said = LET_THROUGH[name]
    told = ended(desk(tmp_path, 1, **changes), **start)
    assert told.startswith("omo: ended with exceptions: ")
    assert said in told


def test_a_step_skipped_as_the_plan_allows_is_named_and_lowers_nothing(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, step1={"On failure": "skip — not needed"})
    record_critique(here)
    here.start(unreviewed="")
    here.skip(1)
    carry_out(here.root, 2)
    here.finish()
    told = here.told()["outcome"]
    assert told["verdict"] == "attested"
    assert told["why"].endswith("step 1 was skipped, as its plan allows: the plan lets it be left out")


def test_steps_that_remain_keep_the_session_open(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    here.start()
    carry_out(here.root, 1)
    done = here.finish()
    assert (done.exit_code, done.closed) == (3, False)
    assert here.told()["state"] == "active"
    assert here.told()["fence"]
    assert "Ended as: not ended" in done.report
    assert "finished" not in here.kinds()


def test_a_dirty_tree_keeps_the_session_open(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    here.start()
    carry_out(here.root, 1)
    (here.root / "src/left.py").write_text("x = 1\n")
    done = here.finish()
    assert (done.exit_code, done.closed) == (3, False)
    assert "src/left.py" in done.report


def test_a_step_that_failed_ends_the_session_with_an_honest_report(tmp_path: Path) -> None:
    here = desk(tmp_path, 3)
    here.start()
    carry_out(here.root, 1)
    done = here.finish(*FAILURE)
    assert (done.exit_code, done.closed, done.verdict) == (3, True, "failed")
    for said in ("step 1: pass", "step: 2", FAILURE[1], FAILURE[2], WHY):
        assert said in done.report
    assert here.told()["state"] == "blocked"
    assert FAILURE[1] in here.told()["why"]
    assert here.told()["told"] is False
    assert "fence" not in here.told()


def test_a_failure_is_reported_even_where_the_manifest_holds(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    here.start()
    carry_out(here.root, 1)
    carry_out(here.root, 2)
    assert here.finish(*FAILURE).exit_code == 3
    assert here.told()["state"] == "blocked"


REFUSED: dict[str, tuple[Any, str]] = {
    "a step that is not there": ((9, *FAILURE[1:]), "is no step"),
    "no error": ((2, "", FAILURE[2]), "--error"),
    "nothing tried": ((2, FAILURE[1], "  "), "--tried"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_failure_names_its_step_the_error_and_what_was_tried(tmp_path: Path, case: str) -> None:
    failure, why = REFUSED[case]
    here = desk(tmp_path, 2)
    here.start()
    with pytest.raises(BadInput, match=why):
        here.finish(*failure)
    assert here.record().is_open


def test_the_report_names_what_no_step_claims_and_what_lies_outside(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    here.start()
    carry_out(here.root, 1)
    (here.root / "src/app.py").write_text("VALUE = 5\n")
    commit(here.root, "chore: by the way")
    (here.root / "notes.txt").write_text("x\n")
    commit(here.root, "docs: notes")
    done = here.finish()
    assert "chore: by the way" in done.report
    assert "notes.txt" in done.report
    assert done.next.action == "escalate"


def test_finishing_twice_says_the_same(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    here.start()
    carry_out(here.root, 1)
    first = here.finish()
    again = here.finish()
    assert (again.report, again.exit_code, again.closed) == (first.report, 0, True)
    assert here.kinds().count("finished") == 1


def test_a_crash_between_the_ledger_and_the_session_is_mended_by_the_next_look(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    here.start()
    carry_out(here.root, 1)
    before = here.told()
    here.finish()
    here.change_row(lambda row: {**row, "work": {"ultraplan": before}})
    assert here.told()["fence"]
    here.status()
    assert (here.told()["state"], "fence" in here.told()) == ("done", False)


def test_what_a_person_woke_again_is_not_put_back_to_sleep(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    here.start()
    here.finish(*FAILURE)
    here.change_row(lambda row: {**row, "work": {"ultraplan": {**row["work"]["ultraplan"], "state": "active"}}})
    here.status()
    assert here.told()["state"] == "active"


def test_a_released_session_stays_released_and_can_still_end(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    here.start()

    def spent(row: dict[str, Any]) -> dict[str, Any]:
        work = {"ultraplan": {**row["work"]["ultraplan"], "state": "exhausted", "endedBy": "cap"}}
        return {**row, "ulw": {**row["ulw"], "enabled": False}, "work": work}

    here.change_row(spent)
    here.status()
    assert (here.told()["state"], bool(here.told()["fence"])) == ("exhausted", True)
    assert here.row()["ulw"]["enabled"] is False
    carry_out(here.root, 1)
    here.finish()
    assert (here.told()["state"], "fence" in here.told()) == ("done", False)


def test_long_and_odd_text_is_shown_bounded(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    here.start()
    done = here.finish(2, "\x1b[31merror" + "x" * 100_000, "y" * 100_000)
    assert "\x1b" not in done.report
    assert len(done.report) < 20_000
    assert len(here.told()["why"]) < 400
