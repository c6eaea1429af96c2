"""Done is what pinned commands say on the tree as it is; everything else is refused with what to do."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from omo.state import paths
from omo.work import session
from tests import texts
from tests.cli.sessions import use_blocks
from tests.project import SESSION, Project
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import ONE

PASSES = [sys.executable, "-c", "pass"]
FAILS = [sys.executable, "-c", "print('two and two'); raise SystemExit(1)"]
NEEDS_NEW = ["grep", "-q", "new", "value"]
BECAUSE = "value rewritten"


def pin(project: Project, name: str, argv: list[str]) -> None:
    assert project.agent("gate", "add", name, "--", *argv).code == 0


def test_a_run_from_start_to_done(project: Project) -> None:
    assert project.agent("ulw", "start").code == 0
    pin(project, "value", NEEDS_NEW)
    assert project.agent("gate", "run").code == 3
    refused = project.agent("ulw", "done")
    assert refused.code == 3
    assert refused.says("ulw-fails-exit", gate="value", number=1)
    project.write("value", "new\n")
    assert "changed" not in project.agent("gate", "run").err
    refused = project.agent("ulw", "done")
    assert (refused.code, "--because" in refused.err) == (3, True), "the agent chose the gate"
    done = project.agent("ulw", "done", "--because", BECAUSE)
    assert done.out.endswith(f"; the agent says: “{BECAUSE}”. The session may stop.\n")
    assert project.row()["work"]["ulw"]["state"] == "ended"
    assert project.row()["work"]["ulw"]["outcome"]["verdict"] == "attested"
    assert [row["kind"] for row in project.events()] == [
        *("activated", "gate-added", "gate-ran", "gate-ran", "gate-ran", "done"),
    ], "what failed is run once more when the end is asked for"


def test_what_failed_is_run_again_though_no_file_has_changed(project: Project, tmp_path: Path) -> None:
    """The database is up by now, a package is installed, the work is committed."""
    project.agent("ulw", "start")
    pin(project, "up", ["test", "-e", str(tmp_path / "up")])
    project.write("value", "new\n")
    assert project.check("ulw", "done", code=3).says("ulw-fails-exit", gate="up", number=1)
    (tmp_path / "up").touch()
    assert "gate up passes" in project.check("ulw", "done", "--because", BECAUSE).out


def test_next_has_the_way_on_where_no_test_shows_the_work(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "passes", ["true"])
    project.write("value", "new\n")
    project.check("ulw", "done", code=3)
    said = project.check("next").out
    assert (
        '  $ omo ulw done\n  $ omo ulw done --because "why the work is done"   (or, where no test can show it)' in said
    )


def test_next_has_the_way_on_where_only_documents_were_changed(project: Project) -> None:
    project.write("Makefile", "test:\n\ttrue\n")
    project.commit()
    project.agent("ulw", "start")
    project.write("README.md", "what it does\n")
    project.check("ulw", "done", code=3)
    said = project.check("next").out
    assert '$ omo ulw done --because "why the work is done"   (or, where no test can show it)' in said


def test_work_in_another_worktree_is_to_be_brought_to_the_run(project: Project, tmp_path: Path) -> None:
    project.write("Makefile", "test:\n\tgrep -q new value\n")
    project.commit()
    project.prompt("ulw mend value")
    project.git("worktree", "add", "-q", str(tmp_path / "side"))
    (tmp_path / "side" / "value").write_text("new\n")
    in_the_project = {"OMO_PROJECT_DIR": str(project.root)}
    refused = project.check("ulw", "done", cwd=tmp_path / "side", env=in_the_project, code=3).err
    assert texts.says(refused, "ulw-no-file-changed-where-run-is", root=project.root, side=tmp_path / "side")
    assert "--because" not in refused
    project.write("value", "new\n")
    assert "Done, proven" in project.check("ulw", "done", cwd=tmp_path / "side", env=in_the_project).out


def test_a_run_in_a_worktree_that_lies_in_another_is_where_it_is(project: Project) -> None:
    project.write("Makefile", "test:\n\tgrep -q new value\n")
    project.commit()
    project.git("worktree", "add", "-q", "trees/side")
    side = Project(project.root / "trees" / "side")
    side.prompt("ulw mend value")
    refused = side.check("ulw", "done", code=3).err
    assert (texts.says(refused, "proof-no-file-was-changed"), "side" in refused) == (True, False)


MEANWHILE = """
import os, sys
from pathlib import Path
here = Path({root!r})
is_as_it_is = "new" in (here / "value").read_text() and "new" in (here / "test_value.sh").read_text()
if is_as_it_is and not (here / ".git" / "typed").exists():
    (here / ".git" / "typed").touch()
    os.environ["HOME"] = {home!r}
    sys.path[:0] = {path!r}
    from tests.project import Project
    Project(here, now={now!r}).prompt({prompt!r})
"""


def while_the_gate_runs(project: Project, prompt: str) -> None:
    """What the user types in the client while `omo ulw done` runs their gate on the files as they are."""
    values = {"root": str(project.root), "home": os.environ["HOME"], "path": sys.path, "now": project.now + 100}
    script = MEANWHILE.format(**values, prompt=prompt)
    (project.root / ".git" / "meanwhile.py").write_text(script, encoding="utf-8")
    project.write("test_value.sh", "grep -q old value\n")
    project.commit()
    project.prompt("ulw let the value be new")
    gate = f"{shlex.quote(sys.executable)} .git/meanwhile.py; sh test_value.sh"
    project.prompt(f"/omo:pin tests -- sh -c {shlex.quote(gate)}")
    project.write("value", "new\n")
    project.write("test_value.sh", "grep -q new value\n")


def test_what_the_user_allows_while_gates_run_counts(project: Project) -> None:
    while_the_gate_runs(project, "/omo:allow test_value.sh")
    assert "Done, proven" in project.check("ulw", "done").out
    assert [row["kind"] for row in project.events()].count("change-allowed") == 1


def test_a_stop_while_gates_run_ends_it(project: Project) -> None:
    while_the_gate_runs(project, "/omo:stop-continuation")
    assert project.check("ulw", "done", code=3).says("ulw-ultrawork-is-not-on-in-session")
    assert "done" not in [row["kind"] for row in project.events()]


def test_a_task_that_is_typed_while_gates_run_is_of_the_run(project: Project) -> None:
    while_the_gate_runs(project, "ulw and name it in the README")
    project.prompt("/omo:allow test_value.sh")
    assert "the run began with “ulw let the value be new”" in project.check("ulw", "done").out


def test_stop_and_next_say_why_done_was_refused_until_a_gate_runs(project: Project) -> None:
    project.write("test_value.sh", "grep -q old value\n")
    project.commit()
    project.prompt("ulw let the value be new")
    project.prompt("/omo:pin tests -- sh test_value.sh")
    project.write("value", "new\n")
    project.write("test_value.sh", "grep -q new value\n")
    why = "nothing that omo saw proves the work: gate tests passes; it passes only with the changed test_value.sh"
    assert why in project.check("ulw", "done", code=3).err
    assert f"omo ulw done was refused when it was called last: {why}" in project.stop().json["reason"]
    said = project.check("next").out
    assert (why in said, "they type /omo:allow test_value.sh" in said) == (True, True)
    project.check("gate", "run")
    assert why not in project.check("next").out
    question = "/omo:allow test_value.sh?"
    project.check("ulw", "blocked", "--evidence", "the value is new, as asked", "--question", question)
    assert project.stop().says_to_user("stop-way-to-allow", command="/omo:allow test_value.sh")
    project.prompt("/omo:allow test_value.sh")
    project.check("ulw", "done")


def test_next_offers_no_end_on_ones_word_before_the_tests_have_run(project: Project) -> None:
    project.write("Makefile", "test:\n\ttrue\n")
    project.commit()
    project.prompt("ulw mend value")
    on_word = "$ omo ulw done --because"
    assert on_word in project.check("next").out, "it may be a question"
    project.write("value", "new\n")
    said = project.check("next").out
    assert ("$ omo ulw done   (when the work is complete)" in said, on_word in said) == (True, False)
    assert project.stop().says_to_agent("stop-nothing-has-shown-the-work", command="make test")
    assert project.check("ulw", "done", code=3).says("ulw-or-to-finish-as-it-is")
    assert on_word in project.check("next").out


def test_the_agents_word_does_not_hide_that_the_old_tests_could_not_be_loaded(project: Project) -> None:
    tests = (
        "import unittest\n\nimport {0}\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        {0}.one()\n"
    )
    project.write("cart.py", "def one():\n    return 1\n")
    project.write("test_it.py", tests.format("cart"))
    project.commit()
    project.prompt("ulw rename cart to basket")
    (project.root / "cart.py").rename(project.root / "basket.py")
    project.write("test_it.py", tests.format("basket"))
    why = "with test_it.py as before it does not get to its tests (ModuleNotFoundError: No module named 'cart')"
    assert why in project.check("ulw", "done", code=3).err
    said = project.check("ulw", "done", "--because", "a rename, and every import follows").out
    assert why in said
    assert "it was not tried" not in said


def test_done_without_a_gate_is_refused_with_both_ways_out(project: Project) -> None:
    project.agent("ulw", "start")
    project.write("value", "new\n")
    refused = project.agent("ulw", "done", "--json")
    assert refused.code == 3
    assert refused.json["ok"] is False
    assert refused.says("ulw-one-that-the-user-pins")
    assert "--because" in refused.json["error"]["fix"]


@pytest.mark.parametrize("option", ["--because", "--skip-verification"])
@pytest.mark.parametrize("reason", ["no", "         x"])
def test_a_reason_has_to_explain_something(project: Project, option: str, reason: str) -> None:
    project.agent("ulw", "start")
    pin(project, "ok", PASSES)
    refused = project.agent("ulw", "done", option, reason)
    assert (refused.code, option in refused.err) == (2, True)


def test_only_what_could_run_and_did_not_is_skipped(project: Project) -> None:
    project.agent("ulw", "start")
    skip = ("ulw", "done", "--skip-verification", "there is no network here")
    assert project.agent(*skip).code == 2, "there is nothing to skip"
    pin(project, "value", NEEDS_NEW)
    project.agent("gate", "run")
    project.write("other", "work\n")
    refused = project.agent(*skip)
    assert (refused.code, refused.says("ulw-skip-verification-does-not-go-over-gate", names="value")) == (3, True), (
        "be it on other files"
    )
    project.agent("gate", "remove", "value")
    pin(project, "before", PASSES)
    project.agent("gate", "run")
    project.write("value", "newer\n")
    pin(project, "never", PASSES)
    assert project.agent(*skip).code == 0
    ended = project.events()[-1]["outcome"]
    assert ended["verdict"] == "waived"
    assert [(each["what"], each["by"]) for each in ended["exceptions"]] == [
        ("gate before passed, but since then changed: value", "agent"),
        ("gate never was not run in this run", "agent"),
        ("gate value (grep -q new value) failed", "agent"),
    ]


def test_a_pass_is_stale_once_the_tree_changes_and_done_runs_it_again(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "ok", PASSES)
    project.agent("gate", "run")
    project.write("value", "changed after\n")
    assert project.agent("ulw", "status").says("ulw-changed-since", files="value")
    ran = len([event for event in project.events() if event["kind"] == "gate-ran"])
    assert project.agent("ulw", "done", "--because", BECAUSE).code == 0
    assert len([event for event in project.events() if event["kind"] == "gate-ran"]) == ran + 1


def test_a_gate_that_writes_files_does_not_stale_its_neighbours(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "first", PASSES)
    pin(project, "writes", [sys.executable, "-c", "open('built', 'w').write('x')"])
    pin(project, "last", PASSES)
    ran = project.agent("gate", "run")
    assert (ran.code, ran.says("gate-written-by-run-itself-and", left_out="built")) == (0, True)
    assert project.agent("ulw", "done", "--because", BECAUSE).code == 0


def test_a_refusal_names_a_program_that_came_after_the_pin(project: Project) -> None:
    project.prompt("ulw write the value")
    project.prompt("/omo:pin value -- look")
    project.write("tools/look", "#!/bin/sh\ngrep -q new value\n").chmod(0o755)
    path = f"{project.root}/tools:{os.environ['PATH']}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path)
        assert project.agent("gate", "run", env={"PATH": path}).code == 3
        project.write("value", "newer\n")
        project.check("gate", "run", env={"PATH": path})
        refused = project.agent("ulw", "done", env={"PATH": path})
    assert refused.code == 3
    assert refused.says("ulw-gate-ran-a-newer-program", gate="value", path=f"{project.root}/tools/look")


def test_an_end_on_the_agents_word_names_the_tests_that_changed_in_it(project: Project) -> None:
    """Later runs are held against them as they are then."""
    project.write("test_value.sh", "grep -q new value\n")
    project.commit("a test")
    project.prompt("ulw tidy the tests")
    project.prompt("/omo:pin tests -- sh test_value.sh")
    project.write("test_value.sh", "true\n")
    project.write("notes.py", "pass\n")
    project.check("gate", "run")
    ended = project.check("ulw", "done", "--because", "the tests are tidy and clean now").out
    assert "changed, and not held against what they were: test_value.sh" in ended


def test_passing_gates_alone_do_not_end_the_run(project: Project) -> None:
    """The pass may be stale by the time of the Stop; only `ulw done` looks at the tree."""
    project.agent("ulw", "start")
    pin(project, "value", NEEDS_NEW)
    project.write("value", "new\n")
    project.agent("gate", "run")
    project.write("value", "broken again\n")
    assert "block" in project.agent("explain", "stop").out
    assert project.agent("ulw", "done").code == 3


def test_a_gate_that_newly_passes_renews_the_budget_and_a_repeat_does_not(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "value", NEEDS_NEW)
    use_blocks(project, 5)
    project.agent("gate", "run")
    assert project.row()["ulw"]["stopBlocks"] == 5
    project.write("value", "new\n")
    project.agent("gate", "run")
    assert project.row()["ulw"]["stopBlocks"] == 0
    use_blocks(project, 5)
    project.agent("gate", "run")
    assert project.row()["ulw"]["stopBlocks"] == 5
    pin(project, "late", ["test", "-f", ".git/late"])
    for text in ("new\n", "newer\n", "new\n"):
        project.write("value", text)
        project.agent("gate", "run", "late")
    project.write(".git/late")
    assert project.agent("gate", "run", "late").code == 0
    assert project.row()["ulw"]["stopBlocks"] == 5, "these files were there before, and left"


@pytest.mark.parametrize(
    ("argv", "code", "result"),
    [
        (PASSES, 0, "pass"),
        (FAILS, 3, "fail"),
        (["no-such-program"], 4, "unknown"),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], 3, "fail"),
    ],
)
def test_exit_codes_of_a_gate(project: Project, argv: list[str], code: int, result: str) -> None:
    pin(project, "g", argv)
    ran = project.agent("gate", "run", "--json")
    assert ran.code == code
    assert ran.json["gates"][0]["result"] == result
    assert "ran" not in ran.json["gates"][0], "packed names are no use to a reader"


def test_a_real_failure_outranks_an_unknown(project: Project) -> None:
    pin(project, "missing", ["no-such-program"])
    pin(project, "fails", FAILS)
    ran = project.agent("gate", "run")
    assert ran.code == 3
    assert "two" in ran.out


def test_a_runner_with_another_in_its_place_has_not_passed(project: Project) -> None:
    project.agent("ulw", "start")
    project.write("test_value.py", "import unittest\nclass T(unittest.TestCase):\n    def test(self): assert 0\n")
    pin(project, "tests", [sys.executable, "-B", "-m", "unittest"])
    assert project.agent("gate", "run").code == 3
    project.write("unittest.py", "")
    shadowed = project.agent("gate", "run")
    assert shadowed.code == 4
    assert shadowed.says("gate-unknown-stands-in-place-of-runner", file="unittest.py")


def test_of_a_check_that_no_commit_has_it_is_said_where_was_looked(project: Project) -> None:
    project.write("a.txt", "a\n")
    project.commit("a file")
    project.write("Makefile", "test:\n\ttrue\n")
    assert project.agent("gate", "suggest").says("ulw-no-check-was-found-in-this-project")


def test_the_projects_own_checks_are_listed_with_where_they_were_found(project: Project) -> None:
    nothing = project.agent("gate", "suggest").out
    assert texts.says(nothing, "ulw-no-check-was-found-in-this")
    assert texts.says(nothing, "ulw-no-check-was-found-in-this")
    project.write("pkg/package.json", '{"scripts": {"test": "node --test", "lint": "eslint ."}}')
    project.write("pkg/src/a.js", "")
    project.commit("a package")
    below = {"OMO_PROJECT_DIR": str(project.root / "pkg" / "src")}
    offered = project.agent("gate", "suggest", env=below)
    first, second, third = offered.out.splitlines()
    assert first.split("  # ")[0].rstrip() == "omo gate add --cwd pkg tests -- npm test"
    assert first.endswith("  # pkg/package.json, script test")
    assert (second.split()[4], texts.says(third, "ulw-user-pins-all")) == ("pkg", True)
    as_json = project.agent("gate", "suggest", "--json", env=below).json
    assert as_json["checks"][1]["cwd"] == "pkg"
    assert as_json["checks"][0]["argv"] == ["npm", "test"]
    project.agent("ulw", "start")
    assert "nothing has shown the work yet; it runs npm test" in project.agent("ulw", "status", env=below).out
    assert project.agent("gate", "add", "--cwd", "pkg", "tests", "--", "nmp", "test").out.splitlines() == [
        "Gate tests pinned by the agent: nmp test (in pkg)",
        "There is no program nmp here yet.",
    ]
    assert project.agent("gate", "list").says("ulw-gate-not-run-of-agent", command="nmp test", directory="pkg")
    assert project.agent("gate", "run").says(
        "gate-unknown-in-program-not-found-install", gate="tests", directory="pkg", word="nmp"
    )


def test_a_gate_that_hangs_is_ended(project: Project) -> None:
    argv = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert project.agent("gate", "add", "slow", "--timeout", "0.2", "--", *argv).code == 0
    ran = project.agent("gate", "run", "slow")
    assert ran.code == 4
    assert "timed out" in ran.out
    assert ran.says("ulw-more-time", time="1m", gate="slow")
    assert "timed out" in project.agent("status").out, "also for who looks later"


@pytest.mark.parametrize(
    "argv",
    [
        ["gate", "add", "a/b", "--", "x"],
        ["gate", "add", "", "--", "x"],
        ["gate", "add", "ok"],
        ["gate", "add", "ok", "--", ""],
        ["gate", "add", "ok", "--", "x" * 9000],
        ["gate", "add", "ok", "--cwd", "..", "--", "x"],
        ["gate", "add", "ok", "--cwd", "nowhere", "--", "x"],
        ["gate", "add", "ok", "--sealed", "../gen", "--", "x"],
        ["gate", "add", "ok", "--timeout", "0", "--", "x"],
        ["gate", "add", "ok", "--timeout", "soon", "--", "x"],
        ["gate", "add", "ok", "--timeout", "25h", "--", "x"],
        ["gate", "remove", "unknown"],
        ["gate", "run", "unknown"],
        ["gate", "record", "unknown", "--pre-existing", "--evidence", "it failed before too"],
        ["gate", "frobnicate"],
        ["frobnicate"],
    ],
)
def test_bad_input_is_exit_2_names_the_trouble_and_changes_nothing(project: Project, argv: list[str]) -> None:
    ran = project.agent(*argv)
    assert ran.code == 2
    assert ran.err.startswith("omo: ")
    assert "fix:" in ran.err
    assert "Traceback" not in ran.err
    assert "by a link" not in ran.err, "none is there"
    assert not project.events()


def test_a_command_is_run_without_a_shell_and_what_it_prints_drives_no_terminal(project: Project) -> None:
    pin(project, "odd", ["printf", "%s", "a; touch hacked | $(touch hacked) # 'x'"])
    pin(project, "loud", [sys.executable, "-c", "print('\\033]0;pwn\\007'); raise SystemExit(1)"])
    script = 'printf "    x = 1 +\\n            ^\\n\\tSyntaxError\\n"; exit 1'
    pin(project, "points", ["sh", "-c", script])
    printed = project.agent("gate", "run").out
    assert not set("\033\007") & set(printed)
    assert "        |     x = 1 +\n        |             ^\n        |     SyntaxError" in printed, (
        "a caret has a column"
    )
    odd = project.agent("gate", "run", "odd", "--json").json["gates"][0]
    assert odd["tail"] == "a; touch hacked | $(touch hacked) # 'x'"
    assert not (project.root / "hacked").exists()


RECORD = ("gate", "record", "value", "--pre-existing", "--evidence")


def test_a_gate_that_passes_on_files_which_change_under_it_passes_on_none(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "writes", ["sh", "-c", "echo more >> value.py"])
    ran = project.agent("gate", "run", "--json")
    assert (ran.code, ran.json["gates"][0]["result"]) == (4, "unknown"), ran.out
    assert texts.says(ran.json["gates"][0]["why"], "gate-these-changed-while-it-ran", moved="value.py")


def test_recording_needs_a_failure_that_this_run_saw_before_the_work(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "value", NEEDS_NEW)
    not_run = project.agent(*RECORD, "failed before")
    assert (not_run.code, not_run.says("ulw-gate-has-no-failure-to-record")) == (3, True)
    project.write("other", "work\n")
    project.agent("gate", "run")
    unseen = project.agent(*RECORD, "failed before")
    assert (unseen.code, unseen.says("gate-mend-or-remove-your-own", gate="value")) == (3, True)
    (project.root / "other").unlink()
    project.agent("gate", "run")
    assert project.agent(*RECORD, "short").code == 2
    assert project.agent(*RECORD, "failed before").code == 0
    done = project.agent("ulw", "done", "--because", BECAUSE)
    assert done.says("end-with-failure-of-before", gate="value", by="agent", why="failed before")


def test_a_gate_that_passed_before_the_work_has_no_failure_of_then(project: Project) -> None:
    assert project.agent("gate", "run").says("run-no-gate-is-pinned")
    project.agent("ulw", "start")
    pin(project, "value", ["grep", "-q", "old", "value"])
    project.agent("gate", "run")
    project.write("value", "new\n")
    project.agent("gate", "run")
    refused = project.agent(*RECORD, "failed before")
    assert (refused.code, refused.says("ulw-nobody-has-seen-gate-fail-without", gate="value")) == (3, True)


def test_a_recorded_failure_is_looked_at_again_on_the_files_of_the_end(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "value", NEEDS_NEW)
    project.agent("gate", "run")
    project.agent(*RECORD, "failed before")
    project.write("other", "work\n")
    assert project.agent("ulw", "done", "--because", BECAUSE).code == 0
    assert [event["changed"] for event in project.events() if event["kind"] == "gate-ran"][-1].keys() == {"other"}
    assert project.events()[-1]["outcome"]["verdict"] == "waived"


def test_a_gate_that_passes_is_recorded_no_more(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "value", NEEDS_NEW)
    project.agent("gate", "run")
    project.agent(*RECORD, "failed before")
    project.write("value", "new\n")
    project.agent("gate", "run")
    project.write("value", "old\n")
    project.agent("gate", "run")
    assert project.agent("ulw", "done", "--because", BECAUSE).code == 3


def test_every_pin_says_who_made_it_and_the_users_stands(project: Project) -> None:
    assert project.user("gate", "add", "tests", "--session", SESSION, "--", *FAILS).code == 0
    refused = project.agent("gate", "add", "tests", "--", "true")
    assert refused.code == 3
    assert refused.says("gate-pinned-by-user-as")
    pin(project, "mine", PASSES)
    pin(project, "both", PASSES)
    project.user("gate", "add", "both", "--session", SESSION, "--", *PASSES)
    project.agent("gate", "add", "mine", "--", *FAILS, session="another")
    project.prompt("/omo:unpin mine", session="another")
    listed = project.agent("gate", "list", "--json").json["gates"]
    assert {gate["name"]: gate["by"] for gate in listed} == {"tests": "user", "mine": "agent", "both": "user"}


def test_results_of_an_earlier_run_do_not_count_in_the_next(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "value", NEEDS_NEW)
    project.write("value", "new\n")
    project.agent("gate", "run")
    assert project.agent("ulw", "done", "--because", BECAUSE).code == 0
    project.change_row(session.close)
    project.user("ulw", "start", "--session", SESSION)
    assert project.row()["work"]["ulw"]["open"] == 1
    assert project.agent("gate", "list").out.startswith("not run")


def test_a_changed_ledger_goes_on_from_its_whole_rows(project: Project) -> None:
    project.agent("ulw", "start")
    pin(project, "fails", FAILS)
    project.agent("gate", "run")
    path = Path(paths.events_file(project.state, SESSION))
    path.write_text(path.read_text().replace('"result":"fail"', '"result":"pass"'))
    assert project.agent("ledger", "verify").code == 3
    refused = project.agent("ulw", "done")
    assert refused.says("ulw-gates-do-not-hold", left=1, total=1), "what the edited row said is gone"
    assert project.agent("ledger", "verify").code == 0
    assert list(path.parent.glob("events.jsonl.damaged-*"))
    done = project.agent("gate", "remove", "fails")
    assert done.code == 0
    ended = project.check("ulw", "done", "--because", "the gate was no part of the task", "--json").json["outcome"]
    assert texts.says(
        [let_through["what"] for let_through in ended["exceptions"]][-1], "end-its-ledger-was-damaged-after", get=2
    )


def test_a_forged_pin_is_not_run(project: Project) -> None:
    """An agent that writes its own row into the ledger has not pinned anything."""
    project.agent("ulw", "start")
    path = Path(paths.events_file(project.state, SESSION))
    forged = {"seq": 2, "kind": "gate-added", "name": "x", "argv": ["touch", "hacked"], "cwd": ".", "by": "user"}
    path.write_text(path.read_text() + json.dumps({**forged, "timeout": 5, "tree": None, "prev": "0"}) + "\n")
    assert project.agent("gate", "run").code == 3
    assert not (project.root / "hacked").exists()


def test_blocked_and_waiting_let_the_session_stop_and_come_back(project: Project) -> None:
    project.agent("ulw", "start")
    assert project.agent("ulw", "blocked", "--evidence", "no").code == 2
    assert project.agent("ulw", "blocked", "--evidence", "registry answers 403").code == 0
    assert project.row()["work"]["ulw"]["state"] == "waiting"
    assert "waiting" in project.agent("explain", "stop").out
    assert project.agent("resume").code == 0
    project.agent("ulw", "blocked", "--evidence", "two designs are possible", "--question", "A or B?")
    assert project.row()["work"]["ulw"]["state"] == "waiting"
    assert project.agent("resume").code == 0
    assert project.agent("resume").code == 3


@pytest.mark.parametrize("before", ["blocked", "done", "stop"])
def test_what_stands_still_already_is_not_recorded_as_blocked_once_more(project: Project, before: str) -> None:
    project.commit()
    project.prompt("ulw make value new")
    if before == "stop":
        project.prompt("stop")
    elif before == "done":
        project.check("ulw", "done", "--because", "the value is as it should be")
    else:
        project.check("ulw", "blocked", "--evidence", "registry answers 403")
    was = project.row()
    refused = project.agent("ulw", "blocked", "--evidence", "two designs are possible", "--question", "A or B?")
    assert (refused.code, refused.says("ulw-nothing-is-active-in-session"), project.row()) == (3, True, was)
    assert "nd the turn" in project.check("next").out


def test_the_agent_cannot_use_the_escape_hatch_or_undo_the_users_word(project: Project) -> None:
    project.agent("ulw", "start")
    refused = project.agent("stop-continuation")
    assert refused.code == 3
    assert project.agent("stop-continuation", "--all").code == 3
    assert project.row()["ulw"]["enabled"] is True
    assert project.user("stop-continuation", "--session", SESSION).code == 0
    refused = project.agent("ulw", "start")
    assert refused.code == 3
    assert refused.says("ulw-ask-user-to-type-ulw")
    assert project.agent("resume").code == 3


def test_the_agent_cannot_renew_its_budget_or_raise_its_limits(project: Project) -> None:
    high = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION, "OMO_MAX_STOP_BLOCKS": "500"}
    assert project.omo("ulw", "start", "--json", by="user", env=high).json["limits"]["max_stop_blocks"] == 8
    use_blocks(project, 5)
    assert project.omo("ulw", "start", by="user", env=high).code == 3
    assert project.row()["ulw"]["stopBlocks"] == 5
    low = {**high, "CLAUDE_CODE_SESSION_ID": "other", "OMO_MAX_STOP_BLOCKS": "3"}
    assert project.omo("ulw", "start", "--json", by="user", env=low).json["limits"]["max_stop_blocks"] == 3


def test_the_escape_hatch_from_any_terminal(project: Project) -> None:
    assert "No session" in project.user("stop-continuation", "--all").out
    project.omo("ulw", "start", by="user", env={"CLAUDE_CODE_SESSION_ID": "one"})
    assert project.user("stop-continuation").code == 0
    assert "No session" in project.user("stop-continuation").out
    assert project.row("one")["stopContinuation"]["disabled"] is True
    for name in ("two", "three"):
        project.omo("ulw", "start", by="user", env={"CLAUDE_CODE_SESSION_ID": name})
    unclear = project.user("stop-continuation")
    assert unclear.code == 2
    assert "two, three" in unclear.err
    assert project.user("stop-continuation", "--all", "--json").json["sessions"] == ["two", "three"]
    assert project.user("status", "--json").json["sessions"][0]["mode"] == "cancelled"


def test_a_refused_setting_is_said_on_stderr(project: Project) -> None:
    project.environ["OMO_MAX_STOP_BLOCKS"] = "-1"
    ran = project.agent("ulw", "start", "--json")
    assert ran.json["limits"]["max_stop_blocks"] == 8
    assert "OMO_MAX_STOP_BLOCKS: '-1'" in ran.err


def test_a_newer_state_file_is_refused_by_the_cli(project: Project) -> None:
    project.make_state()
    Path(paths.runtime_file(project.state)).write_text('{"version": 7, "sessions": {}}')
    ran = project.agent("ulw", "start")
    assert ran.code == 3
    assert ran.says("state-update-plugin")


def test_an_unwritable_project_is_one_actionable_line(project: Project) -> None:
    project.write(".sisyphus", "a file in the way")
    ran = project.user("ulw", "start", session=SESSION)
    assert ran.code == 77
    assert "OMO_STATE_DIR" in ran.err


def test_git_sees_nothing_of_a_whole_run(project: Project) -> None:
    project.commit()
    project.agent("ulw", "start")
    pin(project, "ok", PASSES)
    project.agent("gate", "run")
    project.agent("ulw", "done", "--because", BECAUSE)
    assert project.git("status", "--porcelain") == ""


# What the agent reads that is sent back


def sent_back(project: Project) -> str:
    project.now += 10
    answer = project.stop(last_assistant_message=f"done at {project.now}")
    return str(answer.json["reason"])


def test_the_first_block_is_whole_and_later_ones_say_what_changed(project: Project) -> None:
    project.prompt("ulw fix the tests")
    assert texts.says(sent_back(project), "stop-way-out")
    lead = "Ultrawork active: continuing until verification gates pass or stop requested."
    short = "Open as before: omo next says what. Block 2 of 8. Cannot go on? omo ulw blocked --evidence TEXT."
    assert sent_back(project) == f"{lead} {short}"
    project.agent("gate", "add", "tests", "--", "false")
    changed = sent_back(project)
    assert texts.says(changed, "stop-open-gates-of-when-work-is", left=1, total=1, names=": tests")
    assert not texts.says(changed, "stop-way-out")
    assert texts.says(sent_back(project), "stop-open-as-before-omo-next-says")
    project.prompt("ulw go on")
    assert texts.says(sent_back(project), "stop-way-out")


def test_a_block_of_goals_says_what_is_on_and_what_can_be_done(project: Project) -> None:
    project.check("ultragoal", "create-goals", "--start", "--brief", ONE)
    under_way = sent_back(project)
    assert under_way.startswith(
        "Ultragoal active: continuing until it is done or stop requested. ultragoal: 1 of 1 open"
    )
    assert "Cannot go on? omo ultragoal checkpoint --status blocked" in under_way
    blocked = ("--goal-id", "G001", "--status", "blocked", "--evidence", "the server does not let me in")
    project.check("ultragoal", "checkpoint", *blocked)
    project.prompt("ulw go on")
    stuck = sent_back(project)
    assert "Cannot go on? omo ultragoal classify-blocker --classification human_blocked --goal-id G001" in stuck


def test_a_block_after_the_last_goal_names_the_one_command_that_is_left(project: Project) -> None:
    project.check("ultragoal", "create-goals", "--start", "--brief", ONE)
    gate = json.dumps(valid_gate(project.root))
    project.check("ultragoal", "checkpoint", "--evidence", "it was seen", "--quality-gate-json", gate)
    reason = sent_back(project)
    assert texts.says(reason, "stop-all-goals-are-complete")
    assert texts.says(reason, "stop-next-says-the-rest")
    assert not texts.says(reason, "stop-cannot-go-on")
    assert "0 of 1 open" not in reason
