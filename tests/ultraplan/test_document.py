"""A plan as Markdown, read into data; every defect with the line it is on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.errors import BadInput
from omo.workflows.ultraplan.document import load, parse
from omo.workflows.ultraplan.models import Content, Document, FenceGlobs, Manifest
from omo.workflows.ultraplan.rules import validate
from tests.ultraplan.plans import manifest_text, plan_text, step_text, subject_of


def read(text: str) -> Document:
    return parse(text, "plan.md")


def told(document: Document) -> dict[int, str]:
    return {defect.line: defect.code for defect in document.defects if not defect.is_advisory}


def line_with(text: str, part: str) -> int:
    return next(at for at, line in enumerate(text.splitlines(), start=1) if part in line)


def test_a_plan_is_read_with_steps_fields_and_manifests() -> None:
    text = plan_text(needs=["git_push", "cmd:docker"])
    plan = read(text)
    assert plan.defects == ()
    assert (plan.title, plan.version, plan.needs) == ("Add parts", (1, 7), ("git_push", "cmd:docker"))
    assert plan.fence == FenceGlobs(("src/**", "tests/**"), ("infra/**",))
    assert [step.number for step in plan.steps] == [1, 2, 3, 4, 5]
    third = plan.steps[2]
    assert (third.title, third.files, third.on_failure) == ("Add part 3", ("src/part3.py",), "retry")
    assert third.on_failure_text == "read the error and write the function again"
    assert third.line == line_with(text, "### Step 3")
    assert third.text == step_text(3)
    assert third.line_of("") == third.line + text.splitlines()[third.line :].index("  manifest:") + 1
    assert third.manifest.must_contain == (Content(path="src/part3.py", pattern=r"^def part3\("),)
    assert third.manifest.commit_message_pattern == r"^feat\(part3\):"


@pytest.mark.parametrize(
    "line",
    [
        "plan_version: 1.7",
        'plan_version: "1.7"',
        "**plan_version:** 1.7",
        "- plan_version: 1.7",
        "> plan_version: 1.7",
        "`plan_version: 1.7`",
        "Plan_Version = v1.7",
        "some words\nplan_version: 1.7\nmore words",
    ],
)
def test_the_version_is_found_however_it_is_written_near_the_title(line: str) -> None:
    assert read(plan_text(version=None).replace("# Add parts\n", f"# Add parts\n\n{line}\n")).version == (1, 7)


@pytest.mark.parametrize(
    "text",
    [
        plan_text(version=None) + "\n## Notes\n\nplan_version: 1.7\n",
        plan_text(version=None).replace("# Add parts\n", "# Add parts\n\n```\nplan_version: 1.7\n```\n"),
        plan_text(version=None, step1={"Changes": "write `plan_version: 1.7` into the template"}),
    ],
    ids=["far below", "in code", "in a step"],
)
def test_a_version_that_is_only_mentioned_is_none(text: str) -> None:
    assert read(text).version is None


def test_front_matter_names_version_and_needs_and_shifts_no_line() -> None:
    text = "---\nplan_version: 1.10\nneeds: [network]\n---\n" + plan_text(version=None)
    plan = read(text)
    assert (plan.version, plan.needs) == ((1, 10), ("network",))
    assert plan.steps[0].line == line_with(text, "### Step 1")


@pytest.mark.parametrize(
    "heading",
    [
        "## Fase 2: Add part 2",
        "## Schritt 2: Add part 2",
        "## Steg 2: Add part 2",
        "## Étape 2: Add part 2",
        "## Paso 2: Add part 2",
        "### Phase 2: Add part 2",
        "### Stage 2 — Add part 2",
        "## Step 2: Add part 2",
        "#### Step 2: Add part 2",
        "### step 2: Add part 2",
        "### Step 2 - Add part 2",
        "### Step 2",
        "### **Step 2: Add part 2**",
        "### ⚠️ **Step 2: Add part 2",
        "### Step 2.1: Add part 2",
        "> ### Step 2: Add part 2",
        "Step 2: Add part 2\n---",
    ],
)
def test_a_step_in_another_form_is_a_defect_that_shows_the_form(heading: str) -> None:
    text = plan_text(2).replace("### Step 2: Add part 2", heading)
    wrong = [defect for defect in read(text).defects if defect.code == "step-heading"]
    assert [defect.line for defect in wrong] == [line_with(text, heading.splitlines()[0])]
    assert "`### Step 2: " in wrong[0].message


@pytest.mark.parametrize("around", ["```\n{}\n```", "<!--\n{}\n-->", "    {}"], ids=["fenced", "comment", "indented"])
def test_a_step_that_is_only_shown_is_no_step(around: str) -> None:
    shown = around.format("### Step 9: Shown")
    assert [step.number for step in read(plan_text(2) + f"\n## Notes\n\n{shown}\n").steps] == [1, 2]


@pytest.mark.parametrize("mark", ["- {}: {}", "* {}: {}", "+ **{}:** {}", "- **{}**: {}", "- [ ] {}: {}", "- _{}:_ {}"])
def test_fields_are_read_in_every_form_people_write(mark: str) -> None:
    lines = [mark.format("Files", "`a.py`, b.py (new)"), mark.format("On-Failure", "**skip** — not needed")]
    (step,) = read("# T\n\n### Step 1: X\n\n" + "\n".join(lines)).steps
    assert (step.files, step.on_failure, step.on_failure_text) == (("a.py", "b.py"), "skip", "not needed")


def test_numbered_fields_nested_lists_and_windows_line_ends_are_read() -> None:
    text = (
        "# T\r\n\r\n### Step 1: X\r\n\r\n1. Files:\r\n   - `a.py` — the parser, see `b.py`\r\n   - c.py\r\n"
        "2. Verify:\r\n   ```\r\n   make test\r\n   ```\r\n   → expected: ok\r\n3. Depends on: Step 2 and Step 3\r\n"
    )
    (step,) = read(text).steps
    assert step.files == ("a.py", "c.py")
    assert step.verify == "```\nmake test\n```\n→ expected: ok"
    assert step.depends_on == (2, 3)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("retry", "retry"),
        ("`escalate`: ask", "escalate"),
        ("Revert — undo", "revert"),
        ("revert | retry | skip | escalate", ""),
        ("retry or skip", ""),
        ("panic", ""),
        ("retrying is fine", ""),
    ],
)
def test_on_failure_is_one_of_four(said: str, meant: str) -> None:
    assert read(plan_text(1, step1={"On failure": said})).steps[0].on_failure == meant


def test_files_may_be_none() -> None:
    for said in ("none", "none (read-only)", "None.", "—", "n/a"):
        assert read(plan_text(1, step1={"Files": said})).steps[0].files == ()


def test_a_field_that_is_there_twice_is_a_defect() -> None:
    text = plan_text(1).replace("- Reuses:", "- Verify: `true`\n- Reuses:")
    assert told(read(text)) == {line_with(text, "- Verify: `python3"): "field-repeated"}


@pytest.mark.parametrize(
    ("key", "line", "code"),
    [
        ("expected_paths: x.py", "expected_paths", "manifest-value"),
        ("expected_paths: [/etc/passwd]", "expected_paths", "manifest-value"),
        ("expected_paths: [../x]", "expected_paths", "manifest-value"),
        ("expected_paths: [.git/config]", "expected_paths", "manifest-value"),
        ("min_file_count: '1'", "min_file_count", "manifest-value"),
        ("min_file_count: true", "min_file_count", "manifest-value"),
        ("min_file_count: -1", "min_file_count", "manifest-value"),
        ("commit_message_pattern: 12", "commit_message_pattern", "manifest-value"),
        ("must_contain: [{path: a.py}]", "must_contain", "manifest-value"),
        ("must_contain: [{path: a.py, pattern: x, flags: i}]", "must_contain", "manifest-value"),
        ("must_contain: a.py", "must_contain", "manifest-value"),
        ("skip_commit_check: 'no'", "skip_commit_check", "manifest-value"),
        ("absent_path: []", "absent_path:", "manifest-key"),
        ("Absent-Paths: []", "Absent-Paths", "manifest-key"),
        ("min_file_count: 1\n  min_file_count: 2", "min_file_count: 2", "manifest-yaml"),
        ("absent_paths: &a []", "absent_paths", "manifest-yaml"),
        ("absent_paths: [", "```", "manifest-yaml"),
    ],
)
def test_a_manifest_is_read_strictly_and_says_which_line(key: str, line: str, code: str) -> None:
    known = manifest_text(1, **{key.partition(":")[0]: None})
    text = plan_text(1, step1={"manifest": f"{known}\n  {key}"})
    at = [at for at, one in enumerate(text.splitlines(), start=1) if line in one][-1]
    assert told(read(text)) == {at: code}


@pytest.mark.parametrize(
    ("written", "defects", "expected"),
    [
        ("manifest:\n  expected_paths: [a.py]", [("manifest-value", False)] * 5, ()),
        ({"owner": "someone"}, [("manifest-key", True)], ("src/part1.py",)),
        ({"expected_paths": None, "expected_path": []}, [("manifest-value", False), ("manifest-key", False)], ()),
        ({"expected_paths": ["/a", "src/b.py", "../c"]}, [("manifest-value", False)] * 2, ()),
        ("manifest:\nexpected_paths: []", [("manifest-form", False)], ()),
    ],
    ids=["keys that are missing", "a key of another tool", "a misspelt key", "one bad entry", "not indented"],
)
def test_what_is_wrong_with_a_manifest_is_told_and_the_rest_is_read(
    written: object, defects: list[tuple[str, bool]], expected: tuple[str, ...]
) -> None:
    plan = read(plan_text(1, step1={"manifest": written}))
    assert [(defect.code, defect.is_advisory) for defect in plan.defects] == defects
    manifest = plan.steps[0].manifest
    assert manifest.expected_paths == expected


def test_a_second_manifest_and_one_outside_a_step_are_defects() -> None:
    block = f"```yaml\n{manifest_text(1)}\n```"
    text = plan_text(1) + f"\n{block}\n\n## Notes\n\n{block}\n"
    assert list(told(read(text)).values()) == ["manifest-count", "manifest-count"]


def test_sessions_have_steps_dependencies_context_and_a_fence_of_their_own() -> None:
    text = plan_text(3, sessions=[[1, 2], [3]]).replace(
        "## Session 2: Part 2\n",
        "## Session 2: Part 2\n\n- Depends on: Session 1\n- Context: last part\n- Touch:\n  - `src/part3.py`\n"
        "  - docs/\n- Never touch: none\n",
    )
    first, second = read(text).sessions
    assert (first.number, first.steps, first.fence, first.depends_on) == (1, (1, 2), None, ())
    assert (second.title, second.steps, second.depends_on, second.context) == ("Part 2", (3,), (1,), "last part")
    assert second.fence == FenceGlobs(("src/part3.py", "docs"), ())


@pytest.mark.parametrize(
    "text",
    ["", "\0", "### Step 1:", "---", "---\n: [\n---\n", "### Step 99999999999: x", "- Files\n" * 50, "#" * 10_000],
)
def test_no_text_makes_it_raise(text: str) -> None:
    assert read(text).text == text


@pytest.mark.parametrize(
    "said",
    [
        "x" * 4_001,
        " " * 30_000 + "(",
        "\n".join(["  `a ``b"] * 3_000),
        "\n\n" + "\n".join(["- a: b", "- C: d"] * 2_000 + ["x" * 4_001]),
    ],
    ids=["long line", "spaces", "long field", "many fields"],
)
def test_what_is_too_long_to_be_read_is_told_and_does_not_hang(said: str) -> None:
    assert "length" in told(read(plan_text(1, step1={"Changes": said}))).values()


def test_a_file_outside_the_project_or_no_text_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    outside = tmp_path / "plan.md"
    outside.write_text(plan_text(1))
    (root / "link.md").symlink_to(outside)
    (root / "latin.md").write_bytes(b"\xff\xfe")
    (root / "huge.md").write_bytes(b"x" * 500_001)
    for kept in (".git", ".sisyphus/cc-omo"):
        (root / kept).mkdir(parents=True)
        (root / kept / "plan.md").write_text(plan_text(1))
    ours = (root / ".git/plan.md", root / ".sisyphus/cc-omo/plan.md")
    for path in (*ours, outside, root / "link.md", root / "latin.md", root / "huge.md", root, root / "missing.md"):
        with pytest.raises(BadInput):
            load(path, root)
    (root / "docs").mkdir()
    (root / "docs" / "plan.md").write_bytes(b"\xef\xbb\xbf" + plan_text(1).encode())
    assert load(root / "docs" / "plan.md", root).path == "docs/plan.md"


ODD = ["", "---", "```", "~~~", "> x", "  - a", "<!--", "-->", "\t", "| a |"]
PIECES = [*plan_text(2, sessions=[[1], [2]]).splitlines(), *ODD]


@settings(max_examples=50)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("\n".join))
def test_any_mixture_of_pieces_is_read_and_judged(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    document = read(text)
    lines = len(text.splitlines()) + 1
    assert all(0 <= defect.line <= lines for defect in validate(document, tmp_path_factory.getbasetemp()))
    assert all(text.splitlines()[step.line - 1].lstrip("#>- ").lower().startswith("step") for step in document.steps)


# Plans from before manifests: what is made up for them, and that it is marked so


def made_up(**fields: str) -> Manifest:
    document = parse(plan_text(1, version=None, step1={"manifest": None, **fields}), "plan.md")
    assert document.is_legacy_synthesis
    return document.steps[0].manifest


def test_paths_come_from_files_and_the_pattern_from_the_checkpoint() -> None:
    manifest = made_up()
    assert (manifest.expected_paths, manifest.min_file_count) == (("src/part1.py",), 1)
    assert re.search(manifest.commit_message_pattern, subject_of(1))
    assert not re.search(manifest.commit_message_pattern, subject_of(2))
    assert not re.search(manifest.commit_message_pattern, f'Revert "{subject_of(1)}"')


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ("none", ()),
        ("src/a.py, ./src/b.py (new)", ("src/a.py", "src/b.py")),
        ("`/etc/passwd`, `../x`, `src/a.py`", ("src/a.py",)),
        ("whatever is needed", ()),
    ],
)
def test_only_paths_of_the_project_are_taken(files: str, paths: tuple[str, ...]) -> None:
    assert made_up(Files=files).expected_paths == paths


@pytest.mark.parametrize(
    ("checkpoint", "pattern"),
    [
        ("none", ""),
        ("commit your work", ""),
        ('git commit -m "$MESSAGE"', ""),
        ('git commit -m "{message}"', ""),
        ('git commit -m "feat(x): {what}"', r"^feat\(x\):"),
        ("`git add a && git commit -am 'fix(x): stop (again)'`", r"^fix\(x\): stop \(again\)(?:\s|$)"),
    ],
)
def test_only_what_is_known_of_the_message_is_taken(checkpoint: str, pattern: str) -> None:
    assert made_up(Checkpoint=checkpoint).commit_message_pattern == pattern


def test_a_strict_plan_gets_nothing_made_up_and_a_manifest_that_is_there_is_kept() -> None:
    strict = parse(plan_text(2, step1={"manifest": None}), "plan.md")
    assert (strict.steps[0].has_manifest, strict.is_legacy_synthesis) == (False, False)
    document = parse(plan_text(2, version="1.6", step1={"manifest": None}), "plan.md")
    assert [step.is_synthesised for step in document.steps] == [True, False]
