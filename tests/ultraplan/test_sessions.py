"""A plan cut into sessions: fences, manifests and order are computed, steps are copied, and every spec reads back."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.cli.main import main
from omo.errors import Refused
from omo.proof import globs
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import sessions, spec_text
from omo.workflows.ultraplan.models import Content, Document, Fence, Manifest, Recovery, Step
from omo.workflows.ultraplan.preflight import BYPASSES
from omo.workflows.ultraplan.rules import refusing, validate
from omo.workflows.ultraplan.sessions import SessionSpec
from tests.ultraplan.plans import git, path_of, plan_text, project, step_text


def cut(text: str, *, has_remote: bool = False) -> list[SessionSpec]:
    return sessions.decompose(documents.parse(text, "plan.md"), has_remote=has_remote, out="specs")


def read_back(spec: SessionSpec) -> Document:
    return documents.parse(spec_text.render(spec), spec.path)


def with_lines(text: str, session: int, *lines: str) -> str:
    """The plan with bullets below the heading of a session."""
    heading = f"## Session {session}: Part {session}\n"
    assert heading in text
    return text.replace(heading, heading + "\n" + "".join(f"- {line}\n" for line in lines))


def refused(text: str) -> list[str]:
    """The defects that keep a plan from being cut."""
    with pytest.raises(Refused) as refusal:
        cut(text)
    found = refusal.value.details["defects"]
    assert isinstance(found, list)
    return found


def manifest_of(spec: SessionSpec) -> dict[str, Any]:
    block = spec_text.render(spec).split("```yaml\nsession_manifest:")[1].split("```")[0]
    found: dict[str, Any] = yaml.safe_load("session_manifest:" + block)["session_manifest"]
    return found


# what a session is made of


def test_each_session_heading_is_a_session_with_the_steps_below_it_and_without_any_there_is_one() -> None:
    specs = cut(plan_text(5, sessions=[[1, 2], [3], [4, 5]]))
    assert [spec.step_numbers for spec in specs] == [[1, 2], [3], [4, 5]]
    assert [spec.path for spec in specs] == ["specs/session-1.md", "specs/session-2.md", "specs/session-3.md"]
    (whole,) = cut(plan_text(5))
    assert (whole.number, whole.total, whole.step_numbers) == (1, 1, [1, 2, 3, 4, 5])


def test_the_steps_are_copied_to_the_letter() -> None:
    odd = "a  table | of\tthings “quoted” ünïcode \\n, and `a |  b`"
    text = plan_text(3, sessions=[[1], [2, 3]], step2={"Changes": odd})
    first, second = (spec_text.render(spec) for spec in cut(text))
    assert step_text(1) in first
    assert step_text(2, Changes=odd) in second
    assert step_text(3) in second
    assert "### Step 2" not in first


def test_every_section_of_a_spec_is_there_in_order_and_recovery_only_for_recoveries() -> None:
    (spec,) = cut(plan_text(2))
    titles = [line[3:] for line in spec_text.render(spec).splitlines() if line.startswith("## ")]
    assert titles == [
        "Context", "Dependencies", "Scope Fence", "Session Manifest", "Steps", "Exit Condition", "Failure Handling",
        "Security Constraints", "Handoff State", "Metadata",
    ]  # fmt: skip
    of = replace(spec, recovery=Recovery("specs/session-1.md", 1, (2,), "committed at abc"))
    assert spec_text.render(of).count("## Recovery Metadata") == 1


def test_the_session_manifest_is_computed_from_the_steps_without_the_preflight() -> None:
    checked = {"bash_syntax_check": ["src/run.sh"], "commit_message_pattern": "^feat: part"}
    text = plan_text(
        3,
        step1={"manifest": {**checked, "forbidden_paths": ["docs/**"]}},
        step2={"manifest": {**checked, "expected_paths": [path_of(1), path_of(2)]}},
        step3={"manifest": {"skip_commit_check": True}},
        needs=["cmd:docker"],
    )
    assert manifest_of(cut(text, has_remote=True)[0]) == {
        "plan_version": "1.7",
        "legacy_synthesis": False,
        "needs": ["git_push", "cmd:docker"],
        "expected_paths": [path_of(1), path_of(2), path_of(3)],
        "commit_count": 2,
        "commit_message_patterns": ["^feat: part", "^feat: part"],
        "bash_syntax_check": ["src/run.sh"],
        "scope_touch": ["src/**", "tests/**"],
        "scope_forbidden": ["infra/**", "docs/**"],
    }


def test_step_0_is_a_preflight_that_names_its_own_spec() -> None:
    back = read_back(cut(plan_text(2))[0])
    step = back.steps[0]
    assert (step.number, step.is_preflight, step.on_failure, step.files) == (0, True, "escalate", ())
    assert "omo plan preflight specs/session-1.md" in step.verify
    assert [one.number for one in back.work_steps] == [1, 2]


def test_the_exit_condition_has_what_each_step_verifies_and_a_clean_audited_tree() -> None:
    text = plan_text(2, step2={"Verify": "\n  ```sh\n  cat <<E\n  x\n  E\n  ```"})
    conditions = spec_text.render(cut(text)[0]).split("## Exit Condition")[1].split("##")[0]
    assert f"- Step 1: `python3 {path_of(1)}` → expected: no output, exit 0\n" in conditions
    assert "cat" not in conditions
    assert "git status --porcelain" in conditions
    assert "omo plan audit specs/session-1.md" in conditions


def test_a_spec_names_its_plan_and_the_text_it_was_made_from() -> None:
    document = documents.parse(plan_text(2), "plan.md")
    back = read_back(sessions.decompose(document, has_remote=False)[0])
    assert (back.master_plan, back.master_digest) == ("plan.md", document.digest)


def test_what_the_plan_says_of_its_background_reaches_every_session_as_a_quotation() -> None:
    text = plan_text(2, sessions=[[1], [2]]).replace("## Scope", "## Context\n\nOld API:\n\n- goes away\n\n## Scope", 1)
    text = with_lines(text, 2, "Context: the second half")
    first, second = (spec_text.render(spec) for spec in cut(text))
    assert "> - goes away" in first
    assert "> - goes away" in second
    assert ("> the second half" in first, "> the second half" in second) == (False, True)


# needs


@pytest.mark.parametrize(
    ("line", "has_remote", "wanted"),
    [
        ("", True, ("git_push",)),
        ("", False, ()),
        ("needs: [cmd:docker]", True, ("git_push", "cmd:docker")),
        ("needs: [git_push]", True, ("git_push",)),
        ("needs: [git_push]", False, ("git_push",)),
        ("needs: []", True, ()),
        ("needs: none", True, ()),
        ("- **needs:** none", True, ()),
    ],
)
def test_pushing_is_needed_where_there_is_a_remote_unless_the_plan_declares_none(
    line: str, has_remote: bool, wanted: tuple[str, ...]
) -> None:
    text = plan_text(1).replace("plan_version: 1.7\n", f"plan_version: 1.7\n\n{line}\n", 1)
    (spec,) = cut(text, has_remote=has_remote)
    assert spec.needs == wanted
    assert read_back(spec).needs == wanted


def test_talk_of_needs_further_down_declares_nothing() -> None:
    text = plan_text(1, step1={"Changes": "the table\n\n  needs: []"})
    assert cut(text, has_remote=True)[0].needs == ("git_push",)


# fences


def test_without_a_touch_list_a_session_may_change_what_its_steps_name() -> None:
    text = plan_text(
        2,
        touch=None,
        sessions=[[1], [2]],
        step1={
            "Files": "`src/part1.py`, `docs/a.md`",
            "manifest": {"absent_paths": ["old.py"], "bash_syntax_check": ["run.sh"]},
        },
    )
    first, second = cut(text)
    assert first.fence == Fence(("src/part1.py", "docs/a.md", "old.py", "run.sh"), ("src/part2.py",))
    assert second.fence == Fence(("src/part2.py",), ("src/part1.py", "docs/a.md", "old.py", "run.sh"))


def test_what_belongs_to_another_session_is_never_touched_unless_it_may_be_the_same_file() -> None:
    text = plan_text(3, sessions=[[1], [2], [3]], touch=("none",), never=("infra/**",))
    text = with_lines(text, 1, "Touch: `src/a/**`, `README.md`")
    text = with_lines(text, 2, "Touch: `src/b/**`, `src/a/x.py`", "Never touch: `secret`")
    text = with_lines(text, 3, "Touch: `docs`")
    assert [spec.fence for spec in cut(text)] == [
        Fence(("src/a/**", "README.md"), ("infra/**", "src/b/**", "docs")),
        Fence(("src/b/**", "src/a/x.py"), ("infra/**", "secret", "README.md", "docs")),
        Fence(("docs",), ("infra/**", "src/a/**", "README.md", "src/b/**", "src/a/x.py")),
    ]


def test_a_step_with_work_in_it_cannot_pass_as_a_preflight() -> None:
    assert "step 2 says sandbox_preflight" in str(
        refused(plan_text(3, step2={"manifest": {"sandbox_preflight": True}}))
    )


# older plans


def test_an_older_plan_gets_manifests_that_are_marked_as_made_up() -> None:
    (spec,) = cut(plan_text(2, version="1.6", step1={"manifest": None}, step2={"manifest": None}))
    text = spec_text.render(spec)
    assert step_text(1, manifest=None) in text
    back = read_back(spec)
    assert (back.is_legacy, back.is_legacy_synthesis) == (True, True)
    assert manifest_of(spec)["legacy_synthesis"] is True
    found = [step.manifest.expected_paths for step in back.work_steps if step.manifest]
    assert found == [(path_of(1),), (path_of(2),)]
    assert manifest_of(spec)["commit_count"] == 2


# recovery


def test_a_recovery_has_just_the_missing_steps_under_the_same_fence() -> None:
    spec = cut(plan_text(5, needs=["cmd:git"]))[0]
    recovery = Recovery("specs/session-1.md", 1, (3, 5), "what passed is committed at abc")
    again = sessions.recovered(read_back(spec), recovery, path="specs/r.md")
    back = read_back(again)
    assert [step.number for step in back.work_steps] == [3, 5]
    assert [step.text for step in back.work_steps] == [step_text(3), step_text(5)]
    assert (back.fence, back.needs) == (spec.fence, spec.needs)
    assert (back.master_plan, back.master_digest) == ("plan.md", spec.plan_digest)
    assert sessions.differences(back, again.steps, again.fence, again.needs) == []


# round trip

WORDS = st.text(
    alphabet=st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Co", "Cn")), min_size=1, max_size=20
)
PATH = st.lists(st.from_regex(r"[a-zA-Z0-9_.*-]{0,5}[a-zA-Z0-9_]", fullmatch=True), min_size=1, max_size=3).map(
    "/".join
)
PATTERN = st.one_of(WORDS, st.sampled_from(["^feat\\(x\\):", "a: b", "- c", "# d", "```", "'\"", "\\n\n```\nx", "{y}"]))


def manifests() -> st.SearchStrategy[Manifest]:
    several = st.lists(PATH, max_size=3, unique=True).map(tuple)
    return st.builds(
        Manifest,
        expected_paths=several,
        min_file_count=st.integers(0, 5),
        commit_message_pattern=PATTERN,
        bash_syntax_check=several,
        forbidden_paths=several,
        must_contain=st.lists(st.builds(Content, path=PATH, pattern=PATTERN), max_size=2).map(tuple),
        absent_paths=several,
        skip_commit_check=st.booleans(),
        is_synthesised=st.just(True),
    )


def _said(manifest: Manifest | None) -> dict[str, Any]:
    assert manifest is not None
    return manifest.model_dump(exclude={"line", "lines", "is_synthesised"})


@settings(max_examples=20)
@given(
    st.lists(manifests(), min_size=1, max_size=3),
    st.lists(PATH, max_size=4, unique=True),
    st.lists(PATH, max_size=4, unique=True),
    st.lists(st.sampled_from(["git_push", "network", "cmd:docker", "env:TOKEN"]), unique=True),
    st.integers(1, 9),
)
def test_a_spec_reads_back_as_it_was_meant(
    made: list[Manifest], touch: list[str], never: list[str], needs: list[str], number: int
) -> None:
    steps = tuple(
        Step(at, f"Part {at}", 1, step_text(at, manifest=None), manifest=one) for at, one in enumerate(made, start=1)
    )
    spec = SessionSpec(
        number=number,
        total=9,
        title="Parts",
        path="specs/s.md",
        plan="plan.md",
        version=(1, 7),
        steps=steps,
        fence=Fence(tuple(touch), tuple(never)),
        needs=tuple(needs),
    )
    back = read_back(spec)
    assert [_said(step.manifest) for step in back.work_steps] == [_said(manifest) for manifest in made]
    assert (back.fence, back.needs, back.version) == (spec.fence, spec.needs, (1, 7))


@settings(max_examples=20)
@given(st.lists(st.one_of(WORDS, st.sampled_from(["## Steps", "### Step 9: x", "```yaml", "needs: [x]", "---"]))))
def test_whatever_the_context_says_it_is_refused_or_means_nothing(lines: list[str]) -> None:
    spec = replace(cut(plan_text(2))[0], context="\n".join(lines))
    back = read_back(spec)
    assert sessions.differences(back, spec.steps, spec.fence, spec.needs) or [step.number for step in back.steps] == [
        0,
        1,
        2,
    ]


def test_what_does_not_read_back_is_told() -> None:
    spec = cut(plan_text(2))[0]
    wrong = sessions.differences(read_back(spec), spec.steps[:1], Fence(("x",)), ("network",))
    assert wrong == ["step 2 is not as the plan has it", "the scope fence is not the plan's", "need network left out"]


# which sessions come first, and which may run beside each other: in doubt, none may

MEETING = [
    ("src/a.py", "src/a.py", True),
    ("src", "src/a.py", True),
    ("src/a.py", "src/b.py", False),
    ("src/**", "docs/**", False),
    ("**", "docs/a.md", True),
    ("**/a.py", "docs/**", True),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/a.md", True),
    ("docs/*.md", "src/*.py", False),
    ("src/test_*", "src/*_a.py", True),
    ("src/a*", "src/b*", False),
    ("src/*", "src/a/b/c.py", True),
    ("src/[ab].py", "src/[bc].py", True),
    ("SRC/a.py", "src/A.py", True),
    ("*/a.py", "src/a.py", True),
    ("srcs", "src", False),
]


def test_globs_that_may_name_the_same_path_meet() -> None:
    for glob, other, meet in MEETING:
        assert sessions.may_meet(glob, other) is meet, (glob, other)
        assert sessions.may_meet(other, glob) is meet, (glob, other)


NAMES = st.text(alphabet="ab*?[].", min_size=1, max_size=4)
GLOBS = st.lists(st.one_of(NAMES, st.just("**")), min_size=1, max_size=4).map("/".join)
PATHS = st.lists(st.text(alphabet="ab.", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)


@settings(max_examples=50)
@given(GLOBS, GLOBS, PATHS)
def test_two_globs_that_cover_one_path_always_meet(glob: str, other: str, path: str) -> None:
    if globs.covers(path, glob) and globs.covers(path, other):
        assert sessions.may_meet(glob, other)


def test_sessions_that_need_nothing_of_each_other_may_run_beside_each_other() -> None:
    specs = cut(plan_text(3, touch=None, sessions=[[1], [2], [3]]))
    assert sessions.order(specs) == [[1, 2, 3]]


def test_sessions_whose_fences_overlap_never_do() -> None:
    specs = cut(plan_text(3, sessions=[[1], [2], [3]]))
    assert sessions.order(specs) == [[1], [2], [3]]
    assert "- Never beside: Session 2, Session 3, because" in spec_text.render(specs[0])


def test_the_order_follows_what_sessions_and_steps_depend_on() -> None:
    text = plan_text(4, touch=None, sessions=[[1], [2], [3], [4]], step4={"Depends on": "Step 2"})
    specs = cut(with_lines(with_lines(text, 2, "Depends on: Session 1"), 3, "Depends on: Session 1"))
    assert sessions.order(specs) == [[1], [2, 3], [4]]
    assert [spec.depends_on for spec in specs] == [(), (1,), (1,), (2,)]
    assert [spec.blocks for spec in specs] == [(2, 3), (4,), (), ()]
    assert "- Entry condition: a clean tree that has the commits of Session 2" in spec_text.render(specs[3])


@settings(max_examples=50)
@given(st.dictionaries(st.integers(1, 6), st.sets(st.integers(1, 6)), min_size=1), st.data())
def test_no_wave_holds_two_sessions_that_wait_for_or_disturb_each_other(
    wanted: dict[int, set[int]], data: st.DataObject
) -> None:
    needed = {number: {other for other in others if other < number} for number, others in wanted.items()}
    touch = {number: data.draw(st.lists(st.sampled_from("abcd"), max_size=2)) for number in needed}
    order = sessions.waves(needed, touch)
    assert sorted(number for wave in order for number in wave) == sorted(needed)
    for index, wave in enumerate(order):
        later = {number for other in order[index:] for number in other}
        for number in wave:
            assert not needed[number] & later
            assert not any(sessions.overlap(touch[number], touch[other]) for other in wave if other != number)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            with_lines(
                with_lines(plan_text(2, sessions=[[1], [2]]), 1, "Depends on: Session 2"), 2, "Depends on: Session 1"
            ),
            "each waits for the next",
        ),
        (with_lines(plan_text(2, sessions=[[1], [2]]), 1, "Depends on: Session 7"), "session 7, which is not in"),
        (with_lines(plan_text(1, sessions=[[1]]), 1, "Depends on: Session 1"), "each waits for the next"),
        (plan_text(2, step1={"Depends on": "Step 2"}), "step 1 depends on step 2, which does not come before"),
        (plan_text(2, step1={"Depends on": "Step 9"}), "step 1 depends on step 9, which is not in the plan"),
        (plan_text(2, sessions=[[1]]).replace("### Step 2", "## Notes\n\n### Step 2"), "step 2 stands in 0 sessions"),
    ],
)
def test_what_has_no_order_is_refused_by_name(text: str, said: str) -> None:
    assert said in "\n".join(refused(text))


def test_a_circle_through_steps_names_its_sessions() -> None:
    text = plan_text(3, sessions=[[1, 3], [2]], step3={"Depends on": "Step 2"}, step2={"Depends on": "Step 1"})
    (defect,) = refused(text)
    assert "session 1" in defect
    assert "session 2" in defect


# `omo plan decompose` and `omo plan preflight`, as they are typed

NOW = 1_772_000_000.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path, plan_text(3, sessions=[[1, 2], [3]]))


def omo(root: Path, *arguments: str, **environ: str) -> int:
    given = {**os.environ, "OMO_SESSION_ID": "s1", **environ}
    return main(["plan", *arguments], given, str(root), NOW, has_terminal=True)


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_decompose_writes_a_valid_spec_for_each_session(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--json") == 0
    data = told(capsys)
    assert (data["order"], [session["path"] for session in data["sessions"]]) == (
        [[1], [2]],
        ["specs/session-1.md", "specs/session-2.md"],
    )
    for session in data["sessions"]:
        spec = documents.load(root / session["path"], root)
        assert [str(defect) for defect in refusing(validate(spec, root))] == []
        assert [step.number for step in spec.work_steps] == session["steps"]


def test_from_a_directory_below_the_paths_still_count_from_the_top(root: Path) -> None:
    assert omo(root / "src", "decompose", "../plan.md", "--out", "../specs") == 0
    assert "omo plan preflight specs/session-1.md" in (root / "specs" / "session-1.md").read_text(encoding="utf-8")


def test_a_spec_that_is_there_is_not_overwritten_without_force(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "specs").mkdir()
    (root / "specs" / "session-2.md").write_text("mine\n")
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--json") == 3
    assert told(capsys)["error"]["details"] == ["specs/session-2.md"]
    assert os.listdir(root / "specs") == ["session-2.md"]
    assert (root / "specs" / "session-2.md").read_text() == "mine\n"
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--force") == 0
    assert omo(root, "decompose", "plan.md", "--out", "specs") == 0  # the same text again replaces nothing


def test_force_writes_through_no_link(root: Path, tmp_path: Path) -> None:
    (root / "specs").mkdir()
    (tmp_path / "mine").write_text("mine\n")
    (root / "specs" / "session-1.md").symlink_to(tmp_path / "mine")
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--force") == 2
    assert (tmp_path / "mine").read_text() == "mine\n"


def test_specs_go_into_the_project_itself(root: Path, tmp_path: Path) -> None:
    (root / "link").symlink_to(tmp_path)
    before = sorted(os.listdir(tmp_path))
    for out in ("..", "../elsewhere", ".git", ".git/x", ".sisyphus/cc-omo", "link", "plan.md"):
        assert omo(root, "decompose", "plan.md", "--out", out) == 2
    assert sorted(os.listdir(tmp_path)) == before


def test_a_plan_with_defects_is_refused_with_all_of_them_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {"manifest": {"commit_message_pattern": ".*"}}
    root = project(tmp_path, plan_text(2, step1=bad, step2=bad))
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--json") == 3
    assert len(told(capsys)["error"]["details"]) >= 2
    assert not (root / "specs").exists()


def test_an_older_plan_is_cut_and_the_advice_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = {"manifest": None}
    root = project(tmp_path, plan_text(2, version="1.6", step1=bare, step2=bare))
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--json") == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert (data["legacy_plan"], data["legacy_synthesis"]) == (True, True)
    assert "older plan" in shown.err
    spec = documents.load(root / "specs" / "session-1.md", root)
    assert refusing(validate(spec, root)) == []


def test_a_spec_cannot_be_cut_again_and_a_plan_has_no_preflight(root: Path) -> None:
    omo(root, "decompose", "plan.md", "--out", "specs")
    assert omo(root, "decompose", "specs/session-1.md", "--out", "more") == 2
    assert omo(root, "preflight", "plan.md") == 2


# omo plan preflight


def ready(tmp_path: Path, *needs: str) -> Path:
    root = project(tmp_path, plan_text(1, needs=needs))
    assert omo(root, "decompose", "plan.md", "--out", "specs") == 0
    return root


def test_a_preflight_that_passes_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ready(tmp_path, "cmd:git")
    capsys.readouterr()
    assert omo(root, "preflight", "specs/session-1.md", "--json") == 0
    data = told(capsys)
    assert (data["ok"], data["missing"], data["bypassed"]) == (True, [], False)
    assert [need["name"] for need in data["needs"]] == ["cmd:git"]


def test_anything_missing_exits_77_and_says_that_nothing_was_attempted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ready(tmp_path, "cmd:no-such-program", "git_push")
    capsys.readouterr()
    before = git(root, "rev-parse", "HEAD")
    assert omo(root, "preflight", "specs/session-1.md") == 77
    text = capsys.readouterr().out
    assert "Missing for specs/session-1.md: cmd:no-such-program, git_push" in text
    assert "Nothing was attempted" in text
    assert git(root, "rev-parse", "HEAD") == before


def test_a_bypass_exits_0_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ready(tmp_path, "cmd:no-such-program")
    for name in BYPASSES:
        capsys.readouterr()
        assert omo(root, "preflight", "specs/session-1.md", "--json", **{name: "1"}) == 0
        data = told(capsys)
        assert (data["bypassed"], data["bypassed_by"]) == (True, name)


def test_a_spec_whose_manifest_was_taken_away_is_refused_not_passed(tmp_path: Path) -> None:
    root = ready(tmp_path, "cmd:no-such-program")
    spec = root / "specs" / "session-1.md"
    spec.write_text(spec.read_text(encoding="utf-8").replace("session_manifest:", "nothing:"), encoding="utf-8")
    assert omo(root, "preflight", "specs/session-1.md") == 3
