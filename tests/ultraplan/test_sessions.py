"""A plan cut into sessions: fences, manifests and order are computed, and steps are copied into the spec."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.errors import Refused
from omo.proof import globs
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import sessions
from omo.workflows.ultraplan.markdown import manifest_bullet
from omo.workflows.ultraplan.models import Content, Document, FenceGlobs, Manifest
from omo.workflows.ultraplan.sessions import Recovery
from tests.ultraplan.plans import path_of, plan_text, step_text

RECOVERY = Recovery(1, [2, 4], ["step 2: missing", "step 4: drift"], "committed at abc", "p1/l")


def cut(text: str, *, has_remote: bool = False) -> list[Document]:
    return sessions.cut(documents.parse(text, "plan.md"), has_remote=has_remote)


def render(part: Document, recovery: Recovery | None = None) -> str:
    return sessions.render(documents.parse(part.text, "plan.md"), part, recovery)


def numbers(part: Document) -> list[int]:
    return [step.number for step in part.steps]


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


def manifest_of(spec: Document) -> dict[str, Any]:
    block = render(spec).split("```yaml\nsession_manifest:")[1].split("```")[0]
    found: dict[str, Any] = yaml.safe_load("session_manifest:" + block)["session_manifest"]
    return found


# what a session is made of


def test_each_session_heading_is_a_session_with_the_steps_below_it_and_without_any_there_is_one() -> None:
    specs = cut(plan_text(5, sessions=[[1, 2], [3], [4, 5]]))
    assert [numbers(spec) for spec in specs] == [[1, 2], [3], [4, 5]]
    (whole,) = cut(plan_text(5))
    assert (whole.sessions[0].number, numbers(whole)) == (1, [1, 2, 3, 4, 5])


def test_the_steps_are_copied_to_the_letter() -> None:
    odd = "a  table | of\tthings “quoted” ünïcode \\n, and `a |  b`"
    text = plan_text(3, sessions=[[1], [2, 3]], step2={"Changes": odd})
    first, second = (render(spec) for spec in cut(text))
    assert step_text(1) in first
    assert step_text(2, Changes=odd) in second
    assert step_text(3) in second
    assert "### Step 2" not in first


def test_every_section_of_a_spec_is_there_in_order_and_recovery_only_for_recoveries() -> None:
    (spec,) = cut(plan_text(2))
    titles = [line[3:] for line in render(spec).splitlines() if line.startswith("## ")]
    assert titles == [
        "Context", "Dependencies", "Scope Fence", "Session Manifest", "Steps", "Exit Condition", "Failure Handling",
        "Security Constraints", "Handoff State", "Metadata",
    ]  # fmt: skip
    assert render(spec, RECOVERY).count("## Recovery Metadata") == 1


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


def test_step_0_is_a_preflight_that_escalates() -> None:
    step = render(cut(plan_text(2))[0]).split("### Step 0")[1].split("### Step 1")[0]
    for said in ("sandbox_preflight: true", "On failure: escalate — exit 77", "omo plan start", "Files: none"):
        assert said in step


def test_the_exit_condition_has_what_each_step_verifies_and_a_clean_audited_tree() -> None:
    text = plan_text(2, step2={"Verify": "\n  ```sh\n  cat <<E\n  x\n  E\n  ```"})
    conditions = render(cut(text)[0]).split("## Exit Condition")[1].split("##")[0]
    assert f"- Step 1: `python3 {path_of(1)}` → expected: no output, exit 0\n" in conditions
    assert "cat" not in conditions
    assert "git status --porcelain" in conditions
    assert "omo plan finish" in conditions


def test_what_the_plan_says_of_its_background_reaches_every_session_as_a_quotation() -> None:
    text = plan_text(2, sessions=[[1], [2]]).replace("## Scope", "## Context\n\nOld API:\n\n- goes away\n\n## Scope", 1)
    text = with_lines(text, 2, "Context: the second half")
    first, second = (render(spec) for spec in cut(text))
    assert "> - goes away" in first
    assert "> - goes away" in second
    assert ("> the second half" in first, "> the second half" in second) == (False, True)


def test_what_else_stands_below_the_heading_of_a_session_reaches_its_executor() -> None:
    text = with_lines(
        plan_text(2, sessions=[[1], [2]]), 2, "Depends on: Session 1", "Risk: the cache\n\nUse port 8080,\nas now."
    )
    first, second = (render(spec) for spec in cut(text))
    assert ("8080" in first, "\n> - Risk: the cache\n>\n> Use port 8080,\n> as now.\n" in second) == (False, True)
    assert "> - Depends on" not in second, "which the spec has in its own place"


def test_what_a_plan_says_has_to_be_so_before_a_session_stands_in_its_spec() -> None:
    said = "Entry condition: the staging\n  database is migrated"
    first, second = cut(with_lines(plan_text(2, sessions=[[1], [2]]), 2, "Depends on: Session 1", said))
    condition = "whose audit passes; the staging database is migrated\n"
    assert (condition in render(first), condition in render(second)) == (False, True)
    assert "- Entry condition: committed at abc\n" in render(second, RECOVERY), "which a recovery overrides"
    (alone,) = cut(plan_text(2).replace("## Scope", f"## Dependencies\n\n- {said}\n\n## Scope"))
    assert "preflight that passes; the staging database is migrated\n" in render(alone)


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
    assert first.fence == FenceGlobs(("src/part1.py", "docs/a.md", "old.py", "run.sh"), ("src/part2.py",))
    assert second.fence == FenceGlobs(("src/part2.py",), ("src/part1.py", "docs/a.md", "old.py", "run.sh"))


def test_what_belongs_to_another_session_is_never_touched_unless_it_may_be_the_same_file() -> None:
    text = plan_text(3, sessions=[[1], [2], [3]], touch=("none",), never=("infra/**",))
    text = with_lines(text, 1, "Touch: `src/a/**`, `README.md`")
    text = with_lines(text, 2, "Touch: `src/b/**`, `src/a/x.py`", "Never touch: `secret`")
    text = with_lines(text, 3, "Touch: `docs`")
    assert [spec.fence for spec in cut(text)] == [
        FenceGlobs(("src/a/**", "README.md"), ("infra/**", "src/b/**", "docs")),
        FenceGlobs(("src/b/**", "src/a/x.py"), ("infra/**", "secret", "README.md", "docs")),
        FenceGlobs(("docs",), ("infra/**", "src/a/**", "README.md", "src/b/**", "src/a/x.py")),
    ]


# older plans


def test_an_older_plan_gets_manifests_that_are_marked_as_made_up() -> None:
    (spec,) = cut(plan_text(2, version="1.6", step1={"manifest": None}, step2={"manifest": None}))
    assert step_text(1, manifest=None) in render(spec)
    assert (spec.is_legacy, spec.is_legacy_synthesis) == (True, True)
    assert manifest_of(spec)["legacy_synthesis"] is True
    found = [step.manifest.expected_paths for step in spec.steps if step.manifest]
    assert found == [(path_of(1),), (path_of(2),)]
    assert manifest_of(spec)["commit_count"] == 2
    assert render(spec).count("- Manifest:") == 3, "with that of the preflight"


# recovery


def test_a_recovery_has_just_the_missing_steps_under_the_same_fence() -> None:
    text = render(cut(plan_text(5, needs=["cmd:git"]))[0], RECOVERY)
    assert re.findall(r"^### Step (\d)", text, re.M) == ["0", "2", "4"]
    assert step_text(4) in text
    assert "cmd:git" in text
    assert "  - `src/**`" in text
    for said in ("- Recovery depth: 1", "- Missing steps: 2, 4", "  - step 2: missing", "- Parent ledger: `p1/l`"):
        assert said in text


# what is written reads back

WORDS = st.text(
    alphabet=st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Co", "Cn")), min_size=1, max_size=20
)
PATH = st.lists(st.from_regex(r"[a-zA-Z0-9_.*-]{0,5}[a-zA-Z0-9_]", fullmatch=True), min_size=1, max_size=3).map(
    "/".join
)
PATTERN = st.one_of(WORDS, st.sampled_from(["^feat\\(x\\):", "a: b", "- c", "# d", "```", "'\"", "\\n\n```\nx", "{y}"]))
SEVERAL = st.lists(PATH, max_size=3, unique=True).map(tuple)
MANIFESTS = st.builds(
    Manifest,
    expected_paths=SEVERAL,
    min_file_count=st.integers(0, 5),
    commit_message_pattern=PATTERN,
    bash_syntax_check=SEVERAL,
    forbidden_paths=SEVERAL,
    must_contain=st.lists(st.builds(Content, path=PATH, pattern=PATTERN), max_size=2).map(tuple),
    absent_paths=SEVERAL,
    skip_commit_check=st.booleans(),
)


@settings(max_examples=30)
@given(MANIFESTS)
def test_a_manifest_that_omo_writes_reads_back_as_it_was_meant(made: Manifest) -> None:
    text = "\n".join([plan_text(1, step1={"manifest": None}), *manifest_bullet(made, "Manifest (proposed)")])
    (step,) = documents.parse(text, "plan.md").steps
    assert step.manifest == made


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
    ("src/[ab].py", "src/[bc].py", False),
    ("app/[slug]", "app/[slug]/page.tsx", True),
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
PATHS = st.lists(st.text(alphabet="ab[].", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)


@settings(max_examples=50)
@given(GLOBS, GLOBS, PATHS)
def test_two_globs_that_cover_one_path_always_meet(glob: str, other: str, path: str) -> None:
    if globs.covers(path, glob) and globs.covers(path, other):
        assert sessions.may_meet(glob, other)


def test_sessions_whose_fences_overlap_never_run_beside_each_other() -> None:
    specs = cut(plan_text(3, sessions=[[1], [2], [3]]))
    assert "- Never beside: Session 2, Session 3, because" in render(specs[0])
    assert "Never beside" not in render(cut(plan_text(2, touch=None, sessions=[[1], [2]]))[0])


def test_sessions_depend_on_what_they_say_and_on_what_their_steps_do() -> None:
    text = plan_text(4, touch=None, sessions=[[1], [2], [3], [4]], step4={"Depends on": "Step 2"})
    specs = cut(with_lines(text, 3, "Depends on: Session 1"))
    assert [spec.sessions[0].number for spec in specs] == [1, 2, 3, 4]
    assert [spec.sessions[0].depends_on for spec in specs] == [(), (), (1,), (2,)]
    assert [spec.sessions[0].blocks for spec in specs] == [(3,), (4,), (), ()]
    assert "- Entry condition: a clean tree that has the commits of Session 2" in render(specs[3])


def test_a_session_waits_for_one_that_says_that_it_blocks_it() -> None:
    specs = cut(with_lines(plan_text(3, touch=None, sessions=[[1], [2], [3]]), 1, "Blocks: Session 3"))
    assert [spec.sessions[0].depends_on for spec in specs] == [(), (), (1,)]
    assert [spec.sessions[0].blocks for spec in specs] == [(3,), (), ()]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            with_lines(plan_text(2, sessions=[[1], [2]]), 2, "Blocks: Session 1"),
            "session 1 depends on session 2, which does not come before it",
        ),
        (with_lines(plan_text(1, sessions=[[1]]), 1, "Blocks: Session 7"), "session 1 blocks session 7, which is not"),
        (
            with_lines(plan_text(2, sessions=[[1], [2]]), 1, "Depends on: Session 2"),
            "session 1 depends on session 2, which does not come before it",
        ),
        (with_lines(plan_text(2, sessions=[[1], [2]]), 1, "Depends on: Session 7"), "session 1 depends on session 7"),
        (with_lines(plan_text(1, sessions=[[1]]), 1, "Depends on: Session 1"), "session 1 depends on session 1"),
        (plan_text(2, sessions=[[1], [2]]).replace("## Session 2", "## Session 1"), "session 1 is there twice"),
        (plan_text(2, step1={"Depends on": "Step 2"}), "step 1 depends on step 2, which does not come before"),
        (plan_text(2, step1={"Depends on": "Step 9"}), "step 1 depends on step 9, which is not in the plan"),
        (plan_text(1, sessions=[[1], []]), "session 2 has no step"),
        (plan_text(2, sessions=[[1]]).replace("### Step 2", "## Notes\n\n### Step 2"), "step 2 stands in no session"),
    ],
)
def test_what_has_no_order_is_refused_by_name(text: str, said: str) -> None:
    assert said in "\n".join(refused(text))
