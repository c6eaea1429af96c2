"""A plan session from start to finish: what is refused, what is recorded, and what hooks are told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, NotEvaluable, Refused
from omo.state import paths
from omo.ultraplan import critique, preflight, sessions, spec_text
from omo.ultraplan import document as documents
from omo.ultraplan import start as starting
from omo.ultraplan.run import audit_file, pinned_path, problems_of
from tests.ultraplan.plan_desk import WHY, Desk, desk, record_critique
from tests.ultraplan.plans import carry_out, commit, git, plan_text, project, subject_of


def decompose(root: Path, out: str = "specs") -> list[Path]:
    """What `omo plan decompose` writes, not committed."""
    plan = documents.load(root / "plan.md", root)
    (root / out).mkdir(exist_ok=True)
    found = []
    for spec in sessions.decompose(plan, has_remote=False, out=out):
        (root / spec.path).write_text(spec_text.render(spec))
        found.append(root / spec.path)
    return found


# start


def test_start_records_the_base_the_fence_and_the_steps(tmp_path: Path) -> None:
    here = desk(tmp_path)
    started = here.start()
    record = started.state
    assert record.base == git(here.root, "rev-parse", "HEAD")
    assert record.steps == (1, 2, 3)
    fence = {"touch": ["src/**", "tests/**"], "never": ["infra/**"], "root": str(here.root), "spec": "plan.md"}
    assert here.told()["fence"] == {**fence, "uncommitted": [".sisyphus/"]}
    assert (here.told()["state"], here.told()["open"], here.told()["total"]) == ("active", 3, 3)
    assert here.row()["ulw"]["enabled"] is True
    assert (started.next.action, started.next.item) == ("execute", "1")
    assert git(here.root, "status", "--porcelain") == ""


def test_the_next_step_names_its_verify_and_its_checkpoint(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    assert "python3 src/part1.py" in here.told()["next"]
    assert subject_of(1) in here.told()["next"]


def test_a_defective_plan_is_refused_with_every_defect(tmp_path: Path) -> None:
    here = desk(tmp_path, step1={"Verify": None}, step2={"manifest": {"commit_message_pattern": ".*"}})
    with pytest.raises(Refused, match="defects") as refused:
        here.start()
    defects = refused.value.details["defects"]
    assert isinstance(defects, list)
    assert any("step 1" in one for one in defects)
    assert any("step 2" in one for one in defects)
    assert not os.path.exists(here.state)


def test_an_older_plan_is_advised_and_carried_out(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, version=None, step1={"manifest": None}, step2={"manifest": None})
    started = here.start(unreviewed="")
    assert any("older plan" in note for note in started.notes)
    carry_out(here.root, 1)
    carry_out(here.root, 2)
    assert here.finish().exit_code == 0


def test_a_plan_without_steps_is_not_complete_but_refused(tmp_path: Path) -> None:
    here = desk(tmp_path, 0)
    with pytest.raises(Refused):
        here.start()


def test_a_plan_of_several_sessions_is_not_started_as_one(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, sessions=[[1], [2]], touch=None)
    with pytest.raises(Refused, match="2 sessions") as refused:
        here.start()
    assert "omo plan decompose plan.md" in refused.value.fix


@pytest.mark.parametrize("name", ["edited.py", "src/app.py"])
def test_a_dirty_tree_is_refused_by_name(tmp_path: Path, name: str) -> None:
    here = desk(tmp_path)
    (here.root / name).write_text("VALUE = 2\n")
    with pytest.raises(Refused, match="not committed") as refused:
        here.start()
    assert refused.value.details["defects"] == [name]
    assert here.told() == {}


def test_ignored_files_and_the_plan_itself_do_not_make_a_tree_dirty(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".gitignore").write_text("*.log\n")
    commit(root, "chore: ignore logs")
    (root / "plan.md").write_text(plan_text(2))
    (root / "debug.log").write_text("x\n")
    here = Desk(root)
    assert here.start().state.base


def test_a_directory_without_git_cannot_be_started_in(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "plan.md").write_text(plan_text(1))
    with pytest.raises(NotEvaluable):
        Desk(tmp_path / "plain").start()


# the critic's gate


def test_a_plan_nobody_reviewed_is_refused(tmp_path: Path) -> None:
    here = desk(tmp_path)
    with pytest.raises(Refused, match="no clean critique") as refused:
        here.start(unreviewed="")
    assert "omo plan critique plan.md" in refused.value.fix


def test_a_clean_critique_of_exactly_this_text_lets_it_start(tmp_path: Path) -> None:
    here = desk(tmp_path)
    record_critique(here)
    assert here.start(unreviewed="").state.overrides == []


def test_a_clean_verdict_that_no_hook_saw_does_not_let_it_start(tmp_path: Path) -> None:
    here = desk(tmp_path)
    digest = documents.load(here.root / "plan.md", here.root).digest
    row = {"kind": "critique", "digest": digest, "clean": True, "independence": "reduced"}
    critique.reviews(here.state).change(lambda rows: (None, [row]), actor="agent", now=here.now, wait=5.0)
    with pytest.raises(Refused, match="only a file that no hook saw") as refused:
        here.start(unreviewed="")
    assert "--unreviewed REASON" in refused.value.fix
    assert here.start(unreviewed="the user read it instead").state.overrides


def test_a_plan_that_changed_after_its_critique_is_refused(tmp_path: Path) -> None:
    here = desk(tmp_path)
    record_critique(here)
    with (here.root / "plan.md").open("a") as file:
        file.write("\nOne more thought.\n")
    commit(here.root, "docs: think again")
    with pytest.raises(Refused, match="no clean critique"):
        here.start(unreviewed="")


def test_without_a_critic_a_reason_is_needed_and_stays_visible(tmp_path: Path) -> None:
    here = desk(tmp_path)
    with pytest.raises(BadInput, match="10 characters are needed"):
        here.start(unreviewed="because")
    here.start(unreviewed=WHY)
    assert here.status()[0].run is not None
    assert any(WHY in one for one in here.record().overrides)


# one per worktree


@pytest.mark.parametrize("other", ["s1", "s2"])
def test_a_second_start_in_the_same_worktree_is_refused(tmp_path: Path, other: str) -> None:
    here = desk(tmp_path)
    here.start()
    with pytest.raises(Refused, match="is under way") as refused:
        here.start(session=other)
    assert "omo plan finish" in refused.value.fix
    assert ("--session s1" in refused.value.fix) == (other == "s2")


def test_another_worktree_of_the_same_repository_is_free(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.state = str(tmp_path / "shared")
    here.start()
    git(here.root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    assert Desk(tmp_path / "other", state=here.state).start(session="s2").state.base


def test_the_escape_hatch_releases_stop_and_leaves_the_fence(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    here.cancel()
    here.status()
    assert here.told()["fence"]
    with pytest.raises(Refused, match="is under way"):
        here.start(session="s2")
    here.abandon(by="user")
    assert "fence" not in here.told()
    assert here.row()["stopContinuation"]["disabled"] is True


def test_a_second_start_says_what_is_under_way_before_it_reads_the_spec(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    carry_out(here.root, 1)
    with pytest.raises(Refused, match="is under way"):
        here.start()


# the order of sessions


def in_order(tmp_path: Path) -> tuple[Desk, Path, Path]:
    text = plan_text(2, sessions=[[1], [2]], touch=None, step2={"Depends on": "Step 1"})
    here = Desk(project(tmp_path, text))
    first, second = decompose(here.root)
    return here, first, second


def test_a_session_waits_for_what_it_depends_on(tmp_path: Path) -> None:
    here, first, second = in_order(tmp_path)
    with pytest.raises(Refused, match="depends on session 1") as refused:
        here.start(second)
    assert "--out-of-order" in refused.value.fix
    here.start(first)
    carry_out_only(here.root, 1)
    here.finish()
    assert here.start(second).state.steps == (2,)


def test_out_of_order_needs_a_reason_that_is_told(tmp_path: Path) -> None:
    here, _, second = in_order(tmp_path)

    def begin(reason: str) -> None:
        starting.start(here.caller(), second, unreviewed=WHY, environ={}, out_of_order=reason)

    with pytest.raises(BadInput, match="10 characters are needed"):
        begin("because")
    begin("session 1 is done elsewhere")
    assert any("session 1 is done elsewhere" in one for one in here.record().overrides)


# what a spec is held to


def test_a_spec_as_decompose_writes_it_is_started_beside_its_siblings(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, sessions=[[1], [2]], touch=None)
    first, second = decompose(here.root)
    assert here.start(first).state.steps == (1,)
    carry_out_only(here.root, 1)
    assert here.finish().exit_code == 0
    assert here.start(second).state.steps == (2,)


def carry_out_only(root: Path, number: int) -> None:
    """Commit the step's file, and leave specs that are not committed alone."""
    (root / f"src/part{number}.py").write_text(f"def part{number}():\n    return {number}\n")
    git(root, "add", "src")
    git(root, "commit", "-q", "-m", subject_of(number))


WEAKER: dict[str, tuple[str, str, str]] = {
    "a manifest that asks for less": ("'^def part1\\('", "'^def'", "step 1 is not as the plan has it"),
    "another commit subject": ("'^feat\\(part2\\):'", "'^feat'", "step 2 is not as the plan has it"),
    "a way out that the plan does not give": ("- On failure: retry", "- On failure: skip", "is not as the plan has it"),
    "a wider fence": ("  - `src/**`", "  - `**`", "the scope fence is not the plan's"),
    "a path no longer forbidden": ("  - `infra/**`", "  - `elsewhere/**`", "the scope fence is not the plan's"),
}


@pytest.mark.parametrize("case", WEAKER)
def test_a_spec_that_says_less_than_its_plan_is_refused(tmp_path: Path, case: str) -> None:
    old, new, why = WEAKER[case]
    here = desk(tmp_path, 2)
    (spec,) = decompose(here.root)
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))
    with pytest.raises(Refused, match="does not say what") as refused:
        here.start(spec)
    assert any(why in one for one in refused.value.details["defects"])  # type: ignore[attr-defined]


def test_a_spec_that_leaves_a_step_out_is_refused(tmp_path: Path) -> None:
    here = desk(tmp_path, 3)
    (spec,) = decompose(here.root)
    text = spec.read_text()
    start, end = text.index("### Step 2:"), text.index("### Step 3:")
    spec.write_text(text[:start] + text[end:])
    with pytest.raises(Refused, match="does not say") as refused:
        here.start(spec)
    assert "step 2 of the session left out" in str(refused.value.details["defects"])


def test_a_need_taken_out_of_a_spec_is_noticed(tmp_path: Path) -> None:
    here = desk(tmp_path, 1, needs=["cmd:no-such-program"])
    (spec,) = decompose(here.root)
    spec.write_text(spec.read_text().replace('needs: ["cmd:no-such-program"]', "needs: []"))
    with pytest.raises(Refused, match="does not say") as refused:
        here.start(spec)
    assert refused.value.details["defects"] == ["need cmd:no-such-program left out"]


def test_a_plan_that_changed_after_decompose_is_refused(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    (spec,) = decompose(here.root)
    (here.root / "plan.md").write_text(plan_text(1, step1={"Changes": "something else altogether"}))
    with pytest.raises(Refused, match="changed after decompose") as refused:
        here.start(spec)
    assert "omo plan decompose plan.md" in refused.value.fix


def test_a_spec_without_a_master_plan_is_refused(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    (spec,) = decompose(here.root)
    lines = [line for line in spec.read_text().splitlines() if not line.startswith("- Master plan")]
    spec.write_text("\n".join(lines) + "\n")
    with pytest.raises(Refused, match="names no master plan"):
        here.start(spec)


# preflight


def test_what_is_missing_blocks_the_session_and_opens_nothing(tmp_path: Path) -> None:
    here = desk(tmp_path, 1, needs=["cmd:no-such-program"])
    started = here.start(PATH=os.environ["PATH"])
    assert started.missing
    assert here.told()["state"] == "blocked"
    assert "no-such-program" in here.told()["why"]
    assert "fence" not in here.told()
    assert here.kinds() == ["preflight"]
    assert here.status()[1].action == "unblock"
    assert "omo plan start plan.md" in here.status()[1].command


def test_a_bypassed_preflight_is_recorded_and_shown(tmp_path: Path) -> None:
    here = desk(tmp_path, 1, needs=["cmd:no-such-program"])
    started = here.start(OMO_SKIP_PREFLIGHT="1")
    assert started.state.is_open
    assert any("OMO_SKIP_PREFLIGHT" in one for one in started.state.overrides)


def test_a_later_preflight_does_not_hide_that_the_first_was_bypassed(tmp_path: Path) -> None:
    here = desk(tmp_path, 1, needs=["git"])
    here.start(OMO_SKIP_PREFLIGHT="1")
    plan = documents.load(here.root / "plan.md", here.root)
    starting.record_preflight(here.caller(), plan, preflight.look(["git"], here.root, environ={}))
    assert here.kinds()[-1] == "preflight"
    assert here.record().overrides[-1].endswith("OMO_SKIP_PREFLIGHT")


# the contract is pinned


def test_editing_the_spec_after_start_changes_nothing_and_is_said(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    here.start()
    (here.root / "plan.md").write_text(plan_text(1))
    carry_out_only(here.root, 1)
    at, following = here.status()
    assert at.audit.missing == [2]
    assert "edited after start" in at.edited
    assert following.item == "2"
    done = here.finish()
    assert (done.exit_code, done.closed) == (3, False)
    assert "edited after start" in done.report


def test_a_deleted_spec_is_no_way_out_and_no_dead_end(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    (spec,) = decompose(here.root)
    here.start(spec)
    spec.unlink()
    assert "deleted" in here.status()[0].edited
    carry_out_only(here.root, 1)
    assert here.finish().exit_code == 0


def test_editing_the_pinned_copy_ends_in_giving_up(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    (spec,) = decompose(here.root)
    here.start(spec)
    for path in (Path(pinned_path(here.state, here.record().run)), spec):
        path.write_text(path.read_text().replace("'^feat\\(part2\\):'", "'^x'"))
    at, following = here.status()
    assert at.broken
    assert following.action == "abandon"
    assert here.finish().exit_code == 4
    assert any("spec.md" in one for one in problems_of(here.state, "s1"))
    assert here.abandon().closed


# progress is derived


def test_progress_follows_the_commits_whatever_anybody_says(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    for number, left in ((1, 2), (2, 1), (3, 0)):
        carry_out(here.root, number)
        here.status()
        assert here.told()["open"] == left
    assert here.status()[1].action == "finish"


@pytest.mark.parametrize(("by", "state"), [("agent", "blocked"), ("user", "done")])
def test_what_was_given_up_has_its_steps_open(tmp_path: Path, by: str, state: str) -> None:
    here = desk(tmp_path)
    here.start()
    carry_out(here.root, 1)
    here.abandon(by=by)
    assert (here.told()["state"], here.told()["open"], here.told()["total"]) == (state, 2, 3)


def test_a_session_that_failed_has_its_steps_open(tmp_path: Path) -> None:
    here = desk(tmp_path)
    failed(here)
    assert (here.told()["state"], here.told()["open"], here.told()["total"]) == ("blocked", 1, 3)


def test_a_reverted_step_is_open_again_and_was_still_seen(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    carry_out(here.root, 1)
    here.status()
    git(here.root, "revert", "--no-edit", "HEAD")
    at, _ = here.status()
    assert 1 in at.audit.missing
    assert here.record().seen == (1,)
    carry_out(here.root, 1)
    here.status()
    assert here.record().seen == (1,)


def test_only_a_step_that_passes_for_the_first_time_gives_the_budget_back(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()

    def spent(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "ulw": {**row["ulw"], "stopBlocks": 5}}

    carry_out(here.root, 1)
    here.change_row(spent)
    here.status()
    assert here.row()["ulw"]["stopBlocks"] == 0
    here.change_row(spent)
    git(here.root, "revert", "--no-edit", "HEAD")
    here.status()
    carry_out(here.root, 1)
    here.status()
    assert here.row()["ulw"]["stopBlocks"] == 5


def test_looking_twice_writes_nothing_new(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    here.status()
    before = here.ledger().read_bytes(), Path(paths.events_file(here.state, "s1")).read_bytes()
    here.status()
    assert (here.ledger().read_bytes(), Path(paths.events_file(here.state, "s1")).read_bytes()) == before


def test_a_lost_runtime_file_hides_no_open_session(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    carry_out(here.root, 1)
    Path(paths.runtime_file(here.state)).unlink()
    at, following = here.status()
    assert (following.item, at.audit.missing) == ("2", [2, 3])
    assert here.told()["fence"]["root"] == str(here.root)


def test_a_session_whose_row_was_lost_is_not_started_twice(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    Path(paths.runtime_file(here.state)).unlink()
    with pytest.raises(Refused, match="is under way"):
        here.start()


def test_what_the_user_paused_stays_paused(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    here.change_row(
        lambda row: {**row, "work": {"ultraplan": {**row["work"]["ultraplan"], "state": "paused", "why": "user"}}}
    )
    carry_out(here.root, 1)
    here.status()
    assert (here.told()["state"], here.told()["open"]) == ("paused", 2)


# skip


def test_a_step_is_skipped_only_where_the_plan_says_so(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, step2={"On failure": "skip — it is only nice to have"})
    here.start()
    with pytest.raises(Refused, match="may not be skipped") as refused:
        here.skip(1)
    assert "--failed 1" in refused.value.fix
    with pytest.raises(BadInput, match="10 characters are needed"):
        here.skip(2, "no")
    with pytest.raises(BadInput, match="none of this session's"):
        here.skip(7)
    here.skip(2)
    here.status()
    assert (here.told()["open"], here.told()["total"]) == (1, 1)
    carry_out(here.root, 1)
    done = here.finish()
    assert done.exit_code == 0
    assert (here.told()["state"], here.told()["open"], here.told()["total"]) == ("done", 0, 1)
    assert "step 2: skipped" in done.report
    assert "the plan lets it be left out" in done.report


def test_a_step_that_passes_is_not_skipped(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, step1={"On failure": "skip — not needed"})
    here.start()
    carry_out(here.root, 1)
    with pytest.raises(Refused, match="passes already"):
        here.skip(1)


# for the audit


def test_the_audit_is_told_where_the_work_began_and_what_was_skipped(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, step2={"On failure": "skip — not needed"})
    with pytest.raises(BadInput, match="is not recorded"):
        audit_file(here.caller(), here.root / "plan.md")
    base = git(here.root, "rev-parse", "HEAD")
    here.start()
    here.skip(2)
    carry_out(here.root, 1)
    audit = audit_file(here.caller(), here.root / "plan.md").audit
    assert (audit.base, [step.status for step in audit.steps]) == (base, ["pass", "skipped"])


# ends, and what is told on the way


def test_a_closed_session_takes_no_failure(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    here.start()
    carry_out(here.root, 1)
    here.finish()
    with pytest.raises(Refused, match="already ended"):
        here.finish(1, "it broke afterwards", "nothing at all so far")


def test_what_is_never_touched_names_the_first_commit_and_is_not_to_be_taken_back(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    here.start()
    (here.root / "infra").mkdir()
    (here.root / "infra/main.tf").write_text("x\n")
    first = commit(here.root, "chore: slip")
    git(here.root, "revert", "--no-edit", "HEAD")
    following = here.status()[1]
    assert first[:7] in following.why
    assert "take it back" not in following.why


def test_what_stop_reads_says_where_the_commits_are_counted(tmp_path: Path) -> None:
    here = desk(tmp_path, 1)
    here.start()
    assert here.told()["next"].endswith("(omo plan status counts the commits)")


# every state leads on


def fresh(here: Desk) -> None:
    pass


def started(here: Desk) -> None:
    here.start()


def all_committed(here: Desk) -> None:
    here.start()
    for number in (1, 2, 3):
        carry_out(here.root, number)


def left_out(here: Desk) -> None:
    here.start()
    carry_out(here.root, 1)
    carry_out(here.root, 3)


def drifting(here: Desk) -> None:
    all_committed(here)
    (here.root / "src/part2.py").write_text("VALUE = 2\n")
    commit(here.root, "refactor: lose a function")


def dirty(here: Desk) -> None:
    all_committed(here)
    (here.root / "src/left.py").write_text("x = 1\n")


def outside(here: Desk) -> None:
    here.start()
    (here.root / "infra").mkdir()
    (here.root / "infra/main.tf").write_text("x\n")
    commit(here.root, "chore: slip")


def recovered_once(here: Desk) -> None:
    left_out(here)
    here.recover()


def recovered_twice(here: Desk) -> None:
    left_out(here)
    here.start(here.recover().spec)
    here.start(here.recover().spec)


def failed(here: Desk) -> None:
    left_out(here)
    here.finish(2, "it does not compile", "two other ways to write it")


def deleted(here: Desk) -> None:
    here.start()
    (here.root / "plan.md").unlink()


def damaged(here: Desk) -> None:
    here.start()
    here.damage()


def gone(here: Desk) -> None:
    here.start()
    os.rename(os.path.dirname(here.ledger()), os.path.join(here.state, "elsewhere"))


def rebased(here: Desk) -> None:
    here.start()
    carry_out(here.root, 1)
    git(here.root, "checkout", "-q", "--orphan", "anew")
    git(here.root, "commit", "-q", "-m", "chore: begin again")


def abandoned(here: Desk) -> None:
    here.start()
    here.abandon()


STATES: dict[str, tuple[Any, str, str]] = {
    "fresh": (fresh, "start", "omo plan start SPEC"),
    "started": (started, "execute", "omo plan finish --failed 1"),
    "all steps committed": (all_committed, "finish", "omo plan finish"),
    "a step left out": (left_out, "execute", "omo plan recover plan.md"),
    "a step that no longer holds": (drifting, "mend", "omo plan finish --failed 2"),
    "not committed": (dirty, "clean", "omo plan finish"),
    "outside the fence": (outside, "escalate", "omo plan finish --failed 1"),
    "recovered": (recovered_once, "start-recovery", "omo plan start .sisyphus/"),
    "recovered twice": (recovered_twice, "execute", "omo plan finish --failed 2"),
    "stopped at a step": (failed, "escalate", "omo plan recover plan.md"),
    "plan deleted": (deleted, "execute", "omo plan finish --failed 1"),
    "ledger damaged": (damaged, "seal", "omo state clear --mode ultraplan --force --session s1"),
    "ledger gone": (gone, "seal", "omo state clear --mode ultraplan --force --session s1"),
    "base gone": (rebased, "unknown", "omo plan finish --abandon"),
    "abandoned": (abandoned, "start", "omo plan start plan.md"),
}


@pytest.mark.parametrize("name", STATES)
def test_every_state_names_a_command_that_leads_on(tmp_path: Path, name: str) -> None:
    reach, action, command = STATES[name]
    here = desk(tmp_path)
    reach(here)
    following = here.status()[1]
    assert following.action == action
    assert command in following.command


@pytest.mark.parametrize("name", [name for name in STATES if name not in ("fresh", "ledger damaged", "ledger gone")])
def test_every_state_can_be_given_up_and_then_nothing_is_held(tmp_path: Path, name: str) -> None:
    here = desk(tmp_path)
    STATES[name][0](here)
    assert here.abandon().closed
    assert "fence" not in here.told()
    assert here.told()["state"] == "blocked"
    assert "given up in this test" in here.told()["why"]


def test_given_up_by_the_user_it_is_over(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    here.abandon(by="user")
    assert here.told()["state"] == "done"
    assert here.told()["outcome"]["verdict"] == "ended"
    assert here.told()["outcome"]["why"].endswith("was ended by the user: given up in this test")


def test_after_a_rebase_a_new_session_begins_on_the_new_history(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.start()
    git(here.root, "commit", "-q", "--amend", "-m", "chore: begin, reworded")
    assert here.status()[1].action == "unknown"
    assert here.finish().exit_code == 4
    here.abandon()
    here.start()
    for number in (1, 2, 3):
        carry_out(here.root, number)
    assert here.finish().exit_code == 0
