"""The gate before the judge: which facts prove a phase, and which only look as if they did."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.cli.main import main
from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.evidence.tree import fingerprint
from omo.hooks import session
from omo.ralph import exec_gate, phase_proof
from omo.ralph.exec_gate import Found
from omo.ralph.phase_proof import PHASES, Facts, Finish, GateSeen
from omo.state import ledger, paths, runtime
from omo.ultrawork import gates
from tests.ralph.desk import Desk, desk

LETTERS = {"p": "omo:planner", "e": "omo:executor", "q": "omo:qa", "c": "omo:critic"}
SKIP = "a comment in one file, nothing to refine"


@pytest.fixture
def at(tmp_path: Path) -> Desk:
    made = desk(tmp_path)
    made.start()
    made.execute()
    return made


def look(at: Desk, **options: Any) -> Found:
    run = at.run()
    return exec_gate.check(run, run.require(), **options)


def statuses(found: Found) -> dict[str, str]:
    return {one["phase"]: one["status"] for one in found.checks}


def proof(found: Found, phase: str) -> str:
    return next(str(one["proof"]) for one in found.checks if one["phase"] == phase)


def note_all(at: Desk) -> None:
    for phase in PHASES:
        at.phase(phase)


def play(at: Desk, agents: str, *, change: str = "done-1.txt") -> None:
    """Work, agents in this order, gates on it, every phase noted, the work before whoever looks at it."""
    if change:
        at.write(change)
    for letter in agents:
        at.agent_finished(LETTERS[letter])
        if letter == "p":
            at.phase("PLAN")
            at.phase("IMPL")
    at.gate_ran(fingerprint(at.root))
    note_all(at)


# What proves which phase, as a pure question of order


def facts(order: str, **more: Any) -> Facts:
    agents = [Finish(LETTERS[letter], place, f"{place:02}") for place, letter in enumerate(order, start=1)]
    gate = GateSeen("tests", "user", "pass", "t")
    return Facts(
        **{"agents": agents, "gates": [gate], "tree": "t", "recorded": frozenset(PHASES), "worked_at": "00", **more}
    )


def missing(known: Facts) -> list[str]:
    return [one["phase"] for one in phase_proof.checks(known) if one["status"] == "missing"]


@pytest.mark.parametrize(
    ("order", "lacking"),
    [
        ("peqc", []),
        ("peeqc", []),
        ("ppeqqcc", []),
        ("peqceq", []),  # refined, and QA looked at what that changed
        ("peqce", ["VERIFY"]),  # refined after QA, and nobody looked
        ("peqe", ["VERIFY", "REFINE"]),
        ("peq", ["REFINE"]),
        ("pecq", ["REFINE"]),  # a critic before QA refines nothing that was verified
        ("cpeq", ["REFINE"]),
        ("pqec", ["VERIFY", "REFINE"]),
        ("qpec", ["VERIFY", "REFINE"]),
        ("eqc", ["PLAN"]),
        ("epqc", ["IMPL"]),  # implemented first, planned afterwards
        ("pqc", ["IMPL"]),
        ("p", ["IMPL", "VERIFY", "REFINE"]),
        ("", ["PLAN", "IMPL", "VERIFY", "REFINE"]),
    ],
)
def test_agents_count_in_their_order(order: str, lacking: list[str]) -> None:
    assert missing(facts(order)) == lacking


def modelled(order: str, is_changed: bool) -> list[str]:
    """The same rules as patterns over the order of finishes."""
    rest = order[order.index("p") + 1 :] if "p" in order else order
    holds = {
        "PLAN": "p" in order,
        "IMPL": "e" in rest or is_changed,
        "VERIFY": re.search("q[^e]*$", rest),
        "REFINE": re.search("e.*q.*c" if "e" in rest else "q.*c", rest),
    }
    return [phase for phase, is_so in holds.items() if not is_so]


@given(st.text("peqc", max_size=12), st.booleans())
def test_any_order_is_judged_as_the_model_says(order: str, is_changed: bool) -> None:
    assert missing(facts(order, is_changed=is_changed)) == modelled(order, is_changed)


@given(st.text("peqc", max_size=12), st.booleans(), st.sets(st.sampled_from(PHASES)))
def test_what_was_not_noted_is_missing_whoever_finished(order: str, is_changed: bool, noted: set[str]) -> None:
    known = facts(order, is_changed=is_changed, recorded=frozenset(noted))
    assert set(PHASES) - noted <= set(missing(known))


@given(st.text("peqc", max_size=12), st.booleans(), st.sets(st.sampled_from(PHASES)))
def test_less_was_authorised_but_never_no_work(order: str, is_changed: bool, noted: set[str]) -> None:
    whole = facts(order, is_changed=is_changed, recorded=frozenset(noted))
    known = facts(order, is_changed=is_changed, recorded=frozenset(noted), reduced_scope="a hot fix, agreed by phone")
    assert missing(known) == [phase for phase in missing(whole) if phase == "IMPL"]
    reduced = [one["phase"] for one in phase_proof.checks(known) if one["status"] == "reduced"]
    assert reduced == [phase for phase in missing(whole) if phase != "IMPL"]


@pytest.mark.parametrize(
    ("lines", "order", "status"),
    [
        (0, "peq", "skip-recorded"),
        (49, "peq", "skip-recorded"),
        (50, "peq", "missing"),
        (1_000_000, "peq", "missing"),
        (50, "peqc", "present"),
        (3, "peqc", "present"),
    ],
)
def test_refine_is_left_out_for_small_changes_only(lines: int, order: str, status: str) -> None:
    checks = phase_proof.checks(facts(order, skips={"REFINE": SKIP}, changed_lines=lines))
    assert [one["status"] for one in checks if one["phase"] == "REFINE"] == [status]


@pytest.mark.parametrize("phase", ["PLAN", "IMPL", "VERIFY", "SHIP"])
def test_no_other_phase_is_skipped_by_a_reason(phase: str) -> None:
    assert phase in missing(Facts(recorded=frozenset(PHASES), skips={phase: SKIP}, tree="t"))


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        ([], "no gate is pinned"),
        ([GateSeen("a", "user")], "a was not run"),
        ([GateSeen("a", "user", "pass", "other")], "a ran on other files"),
        ([GateSeen("a", "user", "fail", "t")], "a says fail"),
        ([GateSeen("a", "user", "unknown", "t")], "a says unknown"),
        ([GateSeen("a", "user", "unknown", "t", accepted=True)], "a says unknown"),
        ([GateSeen("a", "user", "fail", "other", accepted=True)], "a ran on other files"),
        ([GateSeen("a", "user", "pass", "t"), GateSeen("b", "agent", "fail", "t")], "b says fail"),
    ],
)
def test_ship_needs_every_gate_on_these_files(seen: list[GateSeen], why: str) -> None:
    known = facts("peqc", gates=seen)
    assert missing(known) == ["SHIP"]
    assert why in phase_proof.checks(known)[-1]["proof"]


def test_ship_says_who_pinned_the_gates() -> None:
    seen = [GateSeen("tests", "user", "pass", "t"), GateSeen("lint", "agent", "pass", "t")]
    said = phase_proof.checks(facts("peqc", gates=seen))[-1]["proof"]
    assert "tests (pinned by the user), lint (pinned by the agent)" in said


@pytest.mark.parametrize(
    ("worked_at", "lacking"),
    [("", ["VERIFY", "REFINE"]), ("01", []), ("02", ["VERIFY", "REFINE"]), ("03", ["VERIFY", "REFINE"])],
)
def test_who_looked_before_files_were_noted_as_changed_did_not_look_at_the_work(
    worked_at: str, lacking: list[str]
) -> None:
    known = facts("pqc", is_changed=True, worked_at=worked_at)
    assert missing(known) == lacking
    assert all(phase_proof.proofs(known)[phase].is_honest for phase in lacking)
    assert missing(facts("peqc", is_changed=True, worked_at="")) == []  # an executor was seen


@pytest.mark.parametrize(
    ("argv", "is_hollow"),
    [
        (["true"], True),
        (["/bin/true"], True),
        ([":"], True),
        (["test", "1"], True),
        (["sh", "-c", "exit 0"], True),
        (["bash", "-lc", ":"], True),
        (["sh", "-c", "pytest -q || true"], True),
        (["sh", "-c", "pytest -q; exit 0"], True),
        (["echo", "ok"], True),
        (["sh", "-c", "pytest -q && echo ok"], False),
        (["sh", "-c", "set -e; pytest -q; echo ok"], False),
        (["sh", "-c", "exit 1"], False),
        (["test", "-e", "dist"], False),
        (["pytest", "-q"], False),
        ([], False),
    ],
)
def test_a_gate_of_the_agent_that_cannot_fail_ships_nothing(argv: list[str], is_hollow: bool) -> None:
    gate = GateSeen("tests", "agent", "pass", "t", argv=tuple(argv))
    assert missing(facts("peqc", gates=[gate])) == (["SHIP"] if is_hollow else [])
    assert missing(facts("peqc", gates=[gate, GateSeen("build", "user", "pass", "t", argv=("make",))])) == []
    assert missing(facts("peqc", gates=[GateSeen("tests", "user", "pass", "t", argv=tuple(argv))])) == []


def test_every_phase_has_a_rule_and_a_remedy() -> None:
    assert list(phase_proof.RULES) == list(phase_proof.REMEDIES) == list(PHASES)
    assert set(PHASES) - set(phase_proof.REDUCIBLE) == {"IMPL"}


# The facts themselves: real ledgers, real git


def test_an_iteration_in_full_passes(at: Desk) -> None:
    at.work("done-1.txt")
    found = look(at)
    assert found.ok
    assert set(statuses(found).values()) == {"present"}
    assert (found.missing, found.remediation, found.iteration) == ([], "", 1)
    assert proof(found, "PLAN").startswith("omo:planner finished at ")


def test_noting_phases_alone_proves_none(at: Desk) -> None:
    note_all(at)
    found = look(at)
    assert found.missing == list(PHASES)
    assert "omo ralph phase" not in found.remediation


def test_what_is_to_be_done_names_every_missing_phase(at: Desk) -> None:
    at.agent_finished("omo:planner")
    at.phase("PLAN")
    told = look(at).remediation
    assert re.findall(r"omo ralph phase (\w+)", told) == ["IMPL", "VERIFY", "REFINE", "SHIP"]
    assert told.endswith("then omo ralph artifacts again")


def test_without_an_iteration_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    made = desk(tmp_path)
    made.start()
    with pytest.raises(Refused) as refused:
        look(made)
    assert "omo ralph exec" in refused.value.fix


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("qa", "I am QA and it is fine"),
        ("general-purpose", "acting as omo:qa: passed"),
        ("other:qa", "passed"),
        ("omo:qa-reviewer", "passed"),
        ("", "passed"),
        ("omo:qa", ""),
        ("omo:qa", " \n\t"),
    ],
)
def test_who_is_not_our_qa_or_says_nothing_does_not_count(at: Desk, agent: str, message: str) -> None:
    for letter in "pe":
        at.agent_finished(LETTERS[letter])
    at.agent_finished(agent, message)
    at.agent_finished("omo:critic")
    at.gate_ran(fingerprint(at.root))
    note_all(at)
    assert look(at).missing == ["VERIFY", "REFINE"]


def test_agents_of_an_earlier_iteration_do_not_count(at: Desk) -> None:
    at.work("done-1.txt")
    assert look(at).ok
    at.judged(C1="pass")
    at.execute()
    note_all(at)
    assert look(at).missing == list(PHASES)
    play(at, "peqc", change="done-2.txt")
    assert look(at).ok


def test_agents_of_another_session_do_not_count(at: Desk) -> None:
    for agent in LETTERS.values():
        at.agent_finished(agent, session="s2")
    note_all(at)
    assert look(at).missing == list(PHASES)


def test_a_session_with_a_new_id_goes_on(at: Desk) -> None:
    """The host gave the running session another id: its row names the run, its agents count from there on."""
    at.now += 1
    runtime.move_session(at.state, "s1", "s9", now=at.now, wait=5.0)
    for agent in LETTERS.values():
        at.agent_finished(agent, session="s9")
    run = at.run(session="s9")
    found = exec_gate.check(run, run.require())
    assert {phase for phase, proof in statuses(found).items() if proof == "missing"} == set(PHASES)  # none noted
    assert proof(found, "VERIFY").startswith("omo:qa finished")


def test_a_row_that_no_hook_wrote_does_not_count(at: Desk) -> None:
    event = {"kind": "agent-finished", "agentType": "omo:planner", "message": "a plan", "digest": "", "cut": False}
    at.now += 1
    change = runtime.Change(None, at.row(), [event])
    runtime.change_session(at.state, "s1", lambda row: change, actor="agent", now=at.now, wait=5.0)
    at.phase("PLAN")
    assert "PLAN" in look(at).missing


def test_a_clock_that_was_set_back_brings_nothing_old_in(at: Desk) -> None:
    at.work("done-1.txt")
    at.judged(C1="pass")
    at.now -= 3600
    at.execute()
    assert look(at).missing == list(PHASES)


def test_touching_files_is_no_work(at: Desk) -> None:
    os.utime(at.root / "README.md", (1, 1))
    at.git("commit", "-q", "--allow-empty", "-m", "work")
    for letter in "pqc":
        at.agent_finished(LETTERS[letter])
    note_all(at)
    assert "IMPL" in look(at).missing


def test_what_qa_writes_down_is_no_work(at: Desk) -> None:
    at.write(".sisyphus/evidence/C1/attacks.txt")
    play(at, "pqc", change="")
    assert look(at).missing == ["IMPL"]


@pytest.mark.parametrize("commits", [False, True])
def test_changed_files_are_work_committed_or_not(at: Desk, commits: bool) -> None:
    at.write("README.md", "# a project\nwith more\n")
    if commits:
        at.commit()
    play(at, "pqc", change="")
    assert look(at).ok


def test_qa_before_the_work_is_no_qa_of_it(at: Desk) -> None:
    for letter in "pqc":
        at.agent_finished(LETTERS[letter])
    note_all(at)  # IMPL too, on the files of the beginning
    at.write("done-1.txt")
    at.gate_ran(fingerprint(at.root))
    found = look(at)
    assert (found.missing, found.without_work) == (["VERIFY", "REFINE"], [])
    assert "omo ralph phase IMPL" in found.remediation
    assert at.phase("IMPL")[1]  # now it is noted on files that changed
    assert not at.phase("IMPL")[1]
    at.agent_finished("omo:critic")
    assert look(at).missing == ["VERIFY", "REFINE"]
    at.agent_finished("omo:qa")
    at.agent_finished("omo:critic")
    assert look(at).ok


def test_taking_a_change_back_leaves_no_work(at: Desk) -> None:
    at.write("README.md", "# changed\n")
    at.write("README.md", "# a project\n")
    play(at, "pqc", change="")
    assert look(at).missing == ["IMPL"]


def test_without_git_a_changed_tree_is_work_and_nothing_is_small(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    made = Desk(root)
    made.start()
    made.execute()
    play(made, "pqc")
    assert look(made).ok


def test_a_skip_for_a_small_change_that_grew_does_not_count(at: Desk) -> None:
    at.write("done-1.txt", "one\n" * 49)
    for letter in "peq":
        at.agent_finished(LETTERS[letter])
    for phase in ("PLAN", "IMPL", "VERIFY"):
        at.phase(phase)
    at.phase("REFINE", SKIP)
    at.gate_ran(fingerprint(at.root))
    at.phase("SHIP")
    small = look(at)
    assert small.ok
    assert statuses(small)["REFINE"] == "skip-recorded"
    assert SKIP in proof(small, "REFINE")
    at.write("done-2.txt", "one\n")
    at.gate_ran(fingerprint(at.root))
    grown = look(at)
    assert grown.missing == ["REFINE"]
    assert "50 changed lines" in proof(grown, "REFINE")


def test_an_edit_after_the_gates_has_to_be_shipped_again(at: Desk) -> None:
    at.work("done-1.txt")
    at.write("done-2.txt")
    found = look(at)
    assert found.missing == ["SHIP"]
    assert "omo gate run" in found.remediation
    at.gate_ran(fingerprint(at.root))
    assert look(at).ok


def pin(at: Desk, name: str, by: str = "user", command: str = "true") -> None:
    at.now += 1
    gates.add(at.state, "s1", name, [command], by=by, cwd=".", program=None, now=at.now, wait=5.0)


def ran(at: Desk, name: str, result: str) -> None:
    at.now += 1
    row = {
        "name": name,
        "result": result,
        "exit": 0,
        "why": "",
        "timed_out": False,
        "seconds": 0.1,
        "tail": "",
        "tree": fingerprint(at.root),
    }
    gates.record_results(at.state, "s1", [row], actor="agent", now=at.now, wait=5.0)


def test_gates_that_were_pinned_before_count_with_a_run_of_this_iteration(tmp_path: Path) -> None:
    made = desk(tmp_path)
    made.start()
    pin(made, "tests")
    ran(made, "tests", "pass")
    made.execute()
    for letter in "peqc":
        made.agent_finished(LETTERS[letter])
    note_all(made)
    assert "tests was not run in this iteration" in proof(look(made), "SHIP")
    ran(made, "tests", "pass")
    assert look(made).ok


def test_a_failure_is_the_users_to_let_through(at: Desk) -> None:
    pin(at, "tests")
    for letter in "peqc":
        at.agent_finished(LETTERS[letter])
    note_all(at)
    ran(at, "tests", "fail")
    assert not look(at).ok
    gates.allow(at.state, "s1", "tests", str(at.root), now=at.now)
    assert look(at).ok
    ran(at, "tests", "fail")  # in the next round it fails again, and was let through
    assert look(at).ok


def test_a_new_pin_begins_anew(at: Desk) -> None:
    pin(at, "tests")
    for letter in "peqc":
        at.agent_finished(LETTERS[letter])
    ran(at, "tests", "pass")
    note_all(at)
    assert look(at).ok
    pin(at, "tests")
    assert look(at).ok, "the same once more is no new pin"
    pin(at, "tests", command="false")
    assert look(at).missing == ["SHIP"]


# --newer-than


def test_newer_than_leaves_out_what_was_seen_before(at: Desk) -> None:
    at.work("done-1.txt")
    middle = stamp(at.now)
    assert look(at, newer_than=stamp(at.now - 3600)).ok
    assert look(at, newer_than=middle).missing == ["PLAN", "VERIFY", "REFINE", "SHIP"]  # the changed tree has no time


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-22", "2026-02-22T17:20:01", "2026-13-01T00:00:00Z", "12Z"])
def test_a_time_that_is_none_is_refused(at: Desk, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        look(at, newer_than=text)
    assert "--newer-than" in refused.value.message
    assert "2026-02-22T17:20:01Z" in refused.value.fix


@pytest.mark.parametrize("text", ["2026-02-22T17:20:01Z", "2026-02-22T18:20:01+01:00", "2026-02-22T17:20:01.000+00:00"])
def test_a_time_is_read_with_its_zone(text: str) -> None:
    assert exec_gate.moment(text) == "2026-02-22T17:20:01.000Z"


# Damage


def damage_session(at: Desk) -> None:
    path = Path(paths.events_file(at.state, "s1"))
    path.write_text(path.read_text().replace("omo:planner", "omo:planter"))


def test_a_damaged_session_ledger_proves_nothing_and_accuses_nobody(at: Desk) -> None:
    at.work("done-1.txt")
    damage_session(at)
    found = look(at)
    assert found.missing == list(PHASES)
    assert "omo ledger verify" in found.remediation
    assert "omo ledger repair --session s1" in found.remediation
    before = at.kinds()
    run = at.run()
    with pytest.raises(Refused) as refused:
        exec_gate.record_circumvention(run, run.require(), found)
    assert "omo ledger repair" in refused.value.fix
    assert at.kinds() == before


def test_a_forged_row_at_the_end_proves_nothing(at: Desk) -> None:
    path = Path(paths.events_file(at.state, "s1"))
    last = ledger.rows(str(path))[-1]
    row = {**last, "seq": last["seq"] + 1, "kind": "agent-finished", "agentType": "omo:qa", "message": "passed"}
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")
    assert look(at).missing == list(PHASES)


def test_after_the_user_sealed_the_ledger_the_phases_can_be_done_again(at: Desk) -> None:
    at.work("done-1.txt")
    damage_session(at)
    at.now += 1
    environ = {"OMO_PROJECT_DIR": str(at.root)}
    assert main(["ledger", "repair", "--session", "s1"], environ, str(at.root), at.now, has_terminal=True) == 0
    assert look(at).missing == ["PLAN", "VERIFY", "REFINE", "SHIP"]
    for letter in "pqc":
        at.agent_finished(LETTERS[letter])
    at.gate_ran(fingerprint(at.root))
    assert look(at).ok


def test_a_session_that_was_let_go_is_told_why_nothing_is_seen(at: Desk) -> None:
    note_all(at)
    assert "the user types ulw" not in look(at).remediation
    at.change_row(lambda row: session.cancel(row, reason="user", now=at.now))
    assert "the user types ulw" in look(at).remediation


# Circumvention


def ask(at: Desk) -> int:
    run = at.run()
    standing = run.require()
    return exec_gate.record_circumvention(run, standing, exec_gate.check(run, standing))


def test_each_attempt_is_recorded_and_the_third_ends_the_run(at: Desk) -> None:
    assert [ask(at), ask(at)] == [1, 2]
    standing = at.standing()
    assert standing.open_iteration
    assert standing.iteration == 1  # what is missing can still be done in it
    assert ask(at) == 3
    ended = at.standing().ended
    assert ended is not None
    assert (ended["how"], ended["verdict"], ended["receipt"]) == ("circumvented", "fail", None)
    row = at.standing().rows[-2]
    assert (row["kind"], row["iteration"], row["attempt"]) == ("exec-circumvention", 1, 3)
    assert row["missing"] == list(PHASES)


def test_attempts_are_counted_over_the_whole_run(at: Desk) -> None:
    assert ask(at) == 1
    at.work("done-1.txt")
    at.judged(C1="pass")
    at.execute()
    assert [ask(at), ask(at)] == [2, 3]
    assert not at.standing().is_open


def test_after_an_attempt_the_missing_phases_can_be_done(at: Desk) -> None:
    ask(at)
    at.work("done-1.txt")
    assert look(at).ok


def test_an_attempt_on_an_iteration_that_is_over_is_refused(at: Desk) -> None:
    run = at.run()
    standing = run.require()
    found = exec_gate.check(run, standing)
    at.judged(C1="pass")
    at.execute()
    with pytest.raises(Refused):
        exec_gate.record_circumvention(run, standing, found)


# The command


def command(at: Desk, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    at.now += 1
    environ = {"OMO_PROJECT_DIR": str(at.root), "OMO_SESSION_ID": "s1", "CLAUDECODE": "1"}
    code = main(["ralph", "artifacts", *words], environ, str(at.root), at.now)
    shown = capsys.readouterr()
    return code, shown.out or shown.err


def snapshot(at: Desk) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path(at.state).rglob("*")) if path.is_file()}


def test_the_command_only_looks(at: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(at)
    code, out = command(at, capsys, "--json")
    told = json.loads(out)
    assert code == 3
    assert set(told) == {"ok", "iteration", "checks", "missing", "remediation"}
    assert (told["ok"], told["iteration"], told["missing"]) == (False, 1, list(PHASES))
    assert [set(one) for one in told["checks"]] == [{"phase", "status", "proof"}] * len(PHASES)
    assert snapshot(at) == before


def test_the_command_says_in_words_what_is_there(at: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    at.work("done-1.txt")
    code, out = command(at, capsys)
    assert code == 0
    assert out.startswith("Iteration 1: 5 of 5 phases proven\n  present       PLAN    omo:planner finished")
    assert "To do" not in out


@pytest.mark.parametrize(("words", "code"), [(["--newer-than", "soon"], 2), (["--run", "r1-0"], 2)])
def test_what_cannot_be_looked_at_is_refused(
    at: Desk, capsys: pytest.CaptureFixture[str], words: list[str], code: int
) -> None:
    assert command(at, capsys, *words)[0] == code


def test_a_reduced_scope_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = desk(tmp_path)
    made.start(by="user", reduced_scope="a hot fix, agreed by phone")
    made.execute()
    code, out = command(made, capsys)
    assert code == 3  # still no work
    assert "missing       IMPL" in out
    made.write("done-1.txt")
    made.phase("PLAN")
    made.phase("IMPL")
    code, out = command(made, capsys)
    assert code == 0
    assert "reduced       VERIFY" in out
    assert "Reduced scope: a hot fix, agreed by phone" in out
