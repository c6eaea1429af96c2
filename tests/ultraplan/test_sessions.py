"""A plan cut into sessions: fences, manifests and order are computed, steps are copied, and every spec reads back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from omo.errors import Refused
from omo.ultraplan import document as documents
from omo.ultraplan import sessions, spec_text
from omo.ultraplan.models import Content, Document, Fence, Manifest, Recovery, Step
from omo.ultraplan.sessions import SessionSpec
from tests.ultraplan.plans import path_of, plan_text, step_text


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


def test_a_plan_without_session_headings_is_one_session_with_every_step() -> None:
    (spec,) = cut(plan_text(5))
    assert (spec.number, spec.total, [step.number for step in spec.steps]) == (1, 1, [1, 2, 3, 4, 5])


def test_each_session_heading_is_a_session_with_the_steps_below_it() -> None:
    found = cut(plan_text(5, sessions=[[1, 2], [3], [4, 5]]))
    assert [[step.number for step in spec.steps] for spec in found] == [[1, 2], [3], [4, 5]]
    assert [spec.path for spec in found] == ["specs/session-1.md", "specs/session-2.md", "specs/session-3.md"]


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


def test_nothing_in_a_spec_waits_to_be_filled_in() -> None:
    (spec,) = cut(plan_text(1))
    text = spec_text.render(spec).replace(step_text(1), "")
    assert not [word for word in ("TODO", "TBD", "FIXME", "{", "}", "<") if word in text]


def test_the_session_manifest_is_computed_from_the_steps_without_the_preflight() -> None:
    text = plan_text(
        3,
        step1={"manifest": {"bash_syntax_check": ["src/run.sh"], "forbidden_paths": ["docs/**"]}},
        step2={"manifest": {"expected_paths": [path_of(1), path_of(2)], "bash_syntax_check": ["src/run.sh"]}},
        step3={"manifest": {"skip_commit_check": True}},
        needs=["cmd:docker"],
    )
    assert manifest_of(cut(text, has_remote=True)[0]) == {
        "plan_version": "1.7",
        "legacy_synthesis": False,
        "needs": ["git_push", "cmd:docker"],
        "expected_paths": [path_of(1), path_of(2), path_of(3)],
        "commit_count": 2,
        "commit_message_patterns": [r"^feat\(part1\):", r"^feat\(part2\):"],
        "bash_syntax_check": ["src/run.sh"],
        "scope_touch": ["src/**", "tests/**"],
        "scope_forbidden": ["infra/**", "docs/**"],
    }


def test_two_steps_with_the_same_pattern_are_two_commits() -> None:
    same = {"manifest": {"commit_message_pattern": "^feat: part"}}
    assert manifest_of(cut(plan_text(2, step1=same, step2=same))[0])["commit_message_patterns"] == ["^feat: part"] * 2


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


def test_a_need_that_nobody_can_ask_for_is_a_defect() -> None:
    assert refused(plan_text(1, needs=["docker", "cmd:docker"])) == [
        "needs: docker is no need that can be asked for (git, git_push, clean_tree, network, cmd:NAME, env:NAME)"
    ]


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
    assert spec_text.unlike(again, back) == []


def test_a_recovery_of_an_older_plan_repeats_no_manifest() -> None:
    spec = cut(plan_text(2, version=None, step1={"manifest": None}, step2={"manifest": None}))[0]
    again = sessions.recovered(read_back(spec), Recovery("s", 1, (2,)), path="r.md")
    assert spec_text.unlike(again, read_back(again)) == []
    assert spec_text.render(again).count("  manifest:\n") == 2  # step 0 and step 2


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
    assert spec_text.unlike(spec, back) == []
    assert (back.fence, back.needs, back.version) == (spec.fence, spec.needs, (1, 7))


@given(st.lists(st.one_of(WORDS, st.sampled_from(["## Steps", "### Step 9: x", "```yaml", "needs: [x]", "---"]))))
def test_whatever_the_context_says_it_is_refused_or_means_nothing(lines: list[str]) -> None:
    spec = replace(cut(plan_text(2))[0], context="\n".join(lines))
    back = read_back(spec)
    assert spec_text.unlike(spec, back) or [step.number for step in back.steps] == [0, 1, 2]


def test_what_does_not_read_back_is_told() -> None:
    spec = cut(plan_text(2))[0]
    other = replace(spec, fence=Fence(("x",)), needs=("git",), number=2, steps=spec.steps[:1])
    assert [one.split(" of ")[0] for one in spec_text.unlike(other, read_back(spec))] == [
        "the steps", "the manifests", "the fence", "the needs", "the session",
    ]  # fmt: skip
