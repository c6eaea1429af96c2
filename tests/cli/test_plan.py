"""`omo plan validate` and `omo plan critique`, as they are typed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from omo.proof import patterns
from omo.workflows.ultraplan import critique
from omo.workflows.ultraplan.document import parse
from omo.workflows.ultraplan.flow import DIMENSIONS
from tests import texts
from tests.project import Project
from tests.ultraplan.plans import begin_repository, path_of, plan_text


def put(project: Project, text: str) -> None:
    (project.root / "plan.md").write_text(text, encoding="utf-8")


def answer(text: str, **changes: object) -> str:
    said = {
        "verdict": "clean",
        "plan_digest": parse(text, "plan.md").digest,
        "dimensions": dict.fromkeys(DIMENSIONS, "pass"),
        "findings": [],
        **changes,
    }
    return json.dumps(said)


def test_a_sound_plan_is_valid(project: Project) -> None:
    put(project, plan_text())
    ran = project.agent("plan", "validate", "plan.md", "--json")
    assert ran.code == 0
    assert ran.json == {
        "ok": True,
        "plan": "plan.md",
        "digest": parse(plan_text(), "plan.md").digest,
        "version": "1.7",
        "legacy_plan": False,
        "legacy_synthesis": False,
        "steps": 5,
        "is_complete": True,
        "defects": [],
        "advisories": [],
    }
    assert project.user("plan", "validate", "plan.md").says("ultraplan-no-defect", file="plan.md", steps="5 steps")
    assert not Path(project.state).exists(), "looking writes nothing"


def test_every_defect_is_shown_with_its_line(project: Project) -> None:
    text = plan_text(2, step1={"On failure": "panic"}, step2={"manifest": {"min_file_count": 9}})
    put(project, text)
    ran = project.agent("plan", "validate", "plan.md", "--json")
    assert ran.code == 3
    assert (ran.json["ok"], ran.json["steps"], ran.json["error"]["code"]) == (False, 2, "refused")
    details = ran.json["error"]["details"]
    assert details == ran.json["defects"]
    assert [(one["code"], text.splitlines()[one["line"] - 1].strip()) for one in details] == [
        ("on-failure", "- On failure: panic"),
        ("count", "min_file_count: 9"),
    ]
    spoken = project.agent("plan", "validate", "plan.md")
    assert spoken.code == 3
    assert texts.says(spoken.err.splitlines()[0], "ultraplan-has-defects", plan="plan.md", number=2)
    assert all(spoken.err.count(f"  - line {one['line']}: {one['message']}") == 1 for one in details)
    assert spoken.says("ultraplan-mend-plan-then-omo-plan-critique", file="plan.md")


def test_an_older_plan_is_valid_and_says_so(project: Project) -> None:
    put(project, plan_text(2, version=None, step1={"manifest": None}, step2={"manifest": None}))
    ran = project.agent("plan", "validate", "plan.md", "--json")
    assert (ran.code, ran.json["legacy_plan"], ran.json["legacy_synthesis"]) == (0, True, True)
    assert ran.json["version"] is None
    assert "legacy" in [one["code"] for one in ran.json["advisories"]]


@pytest.mark.parametrize("name", ["missing.md", "../plan.md", "."])
def test_a_plan_that_cannot_be_read_is_a_usage_error(project: Project, name: str) -> None:
    (project.root.parent / "plan.md").write_text(plan_text())
    assert project.agent("plan", "validate", name).code == 2


def test_the_brief_makes_the_host_listen_until_the_verdict_is_recorded(project: Project) -> None:
    put(project, plan_text())
    ran = project.agent("plan", "critique", "plan.md")
    assert ran.says("ultraplan-send-this-to-omo-critic-then", file="plan.md")
    assert critique.brief(parse(plan_text(), "plan.md")) in ran.out
    assert project.row()["awaits"] == "omo:critic"
    project.agent_ends("omo:critic", answer(plan_text()))
    ran = project.agent("plan", "critique", "plan.md", "--json")
    assert (ran.code, ran.json["clean"]) == (0, True)
    assert not project.row()["awaits"]


def test_who_was_asked_for_a_plan_alone_is_not_told_to_begin_it(project: Project) -> None:
    put(project, plan_text())
    project.prompt("/omo:ultraplan two is better than one")
    following = "commit it, and tell the user that /omo:ultraexecute plan.md carries it out\n"
    assert project.check("plan", "critique", "plan.md").says(
        "ultraplan-send-this-to-omo-critic-then-commit", file="plan.md"
    )
    project.agent_ends("omo:critic", answer(plan_text()))
    assert project.check("plan", "critique", "plan.md").out.endswith(f"\nNext: {following}")
    project.prompt("/omo:ultraexecute plan.md")
    assert project.check("plan", "critique", "plan.md").says("next-next-omo-plan-start", file="plan.md")


@pytest.mark.parametrize("is_known", [False, True], ids=["asked", "judged before"])
def test_a_plan_that_has_gone_to_the_critic_is_no_silence_and_begins_no_run(project: Project, is_known: bool) -> None:
    put(project, plan_text())
    if is_known:
        project.check("plan", "critique", "plan.md")
        project.agent_ends("omo:critic", answer(plan_text()))
    project.prompt("/omo:ultraplan two is better than one")
    project.check("plan", "critique", "plan.md")
    project.stop().assert_silent()
    assert not project.row()["work"]
    project.prompt("/omo:ultraexecute plan.md")
    project.check("plan", "critique", "plan.md")
    assert project.stop().says_to_agent("stop-not-begun", name="ultraexecute")


def test_a_verdict_with_blocking_findings_exits_3_and_lists_them(project: Project) -> None:
    put(project, plan_text())
    finding = {"line": 7, "dimension": "verify", "severity": "blocking", "text": "it would pass anyway"}
    project.agent("plan", "critique", "plan.md")
    marks = {**dict.fromkeys(DIMENSIONS, "pass"), "size": "concern"}
    project.agent_ends("omo:critic", answer(plan_text(), verdict="findings", findings=[finding], dimensions=marks))
    ran = project.agent("plan", "critique", "plan.md")
    assert ran.code == 3
    assert ran.says("ultraplan-blocking-finding", number=7, about="verify")
    assert ran.says("ultraplan-because-of-blocking-findings", number=1)
    assert ran.says("ultraplan-critic-verdict-is", verdict="'findings'")
    assert "  concerns: size" in ran.out
    digest = parse(plan_text(), "plan.md").digest
    assert not critique.is_clean(critique.latest(str(project.root), project.state, digest))


def test_a_verdict_on_an_earlier_text_is_none_and_the_critic_is_asked_again(project: Project) -> None:
    put(project, plan_text(4))
    project.agent("plan", "critique", "plan.md")
    project.agent_ends("omo:critic", answer(plan_text(5)))
    ran = project.agent("plan", "critique", "plan.md")
    assert (ran.code, ran.says("ultraplan-send-this-to-omo-critic-then")) == (0, True)


FIXES = {
    "a bug": ("fix(app): VALUE is two", "`src/app.py`", "`VALUE` is 2; today it is 1"),
    "a document": ("docs(readme): how it is called", "`README.md`", "says that `bin/slug TITLE` prints a slug"),
}


@pytest.mark.parametrize("kind", FIXES)
def test_a_plain_fix_is_a_valid_plan_and_a_commit_that_changes_the_file_carries_it_out(
    project: Project, kind: str
) -> None:
    title, path, changes = FIXES[kind]
    for name, text in (("src/app.py", "VALUE = 1\n"), ("README.md", "# Parts\n")):
        project.write(name, text)
    verify = "verify: `grep -q 2 src/app.py README.md` → expected: exit 0"
    step = f"### Step 1: {title}\n\n- Files: {path}\n- Changes: {changes}\n"
    project.write("plan.md", f"# Mend it\n\nplan_version: 1.7\n{verify}\n\nCallers are told wrong.\n\n{step}")
    begin_repository(project.root)
    ran = project.agent("plan", "critique", "plan.md")
    assert (ran.code, "must_contain" in ran.err) == (0, True)
    project.commit("docs: the plan")
    start = ("plan", "start", "plan.md", "--unreviewed", "no critic in this test")
    assert project.user(*start, session=project.session).code == 0
    assert project.agent("plan", "finish").code == 3
    project.write(path.strip("`"), "VALUE = 2\n")
    project.commit(title)
    assert project.agent("plan", "finish").code == 0


def test_a_critique_that_refuses_writes_nothing_into_the_plan(project: Project) -> None:
    dated(project, SHORT.replace("- Changes: `load`", "- Change: `load`"))
    before = (project.root / "plan.md").read_bytes()
    ran = project.agent("plan", "critique", "plan.md")
    assert (ran.code, "line 13: step 2: Changes is missing" in ran.err) == (3, True)
    assert (project.root / "plan.md").read_bytes() == before


SHORT = """# Refuse bad dates

plan_version: 1.7
verify: `python3 -m unittest` → expected: OK

Rows with a malformed date get in.

### Step 1: feat(dates): say what is wrong with a date

- Files: `src/dates.py`, `tests/test_dates.py`
- Changes: a function `problem(text)` that returns None for an ISO date; `test_a_bad_date` has two of them

### Step 2: feat(app): refuse such rows

- Files: `src/app.py`, `src/old.py` (removed)
- Changes: `load` leaves out rows for which `problem` gives a reason
- On failure: revert — half of it would lose rows
"""


def dated(project: Project, text: str = SHORT) -> None:
    project.write("src/app.py", "def load():\n    pass\n")
    project.write("src/old.py", "")
    begin_repository(project.root)
    put(project, text)


def test_critique_fills_in_what_omo_can_know_and_the_plan_is_held_to_it(project: Project) -> None:
    dated(project)
    said = project.agent("plan", "validate", "plan.md")
    assert "omo plan critique plan.md fills in what the steps leave to omo" in said.out
    assert (project.root / "plan.md").read_text() == SHORT
    ran = project.agent("plan", "critique", "plan.md")
    assert (ran.code, ran.says("ultraplan-was-filled-in-what-is-proposed")) == (0, True), ran.err
    text = (project.root / "plan.md").read_text()
    first, second = parse(text, "plan.md").steps
    assert first.manifest.expected_paths == ("src/dates.py", "tests/test_dates.py")
    asked = {content.path: content.pattern for content in first.manifest.must_contain}
    for line, holds in {
        "def problem(text):": True,
        "problem = re.compile(x)": True,
        "# def problem": False,
        "rows, problem = [], []": True,
        "x = problem(1)": False,
        "    return problem(text)": False,
        "'problem(text)'": False,
    }.items():
        assert patterns.found(asked["src/dates.py"], line) is holds, line
    assert patterns.found(asked["tests/test_dates.py"], "    def test_a_bad_date(self):")
    pattern = first.manifest.commit_message_pattern
    assert patterns.found(pattern, "feat(dates): say what is wrong with a date (#12)")
    assert not patterns.found(pattern, "feat(dates): say what is wrong with a dateline")
    assert (second.manifest.expected_paths, second.manifest.absent_paths) == (("src/app.py",), ("src/old.py",))
    (used,) = second.manifest.must_contain
    assert patterns.found(used.pattern, "    if problem(row):")
    assert not patterns.found(used.pattern, "from dates import problem")
    assert not patterns.found(used.pattern, "x = 1  # problem")
    assert (first.on_failure, second.on_failure) == ("retry", "revert")
    commit = "git add src/app.py && git commit -m 'feat(app): refuse such rows'"
    assert second.checkpoint == f"`git rm -q --ignore-unmatch src/old.py && {commit}`"
    assert first.verify == "`python3 -m unittest` → expected: OK"
    assert project.agent("plan", "critique", "plan.md").code == 0
    assert (project.root / "plan.md").read_text() == text


def test_a_plan_is_not_filled_in_where_that_cannot_be_noted(project: Project) -> None:
    dated(project)
    project.write(".sisyphus/cc-omo/plans/reviews", "a file in the way of the ledger")
    assert project.agent("plan", "critique", "plan.md").code != 0
    assert (project.root / "plan.md").read_text() == SHORT, "else it were not the text that the user named"


def test_what_was_proposed_follows_the_step_until_somebody_makes_it_their_own(project: Project) -> None:
    dated(project)
    project.agent("plan", "critique", "plan.md")
    text = (project.root / "plan.md").read_text()
    put(project, text.replace("`problem(text)`", "`reason(text)`").replace("`problem` gives", "`reason` gives"))
    project.agent("plan", "critique", "plan.md")
    again = (project.root / "plan.md").read_text()
    assert "problem" not in again
    assert again.count("(proposed)") == text.count("(proposed)")
    own = again.replace("- Manifest (proposed)", "- Manifest", 1).replace("min_file_count: 2", "min_file_count: 1")
    put(project, own)
    project.agent("plan", "critique", "plan.md")
    first, second = parse((project.root / "plan.md").read_text(), "plan.md").steps
    assert first.manifest.min_file_count == 1
    assert "Manifest (proposed)" not in first.text
    assert "Manifest (proposed)" in second.text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("`problem(text)` that", "that", ""),  # a new file and the test in it are left
        ("`test_a_bad_date` has", "a test has", ""),
        ("`src/dates.py`, `tests/test_dates.py`", "`src/app.py`", ""),
        (
            "`load` leaves out rows for which `problem` gives a reason",
            "`load` is faster",
            "step 2: its manifest already holds",
        ),
        ("- Changes: `load`", "- Change: `load`", "line 13: step 2: Changes is missing"),
        ("verify: `python3 -m unittest` → expected: OK\n", "", "line 7: step 1: Verify is missing"),
        (
            "- On failure: revert",
            "- Manifest:\n  ```yaml\n  manifest: unusable\n  ```\n- On failure: revert",
            "line 13: step 2 has no usable manifest",
        ),
    ],
)
def test_what_omo_cannot_know_is_named_with_its_line(project: Project, old: str, new: str, said: str) -> None:
    assert old in SHORT
    dated(project, SHORT.replace(old, new).replace(", `src/old.py` (removed)", ""))
    ran = project.agent("plan", "validate", "plan.md")
    assert said in ran.err
    assert ran.code == (3 if said.startswith("line") else 0)


def test_what_a_plan_needs_is_asked_for_before_it_begins(project: Project) -> None:
    project.write("plan.md", plan_text(needs=["env:DEPLOY_TOKEN", "network", "cmd:git"]))
    begin_repository(project.root)
    nowhere = {"https_proxy": "http://127.0.0.1:1", "PATH": os.environ["PATH"]}
    start = ("plan", "start", "plan.md", "--unreviewed", "no critic in this test", "--session", "s1")
    ran = project.user(*start, "--json", env=nowhere)
    assert (ran.code, [need.split()[0] for need in ran.json["missing"]]) == (77, ["env:DEPLOY_TOKEN", "network"])
    told = project.user(*start, env={**nowhere, "DEPLOY_TOKEN": "s3cret"})
    assert (told.code, "s3cret" in told.out + told.err) == (77, False)


@pytest.mark.parametrize(
    ("condition", "unrun"),
    [
        ("- `make e2e` → expected: OK\n- All changes are committed", "make e2e"),
        ("- `make e2e` passes", "make e2e"),
        ("- `tox` → expected: OK", "tox"),
        ("```\nmake e2e\n```", "make e2e"),
        (f"- `python3 {path_of(1)}` → expected: no output\n- `git status --porcelain`: nothing", ""),
        ("Everything is committed, and `calc.py` is there.", ""),
    ],
)
def test_a_command_of_the_exit_condition_that_no_step_runs_is_a_defect(
    project: Project, condition: str, unrun: str
) -> None:
    project.write("plan.md", f"{plan_text(2)}\n## Exit Condition\n\n{condition}\n")
    ran = project.agent("plan", "validate", "plan.md")
    said = f"the exit condition has '{unrun}', which no step runs; it belongs into a step's Verify"
    assert (ran.code, said in ran.err) == ((3, True) if unrun else (0, False))


def test_an_exit_condition_of_one_session_is_looked_at_too(project: Project) -> None:
    field = "- Exit condition: `make e2e` → expected: OK"
    project.write("plan.md", plan_text(1, sessions=[[1]]).replace("Part 1\n", f"Part 1\n\n{field}\n", 1))
    ran = project.agent("plan", "validate", "plan.md")
    assert (ran.code, ran.says("ultraplan-line-exit-condition-has-which-no", text="'make e2e'")) == (3, True)


def test_a_preflight_that_is_written_down_as_step_0_is_said_to_be_made_by_the_start(project: Project) -> None:
    project.write("plan.md", plan_text(2).replace("### Step 1:", "### Step 0:"))
    ran = project.agent("plan", "validate", "plan.md")
    assert (ran.code, ran.says("ultraplan-preflight-is-not-written-down-omo")) == (3, True)
