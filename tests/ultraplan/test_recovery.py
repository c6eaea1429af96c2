"""Recovery: a spec of just the missing steps, counted where no spec can change it, twice at most."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from omo.errors import BadInput, NotEvaluable, Refused
from omo.ultraplan import document as documents
from omo.ultraplan import recovery
from omo.ultraplan.run import audit_file, depth_of, records
from tests.kept import put_back
from tests.ultraplan.plan_desk import WHY, Desk, desk
from tests.ultraplan.plans import carry_out, commit, git


def left_out(tmp_path: Path, steps: int = 5, missing: tuple[int, ...] = (3,)) -> Desk:
    """A session that called itself done with steps left out."""

    def make(place: Path) -> Desk:
        here = desk(place, steps)
        here.start()
        for number in range(1, steps + 1):
            if number not in missing:
                carry_out(here.root, number)
        return here

    return put_back(tmp_path, make, steps, missing)


def test_a_step_left_out_is_caught_recovered_and_the_whole_session_passes(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    original = here.record()
    assert here.finish().exit_code == 3
    written = here.recover()
    assert (written.depth, written.missing) == (1, [3])
    assert written.next.command == f"omo plan start {written.spec}"
    assert (here.told()["state"], here.told()["open"]) == ("active", 1)
    started = here.start(written.spec)
    assert started.state.steps == (3,)
    assert (started.state.recovery_of, started.state.depth) == (original.run, 1)
    assert started.state.base != original.base
    carry_out(here.root, 3)
    done = here.finish()
    assert (done.exit_code, done.closed) == (0, True)
    assert done.status.audit.base == original.base
    assert done.status.audit.passed == [1, 2, 3, 4, 5]
    assert "of the whole session, from where it began" in done.report
    assert audit_file(here.caller(), here.root / "plan.md").audit.base == original.base


def test_the_spec_has_just_the_missing_steps_and_says_what_it_is(tmp_path: Path) -> None:
    here = left_out(tmp_path, 4, (2, 4))
    spec = documents.load(here.root / here.recover().spec, here.root)
    assert [step.number for step in spec.work_steps] == [2, 4]
    for line in ("- Recovery of: `plan.md`", "- Recovery depth: 1", "- Missing steps: 2, 4"):
        assert line in spec.text
    assert spec.master_digest == documents.load(here.root / "plan.md", here.root).digest
    assert git(here.root, "status", "--porcelain") == ""


def test_a_recovery_that_leaves_the_session_broken_does_not_pass(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    here.start(here.recover().spec)
    carry_out(here.root, 3)
    (here.root / "src/part1.py").write_text("VALUE = 1\n")
    commit(here.root, "refactor: lose part 1")
    done = here.finish()
    assert (done.exit_code, done.closed) == (3, False)
    assert done.status.audit.missing == [1]


def test_a_third_recovery_is_refused_whatever_the_spec_says(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    here.start(here.recover().spec)
    second = here.recover()
    assert second.depth == 2
    here.start(second.spec)
    with pytest.raises(Refused, match="recovered 2 times") as refused:
        here.recover()
    assert "--failed 3" in refused.value.fix
    assert here.finish(3, "it cannot be written", "twice, in two ways").status.state.end == "failed"
    assert "recover" not in here.status()[1].command


def test_starting_over_does_not_reset_the_depth(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    here.start()
    carry_out(here.root, 2)
    here.start(here.recover().spec)
    here.abandon()
    git(here.root, "revert", "--no-edit", "HEAD")
    assert here.start().state.depth == 1
    carry_out(here.root, 2)
    assert here.recover().depth == 2
    here.start(here.record().recovered["spec"])
    with pytest.raises(Refused, match="recovered 2 times"):
        here.recover()


def test_a_recovery_that_failed_is_not_begun_again_uncounted(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    written = here.recover()
    here.start(written.spec)
    here.finish(3, "it cannot be written", "twice, in two ways")
    with pytest.raises(Refused, match="out and failed"):
        here.start(written.spec)
    assert here.recover().depth == 2


@pytest.mark.parametrize("old", ["- Recovery depth: 1", "- Recovery of: `plan.md`", "An earlier session"])
def test_an_edited_recovery_spec_is_not_believed(tmp_path: Path, old: str) -> None:
    here = left_out(tmp_path)
    spec = here.root / here.recover().spec
    assert old in spec.read_text()
    (here.root / "mine.md").write_text(spec.read_text().replace(old, ""))
    commit(here.root, "docs: a spec of my own")
    with pytest.raises(Refused, match="does not say") as refused:
        here.start("mine.md")
    assert "left out" in str(refused.value.details["defects"])


def test_asking_twice_writes_the_same_spec_and_counts_once(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    first = here.recover()
    (here.root / first.spec).unlink()
    again = here.recover()
    assert (again.spec, again.depth, again.missing) == (first.spec, 1, [3])
    assert (here.root / first.spec).exists()
    assert depth_of(records(here.state), here.record().lineage) == 1


@pytest.mark.parametrize("path", ["infra/main.tf", "elsewhere.py"])
def test_what_lies_outside_the_fence_is_never_recovered(tmp_path: Path, path: str) -> None:
    here = left_out(tmp_path)
    (here.root / path).parent.mkdir(exist_ok=True)
    (here.root / path).write_text("x\n")
    commit(here.root, "chore: slip")
    with pytest.raises(Refused, match="never recovered") as refused:
        here.recover()
    assert any(path in one for one in refused.value.details["defects"])  # type: ignore[attr-defined]
    assert here.record().is_open


def test_a_forbidden_path_of_a_step_is_never_recovered(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, step1={"manifest": {"forbidden_paths": ["src/app.py"]}})
    here.start()
    (here.root / "src/app.py").write_text("VALUE = 3\n")
    carry_out(here.root, 1)
    with pytest.raises(Refused, match="never recovered"):
        here.recover()


def test_where_nothing_is_missing_there_is_nothing_to_recover(tmp_path: Path) -> None:
    here = left_out(tmp_path, 2, ())
    with pytest.raises(Refused, match="no step of plan.md is missing") as refused:  # noqa: RUF043
        here.recover()
    assert "omo plan finish" in refused.value.fix


def test_what_cannot_be_evaluated_cannot_be_recovered(tmp_path: Path) -> None:
    here = left_out(tmp_path, 2, (2,))
    git(here.root, "checkout", "-q", "--orphan", "anew")
    git(here.root, "commit", "-q", "-m", "chore: begin again")
    with pytest.raises(NotEvaluable):
        here.recover()


def test_a_session_that_preflight_stopped_counts_nothing(tmp_path: Path) -> None:
    here = desk(tmp_path, 2, needs=["cmd:no-such-program"])
    assert here.start(PATH=os.environ["PATH"]).missing
    with pytest.raises(Refused, match="never began"):
        here.recover()
    assert here.start(OMO_SKIP_PREFLIGHT="1").state.depth == 0
    carry_out(here.root, 2)
    written = here.recover()
    assert here.start(written.spec, PATH=os.environ["PATH"]).missing
    assert here.start(written.spec, OMO_SKIP_PREFLIGHT="1").state.depth == 1


def test_work_done_between_recovery_and_its_start_is_finished_at_once(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    written = here.recover()
    carry_out(here.root, 3)
    with pytest.raises(Refused, match="missing any more") as refused:
        here.start(written.spec)
    assert "omo plan finish" in refused.value.fix
    assert here.status()[1].action == "finish"
    assert here.finish().exit_code == 0
    assert here.told()["state"] == "done"


def test_a_reported_failure_can_be_recovered_when_a_person_says_so(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    here.finish(3, "the service was down", "three calls, a minute apart")
    assert here.told()["state"] == "blocked"
    written = here.recover()
    here.start(written.spec)
    carry_out(here.root, 3)
    assert here.finish().exit_code == 0


def test_another_session_may_carry_the_recovery_out(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    written = here.recover()
    here.start(written.spec, session="s2")
    assert here.told("s1")["state"] == "done"
    assert here.told("s2")["fence"]


def test_the_steps_skipped_before_stay_skipped(tmp_path: Path) -> None:
    here = desk(tmp_path, 3, step1={"On failure": "skip — not needed"})
    here.start()
    here.skip(1)
    carry_out(here.root, 3)
    written = here.recover()
    assert written.missing == [2]
    here.start(written.spec)
    carry_out(here.root, 2)
    assert here.finish().exit_code == 0


def test_without_the_first_run_nothing_can_be_said(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    first = here.record().run
    here.start(here.recover().spec)
    os.rename(os.path.join(here.state, "plans", first), os.path.join(here.state, "elsewhere"))
    assert first not in [record.run for record in records(here.state)]
    at, following = here.status()
    assert (at.audit.verdict, following.action) == ("unknown", "abandon")


def test_the_spec_overwrites_nothing_and_stays_in_the_project(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    for out, error in (("../out.md", BadInput), ("plan.md", Refused), ("no/dir.md", BadInput), ("src/run", BadInput)):
        with pytest.raises(error):
            here.recover(here.root / out)
        assert here.record().is_open


def test_a_file_of_the_project_may_be_named_for_it(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    written = here.recover(here.root / "again.md")
    assert written.spec == "again.md"
    here.start("again.md")
    git(here.root, "add", "again.md")
    git(here.root, "rm", "-q", "--cached", "again.md")
    (here.root / "src/part3.py").write_text("def part3():\n    return 3\n")
    git(here.root, "add", "src")
    git(here.root, "commit", "-q", "-m", "feat(part3): add part 3")
    assert here.finish().exit_code == 0


# after a run was given up


def go_on(here: Desk, *missing: int) -> None:
    """As Next says: recover, start what it writes, carry it out, finish."""
    written = recovery.recover(recovery.chosen(here.caller(), here.root / "plan.md"))
    assert written.missing == list(missing)
    here.start(written.spec, unreviewed="")
    for number in missing:
        carry_out(here.root, number)
    assert here.finish().exit_code == 0


def test_an_abandoned_session_with_steps_done_goes_on_by_recovery(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    following = here.abandon().next
    assert following.command.startswith("omo plan recover plan.md")
    assert here.status()[1] == following
    with pytest.raises(Refused) as refused:
        here.start()
    assert "omo plan recover plan.md" in refused.value.fix
    go_on(here, 3)


def test_abandoned_with_nothing_done_it_is_started_again(tmp_path: Path) -> None:
    here = desk(tmp_path, 2)
    here.start()
    assert here.abandon().next.command == "omo plan start plan.md"
    here.start()


def test_abandoned_with_nothing_missing_there_is_only_the_audit(tmp_path: Path) -> None:
    here = left_out(tmp_path, 2, ())
    here.abandon()
    assert "omo plan audit plan.md" in here.status()[1].why
    with pytest.raises(Refused, match="is missing") as refused:
        here.recover()
    assert "omo plan audit" in refused.value.fix


def test_a_history_that_was_rewritten_ends_in_a_recovery_that_says_so(tmp_path: Path) -> None:
    here = left_out(tmp_path, 3, (3,))
    here.status()
    git(here.root, "checkout", "-q", "--orphan", "anew")
    git(here.root, "commit", "-q", "-m", "chore: begin again")
    assert "omo plan recover plan.md" in here.status()[1].command
    here.abandon()
    go_on(here, 3)
    assert (here.record().depth, here.record().end) == (1, "pass")
    assert any("could not be audited any more" in one for one in here.record().overrides)


def test_a_recovery_after_a_violation_is_not_got_by_giving_up(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    (here.root / "infra").mkdir()
    (here.root / "infra/main.tf").write_text("x\n")
    commit(here.root, "chore: slip")
    here.abandon()
    with pytest.raises(Refused, match="never recovered"):
        here.recover()


def test_a_recovery_that_never_began_is_counted_once(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    assert here.recover().depth == 1
    here.abandon()
    assert here.recover().depth == 1


def test_what_a_begun_recovery_took_over_is_not_recovered_again(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    first = here.record().run
    here.start(here.recover().spec)
    with pytest.raises(Refused, match="goes on as") as refused:
        here.recover(named=first)
    assert here.record().run in refused.value.fix


# until the recovery begins


def test_the_fence_stays_up_until_the_recovery_replaces_it(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    written = here.recover()
    assert here.told()["fence"]["touch"] == ["src/**", "tests/**"]
    here.status()
    assert here.told()["fence"]
    other = here.root / "other.md"
    other.write_text((here.root / "plan.md").read_text().replace("part", "piece"))
    with pytest.raises(Refused, match="is under way") as refused:
        here.start(other)
    assert f"omo plan start {written.spec}" in refused.value.fix
    other.unlink()
    here.start(written.spec, session="s2")
    assert "fence" not in here.told("s1")
    assert here.told("s2")["fence"]


def test_giving_a_recovered_run_up_takes_its_fence_down(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    here.recover()
    here.abandon()
    assert "fence" not in here.told()


def test_a_recovery_needs_no_second_override_and_tells_the_first(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    here.start(here.recover().spec, unreviewed="")
    assert any(WHY in one for one in here.record().overrides)
    assert WHY in here.finish().report


# the project's place


def test_a_moved_project_takes_its_session_along(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    os.rename(here.root, tmp_path / "moved")
    there = Desk(tmp_path / "moved", now=here.now)
    at, following = there.status()
    assert (at.audit.missing, following.item) == ([3], "3")
    assert there.told()["fence"]["root"] == str(tmp_path / "moved")
    carry_out(there.root, 3)
    assert there.finish().exit_code == 0


def test_a_copy_never_audits_the_original(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    shutil.copytree(here.root, tmp_path / "copy")
    carry_out(here.root, 3)
    there = Desk(tmp_path / "copy", now=here.now)
    status, following = there.status()
    assert status.audit.steps == []
    assert str(here.root) in following.why
    for command in (there.finish, there.start, there.abandon):
        with pytest.raises(Refused, match="belongs to"):
            command()
    assert here.finish().exit_code == 0
