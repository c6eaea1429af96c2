"""A plan session from start to its end: what is refused, what is recorded, and what hooks and the user are told."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.engine.runs import require_run
from omo.errors import BadInput, NotEvaluable, OmoError, Refused
from omo.workflows.ultraplan import finish, verify
from omo.workflows.ultraplan.flow import FLOW
from omo.workflows.ultraplan.run_audit import audit_file
from tests import texts
from tests.ultraplan.plans import plan_text, project, subject_of
from tests.ultraplan.project import WHY, Project, make_project, started

FAILURE = (2, "ImportError: no module named parts", "another name, then a relative import")
SKIP = {"On failure": "skip — not needed"}


def refused(command: Callable[[], object], match: str, kind: type[OmoError] = Refused) -> str:
    """What is said of it, with the way out and every defect."""
    with pytest.raises(kind, match=match) as error:
        command()
    return f"{error.value} {error.value.fix} {error.value.details.get('defects')}"


# start


@pytest.mark.parametrize("name", ["edited.py", "src/app.py"])
def test_a_dirty_tree_is_refused_by_name(tmp_path: Path, name: str) -> None:
    here = make_project(tmp_path)
    here.write(name, "VALUE = 2\n")
    assert f"['{name}']" in refused(here.start, "not committed")
    assert here.told() == {}


def test_ignored_files_and_the_plan_itself_do_not_make_a_tree_dirty(tmp_path: Path) -> None:
    here = Project(project(tmp_path))
    here.commit_file(".gitignore", text="*.log\n")
    here.write("plan.md", plan_text(2))
    here.write("debug.log")
    assert here.start().state.base


def test_a_directory_without_git_cannot_be_started_in(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text(plan_text(1))
    refused(Project(tmp_path).start, "not a git repository", NotEvaluable)
    Project(tmp_path).git("init", "-q")
    refused(Project(tmp_path).start, "no commit yet", NotEvaluable)


def test_the_items_of_a_run_are_the_steps_of_its_session(tmp_path: Path) -> None:
    here = make_project(tmp_path, 3, sessions=[[1, 2], [3]])
    every = FLOW.read(here.root / "plan.md")
    assert [item.id for item in every] == ["1", "2", "3"]
    begun = here.start().state
    assert [(item.id, item.description) for item in begun.items] == [(item.id, item.description) for item in every[:2]]


# one per worktree


@pytest.mark.parametrize("other", ["s1", "s2"])
def test_a_second_start_in_the_same_worktree_is_refused(tmp_path: Path, other: str) -> None:
    here = started(tmp_path, done=(1,))
    said = refused(lambda: here.start(session=other), "is under way")
    assert "omo plan finish" in said
    assert ("--session s1" in said) == (other == "s2")


def test_another_worktree_of_the_same_repository_is_free(tmp_path: Path) -> None:
    here = make_project(tmp_path)
    here.environ["OMO_STATE_DIR"] = str(tmp_path / "shared")
    here.start()
    here.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    assert Project(tmp_path / "other", environ=here.environ).start(session="s2").state.base


# the order of sessions


def in_two_sessions(tmp_path: Path) -> Project:
    return make_project(tmp_path, 2, sessions=[[1], [2]], touch=None, step2={"Depends on": "Step 1"})


def test_the_next_session_begins_once_what_it_depends_on_has_passed(tmp_path: Path) -> None:
    here = in_two_sessions(tmp_path)
    fix = refused(lambda: here.start(number=2), "depends on session 1")
    assert "omo plan start plan.md" in fix
    refused(lambda: here.start(number=3), "has no session 3")
    begun = here.start()
    assert (begun.state.number, begun.state.steps) == (1, [1])


def test_what_was_skipped_stays_so_and_does_not_hold_up_the_next_session(tmp_path: Path) -> None:
    here = started(tmp_path, 4, sessions=[[1, 2], [3, 4]], step1=SKIP)
    here.skip(1)
    here.abandon()
    assert set(here.start().state.skipped) == {1}
    here.carry_out(2)
    assert here.finish().exit_code == 0
    begun = here.start()
    assert (begun.state.number, begun.state.skipped) == (2, {})
    here.carry_out(4)
    assert re.findall(r"^### Step (\d)", Path(here.recover().spec).read_text(), re.M) == ["0", "3"]


# the contract is pinned


def test_a_deleted_plan_is_no_way_out_and_no_dead_end(tmp_path: Path) -> None:
    here = started(tmp_path, 1)
    (here.root / "plan.md").unlink()
    assert "deleted" in here.status()[0].edited
    here.carry_out(1)
    assert here.finish().exit_code == 0
    assert here.abandon().verdict == "pass", "it is over"


def test_editing_the_pinned_copy_ends_in_giving_up(tmp_path: Path) -> None:
    here = started(tmp_path, 2)
    for path in (here.ledger().parent / "plan.md", here.root / "plan.md"):
        path.write_text(path.read_text().replace("'^feat\\(part2\\):'", "'^x'"))
    status, following = here.status()
    assert texts.says(status.unknown, "ultraplan-not-what-it-began-with")
    assert (following.action, "omo plan finish --abandon" in following.command) == ("unknown", True)
    assert here.finish().exit_code == 4
    assert here.abandon().closed


# skip


def test_a_step_is_skipped_only_where_the_plan_says_so(tmp_path: Path) -> None:
    here = started(tmp_path, 3, (3,), step2=SKIP, step3=SKIP)
    fix = refused(lambda: here.skip(1), "may not be skipped")
    assert "--failed 1" in fix
    refused(lambda: here.skip(2, "no"), "10 characters are needed", BadInput)
    refused(lambda: here.skip(7), "is no step", BadInput)
    refused(lambda: here.skip(3), "passes already")
    here.skip(2)
    here.status()
    assert here.counts() == ("active", 1, 2), "what was skipped is neither done nor open"
    here.carry_out(1)
    done = here.finish()
    assert done.exit_code == 0
    assert here.counts() == ("ended", 0, 2)
    assert texts.says(done.report, "ultraplan-step-skipped", step=2)
    refused(lambda: here.skip(2), "ended .pass.")
    audit = audit_file(here.caller(), here.root / "plan.md").audit
    assert [step.status for step in audit.steps] == ["pass", "skipped", "pass"]


# the end


def test_a_session_that_passes_is_done_and_its_fence_comes_down(tmp_path: Path) -> None:
    here = started(tmp_path, 2, (1, 2))
    done = here.finish()
    assert (done.exit_code, done.closed, done.verdict) == (0, True, "pass")
    assert here.told()["state"] == "ended"
    assert here.told()["outcome"] == here.record().finished["outcome"]
    ended = here.told()["outcome"]
    assert ended["verdict"] == "waived"
    assert texts.says(ended["why"], "ultraplan-steps-passed", run=here.record().run, steps="2 steps")
    assert texts.says(ended["why"], "ultraplan-verify-commands-passed", commands="2 Verify commands")
    (exception,) = ended["exceptions"]
    assert texts.says(exception["what"], "report-no-clean-critique")
    assert (exception["by"], exception["why"]) == ("user", WHY)
    assert "fence" not in here.told()
    assert Path(done.path).read_text() == done.report
    again = here.finish()
    assert (again.report, again.exit_code, again.closed) == (done.report, 0, True)
    assert here.kinds().count("ended") == 1
    refused(lambda: here.finish(*FAILURE), r"ended \(pass\)")


def test_a_failure_names_its_step_the_error_and_what_was_tried(tmp_path: Path) -> None:
    here = started(tmp_path, 2)
    for failure, why in (
        ((9, *FAILURE[1:]), "is no step"),
        ((2, "", FAILURE[2]), "--error"),
        ((2, FAILURE[1], "  "), "--tried"),
    ):
        refused(lambda failure=failure: here.finish(*failure), why, BadInput)  # type: ignore[misc]
    assert here.record().is_open


def test_a_crash_between_the_ledger_and_the_session_is_mended_by_the_next_look(tmp_path: Path) -> None:
    here = started(tmp_path, 1, (1,))
    before = here.told()
    here.finish()
    here.change_row(lambda row: {**row, "work": {"ultraplan": before}})
    assert here.told()["fence"]
    here.status()
    assert (here.told()["state"], "fence" in here.told()) == ("ended", False)


def test_what_is_never_touched_names_the_first_commit_and_is_not_to_be_taken_back(tmp_path: Path) -> None:
    here = started(tmp_path, 1)
    first = here.commit_file("infra/main.tf")
    here.git("revert", "--no-edit", "HEAD")
    following = here.status()[1]
    assert first[:7] in following.why
    assert "take it " not in following.why
    other = started(tmp_path / "other", 1)
    other.commit_file("docs/x.md", subject_of(1))
    assert "take it " in other.status()[1].why


# every state leads on

BROKEN = "def part2():\n    return 2\n\n\nraise SystemExit(1)\n"
MOVES: dict[str, Callable[[Project], object]] = {
    "start": lambda here: here.start(),
    "recover": lambda here: here.recover(),
    "finish": lambda here: here.finish(),
    "fail": lambda here: here.finish(2, "it does not compile", "two other ways to write it"),
    "give up": lambda here: here.abandon(),
    "lose a function": lambda here: here.commit_file("src/part2.py", "refactor: lose a function"),
    "break part 2": lambda here: here.commit_file("src/part2.py", subject_of(2), BROKEN),
    "leave a file": lambda here: here.write("src/left.py"),
    "touch infra": lambda here: here.commit_file("infra/main.tf"),
    "delete the plan": lambda here: (here.root / "plan.md").unlink(),
    "damage the ledger": lambda here: here.damage(),
    "lose the ledger": lambda here: os.rename(here.ledger().parent, Path(here.state, "elsewhere")),
    "rewrite history": lambda here: here.rewrite_history(),
}
SEAL = "omo state clear --mode ultraplan --force --session s1"
# How to get there (numbers are steps that are carried out), the next action, and what its command says.
STATES = [
    ("start", "execute", "omo plan finish --failed 1"),
    ("start, 1 2 3", "finish", "omo plan finish"),
    ("start, 1 3", "execute", "omo plan recover"),
    ("start, 1 2 3, lose a function", "mend", "omo plan finish --failed 2"),
    ("start, 1 2 3, leave a file", "clean", "omo plan finish"),
    ("start, 1 3, break part 2, finish", "mend", "omo plan finish --failed 2"),
    ("start, touch infra", "escalate", "omo plan finish --failed 1"),
    ("start, 1 3, recover", "execute", "omo plan finish --failed 2"),
    ("start, 1 3, fail", "escalate", "omo plan recover plan.md"),
    ("start, delete the plan", "execute", "omo plan finish --failed 1"),
    ("start, damage the ledger", "start", "omo plan start"),
    ("start, lose the ledger", "start", "omo plan start"),
    ("start, 1, rewrite history", "unknown", "omo plan finish --abandon"),
    ("start, give up", "start", "omo plan start plan.md"),
]


@pytest.mark.parametrize(("way", "action", "command"), STATES)
def test_every_state_names_a_command_that_leads_on_and_can_be_given_up(
    tmp_path: Path, way: str, action: str, command: str
) -> None:
    here = make_project(tmp_path)
    for name in way.split(", "):
        if name in MOVES:
            MOVES[name](here)
        else:
            here.carry_out(*map(int, name.split()))
    following = here.status()[1]
    assert following.action == action
    assert command in following.command
    if "ledger" in way:
        return
    assert here.abandon().closed
    assert "fence" not in here.told()
    assert here.told()["state"] == "waiting"
    assert "given up" in here.told()["why"]


def test_a_verify_without_an_answer_can_be_left_out_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = started(tmp_path, 1, (1,), step1={"Verify": "`sleep 60` → expected: exit 0"})
    monkeypatch.setattr(verify, "SECONDS", 0.1)
    done = here.finish()
    assert (done.exit_code, done.closed, done.results[0].result) == (4, False, "unknown")
    assert "omo plan finish --unverified" in here.status()[1].command
    assert finish.finish(require_run(FLOW, here.caller()), unverified="waits too-long").closed
    assert here.told()["outcome"]["verdict"] == "waived"


def test_after_a_rewritten_base_a_new_session_begins_on_the_new_history(tmp_path: Path) -> None:
    here = started(tmp_path, 1)
    here.git("commit", "-q", "--amend", "-m", "chore: begin, reworded")
    assert here.finish().exit_code == 4
    here.abandon()
    here.start()
    here.carry_out(1)
    assert here.finish().exit_code == 0


def test_work_that_was_committed_under_another_message_is_to_be_reworded(tmp_path: Path) -> None:
    here = started(tmp_path, 2)
    here.carry_out(1)
    here.git("commit", "-q", "--amend", "-m", "mine")
    _, step = here.status()
    assert texts.says(step.why, "ultraplan-reword-that", commit=f"{here.git('rev-parse', 'HEAD')[:12]} mine")
    here.write("src/part1.py", "")
    here.commit("and another")
    assert "reword" not in here.status()[1].why
