"""From wherever a plan got to, by any commands, crashes and edits, the messages themselves lead to its end.

The hunt is the same each time. To hunt for more: OMO_TEST_HUNT=5000 pytest tests/ultragoal/test_deadlocks.py
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.ultragoal.hunt import Died, Hunt, Ran, first_command, hunt_in, make_template
from tests.ultragoal.hunt_moves import COMMANDS, DAMAGE, MOVES, OFTEN, PEOPLE, SESSIONS

Step = tuple[str, str, int]

EXAMPLES = int(os.environ.get("OMO_TEST_HUNT", "12"))
ONE, TWO = SESSIONS

names = st.one_of(
    st.sampled_from([*COMMANDS, *OFTEN]),
    st.sampled_from([*COMMANDS, *OFTEN]),
    st.sampled_from([*PEOPLE, *OFTEN]),
    st.sampled_from([*DAMAGE]),
)
steps = st.tuples(names, st.sampled_from([ONE, ONE, ONE, TWO]), st.integers(0, 15))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_template(tmp_path_factory.mktemp("hunt") / "template")


@pytest.fixture
def hunt(template: Path) -> Iterator[Hunt]:
    with hunt_in(template, template.parent / "a b") as found:
        yield found


def play(hunt: Hunt, *script: Step) -> None:
    """After every step there is an answer to "what now?", and what Stop was told agrees with it."""
    for name, session, number in script:
        hunt.log.append(f"# {name}")
        if name in COMMANDS:
            hunt.before = hunt.files()
        done = MOVES[name](hunt, session, number)
        shown = hunt.status(session)
        if isinstance(done, Ran) and done.argv[0] == "ultragoal" and not done.code:
            hunt.check_stop(session, shown)


@settings(max_examples=EXAMPLES, derandomize="OMO_TEST_HUNT" not in os.environ)
@given(start=st.integers(0, 5), script=st.lists(steps, max_size=14))
def test_every_state_leads_to_the_end_by_the_commands_it_names(template: Path, start: int, script: list[Step]) -> None:
    with hunt_in(template, template.parent / "project") as hunt:
        try:
            play(hunt, ("create", ONE, start), *script)
            for session in SESSIONS:
                hunt.escape(session)
        finally:
            note("\n".join(hunt.log))


MORTAL: dict[str, list[str]] = {
    "create-force": [],
    "hand-out": [],
    "complete": ["hand-out"],
    "review-blocks": ["hand-out"],
    "block": ["hand-out", "rewrites goals.json"],
    "clear-user": ["hand-out", "annotate", "block", "tears ultragoal/ledger.jsonl"],
    "clear-force": ["hand-out"],
    "goal-pause": ["human"],
    "hand-off": ["write-handoff"],
}


def played(template: Path, kept: Path, *script: Step) -> Hunt:
    """What is left when this was played in a project that is kept for as many deaths as it takes."""
    with hunt_in(template, template.parent / "killed") as hunt:
        play(hunt, *script)
        shutil.copytree(hunt.root, kept, symlinks=True)
    return hunt


@contextlib.contextmanager
def dying(before: Hunt, kept: Path, at: int) -> Iterator[Hunt]:
    with hunt_in(kept, before.root):
        yield dataclasses.replace(copy.deepcopy(before), dies_at=at)


@pytest.mark.parametrize("name", MORTAL)
def test_a_command_killed_at_any_of_its_writes_leaves_a_way_on(template: Path, tmp_path: Path, name: str) -> None:
    brief = 0 if name == "complete" else 1  # of two goals where the next one is started, else of one
    before = played(template, tmp_path / "kept", ("create", ONE, brief), *((step, ONE, 0) for step in MORTAL[name]))
    for at in itertools.count():
        with dying(before, tmp_path / "kept", at) as hunt:
            try:
                done = MOVES[name](hunt, ONE, 0)
            except Died:
                hunt.dies_at = None
                hunt.escape(ONE)
                continue
            assert isinstance(done, Ran)
            assert done.code == 0
            assert at > 0
            break


def test_a_plan_whose_adoption_was_killed_is_finished_by_whoever_has_it(template: Path, tmp_path: Path) -> None:
    before = played(template, tmp_path / "kept", ("create", ONE, 1), ("hand-out", ONE, 0))
    for at in itertools.count():
        with dying(before, tmp_path / "kept", at) as hunt:
            try:
                MOVES["adopt-user"](hunt, TWO, 0)
            except Died:
                hunt.dies_at = None
                for session in SESSIONS:
                    hunt.escape(session)
                continue
            assert at > 0
            break


# What the hunt found: what had happened, and the first command that has to be named then, and by whom it is run.
FOUND: dict[str, tuple[list[str], str, str]] = {
    "a plan that was marked for handoff was sent there again and again": (
        ["write-handoff", "hand-off"],
        'state ultragoal write --input {"current_phase":"active"}',
        "agent",
    ),
    "a damaged journal of the goal was met only by the refusal of what status named": (
        ["hand-out", "drops a row goal/ledger.jsonl"],
        "goal drop --session one",
        "user",
    ),
    "the user's command did not say of which session, and none was live": (
        ["says-stop", "hand-out", "restores ultragoal/ledger.jsonl"],
        "state clear --mode ultragoal --force --session one",
        "user",
    ),
    "status sent the agent on in a project that was moved, where every command is refused": (
        ["hand-out", "moves the project"],
        "ultragoal checkpoint --goal-id G001 --status complete --evidence TEXT --quality-gate-json FILE",
        "agent",
    ),
    "a gate was refused because runtime.local.json could not be read": (
        ["hand-out", "garbles runtime.local.json"],
        "ultragoal checkpoint --goal-id G001 --status complete --evidence TEXT --quality-gate-json FILE",
        "agent",
    ),
    "a pending goal was next while Stop had let go of a paused run": (["human", "goal-pause"], "goal resume", "agent"),
}


@pytest.mark.parametrize("what", FOUND)
def test_found(hunt: Hunt, what: str) -> None:
    script, command, by = FOUND[what]
    play(hunt, ("create", ONE, 0), *((name, ONE, 0) for name in script))
    assert first_command(hunt.status(ONE)["next"]["command"]) == (tuple(command.split(" ")), by)
    hunt.escape(ONE)


def test_found_a_damaged_ledger_of_evidence_was_shown_as_defects_of_the_gate(hunt: Hunt) -> None:
    play(
        hunt, ("create", ONE, 0), ("complete", ONE, 0), ("hand-out", ONE, 0), ("garbles evidence/ledger.jsonl", ONE, 0)
    )
    gate = ("--goal-id", "G001", "--quality-gate-json", hunt.gate("G001"))
    closing = ("ultragoal", "checkpoint", "--status", "complete", "--evidence", "seen", *gate)
    for argv in (closing, ("ultragoal", "gate", "validate", *gate)):
        assert first_command(hunt.run(ONE, *argv).fix)[0][:2] == ("evidence", "add")
    hunt.escape(ONE)


def test_found_a_goal_was_started_by_a_refused_command(hunt: Hunt) -> None:
    """The ledger of evidence was found damaged only after the goal had begun."""
    script = ("create", "complete", "hand-out", "block", "garbles evidence/ledger.jsonl")
    play(hunt, *((name, ONE, 0) for name in script))
    before = hunt.files()
    assert hunt.run(ONE, "ultragoal", "complete-goals").code == 3
    changed = [path.name for path, kept in hunt.files().items() if before.get(path) != kept]
    assert "ledger.jsonl" not in changed
    hunt.escape(ONE)


def test_found_what_is_next_had_another_shape_without_a_plan(hunt: Hunt) -> None:
    keys = {"action", "why", "command", "goal_id"}
    assert set(hunt.status(ONE)["next"]) == keys
    play(hunt, ("create", ONE, 0))
    assert set(hunt.status(ONE)["next"]) == keys
