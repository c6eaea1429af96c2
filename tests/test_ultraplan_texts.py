"""What ultraplan tells its agents and its users, held against the code that acts on it."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from omo.cli.main import build_parser
from omo.ultraplan import critique, manifest, preflight, rules, sessions, spec_text
from omo.ultraplan import document as documents
from omo.ultraplan.audit import audit
from omo.ultraplan.markdown import commit_subjects
from omo.ultraplan.models import ON_FAILURE, PLAIN_NEEDS, Document, Step, need_defect
from tests.named_commands import assert_named_commands_exist, assert_parses, children, whole_commands

ROOT = Path(__file__).resolve().parents[1]
SKILLS = {name: ROOT / "skills" / name / "SKILL.md" for name in ("ultraresearch", "ultraplan", "ultraexecute")}
FRAGMENTS = {name: sorted((ROOT / "skill-fragments" / name).glob("*.md")) for name in ("ultraplan", "ultraexecute")}
TEMPLATE = ROOT / "skill-fragments" / "ultraplan" / "plan-template.md"
MANIFESTS = ROOT / "skill-fragments" / "ultraplan" / "manifests.md"
DIMENSIONS = ROOT / "skill-fragments" / "ultraplan" / "critic.md"
CRITIC = ROOT / "agents" / "critic.md"
PLANNER = ROOT / "agents" / "planner.md"
PAGE = ROOT / "docs" / "ultraplan.md"
TEXTS = [*SKILLS.values(), *FRAGMENTS["ultraplan"], *FRAGMENTS["ultraexecute"], CRITIC, PLANNER, PAGE]

# What a skill may run without asking: it reads git and files. Preflight connects to a remote; the others change state.
READING = {"plan validate", "plan status", "plan audit"}


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def frontmatter(path: Path) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text(path).split("---\n")[1].splitlines())


def flat(path: Path) -> str:
    """Without line breaks, so that a sentence is found wherever it is wrapped."""
    return " ".join(text(path).split())


def section(path: Path, title: str) -> str:
    return text(path).split(f"## {title}\n")[1].split("\n## ")[0]


def first_column(table: str) -> list[str]:
    """The words in backticks in the first column of a table."""
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [word for cell in rows for word in re.findall(r"`([^`]+)`", cell)]


# The skills


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_is_named_as_its_directory_and_says_when_and_not_how(name: str) -> None:
    told = frontmatter(SKILLS[name])
    assert told["name"] == name
    assert "Use when" in told["description"]
    assert f"/omo:{name}" in told["description"]
    assert not re.search(r"validate|preflight|audit|decompose|critic", told["description"])


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_stays_short(name: str) -> None:
    assert len(text(SKILLS[name]).splitlines()) <= 110


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_approves_nothing_that_writes_or_connects(name: str) -> None:
    allowed = frontmatter(SKILLS[name]).get("allowed-tools", "")
    stems = [re.fullmatch(r"Bash\(omo (.+?)(?: \*)?\)", one) for one in allowed.split(", ") if one]
    assert {one[1] if one else "?" for one in stems} <= READING


def test_research_approves_nothing_at_all_because_it_only_reads() -> None:
    assert "allowed-tools" not in frontmatter(SKILLS["ultraresearch"])


@pytest.mark.parametrize("name", FRAGMENTS)
def test_a_skill_names_every_fragment_of_its_own(name: str) -> None:
    named = set(re.findall(rf"skill-fragments/{name}/(\S+\.md)", text(SKILLS[name])))
    assert named == {path.name for path in FRAGMENTS[name]}


@pytest.mark.parametrize("path", [*FRAGMENTS["ultraplan"], *FRAGMENTS["ultraexecute"]], ids=lambda path: path.stem)
def test_a_fragment_is_no_skill(path: Path) -> None:
    assert not text(path).startswith("---"), f"{path.name} has frontmatter, so a host could list it"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_agents_and_skills_that_are_named_exist(path: Path) -> None:
    for name in re.findall(r"`omo:(\w+)`", text(path)):
        assert (ROOT / "agents" / f"{name}.md").is_file()
    for name in re.findall(r"/omo:([\w-]+)", text(path)) + re.findall(r"the (ultra\w+) skill", flat(path)):
        assert (ROOT / "skills" / name / "SKILL.md").is_file()


# Tables that repeat the code


@pytest.mark.parametrize("path", [SKILLS["ultraexecute"], PAGE], ids=lambda path: path.stem)
def test_every_way_out_of_failure_has_its_row(path: Path) -> None:
    title = "When a step fails" if path != PAGE else "Steps and manifests"
    rows = first_column(section(path, title))
    assert sorted(set(rows) & set(ON_FAILURE)) == sorted(ON_FAILURE)


@pytest.mark.parametrize(
    ("path", "title"), [(MANIFESTS, None), (PAGE, "Steps and manifests")], ids=["fragment", "page"]
)
def test_every_key_of_a_manifest_has_its_row(path: Path, title: str | None) -> None:
    table = section(path, title) if title else text(path).split("## ")[0]
    assert sorted(key for key in first_column(table) if key not in ON_FAILURE) == sorted(manifest.KEYS)


def test_the_template_explains_every_field() -> None:
    fields = re.findall(r"^\| ([A-Z][\w ]+) \|", text(TEMPLATE).split("````")[2], re.M)
    assert {name.lower() for name in fields} == {*rules.FIELDS, "depends on", "manifest"}


@pytest.mark.parametrize("path", [TEMPLATE, PAGE], ids=lambda path: path.stem)
def test_every_need_that_can_be_asked_for_is_named(path: Path) -> None:
    assert [need for need in (*PLAIN_NEEDS, "cmd:NAME", "env:NAME") if f"`{need}`" not in flat(path)] == []


def test_the_bypass_of_the_preflight_is_named_and_left_to_the_user() -> None:
    assert preflight.BYPASSES[0] in text(SKILLS["ultraexecute"])
    assert preflight.BYPASSES[0] in text(PAGE)


# The critic and the planner


def test_the_fragment_has_every_dimension_in_order_and_the_gate_last() -> None:
    named = first_column(section(DIMENSIONS, "What it looks at"))
    assert named == list(critique.DIMENSIONS)
    assert named[-1] == "manifest-quality"


def test_what_the_critic_returns_can_be_recorded() -> None:
    found = critique.read_verdict(text(CRITIC))
    assert list(found.dimensions) == list(critique.DIMENSIONS)
    assert [finding.severity for finding in found.findings] == ["blocking", "advisory"]
    assert not found.is_clean


def test_the_critics_example_made_clean_is_clean_and_a_weak_manifest_alone_undoes_it() -> None:
    shown = json.loads(text(CRITIC).split("```json\n")[1].split("```")[0])
    clean = {**shown, "verdict": "clean", "dimensions": dict.fromkeys(shown["dimensions"], "pass"), "findings": []}
    assert critique.read_verdict(json.dumps(clean)).is_clean
    clean["dimensions"]["manifest-quality"] = "concern"
    assert not critique.read_verdict(json.dumps(clean)).is_clean


@pytest.mark.parametrize("path", [CRITIC, PLANNER], ids=lambda path: path.stem)
def test_planner_and_critic_only_read(path: Path) -> None:
    assert set(frontmatter(path)["tools"].split(", ")) == {"Read", "Grep", "Glob"}


# The worked example


def shown_plan(path: Path) -> str:
    return text(path).split("````markdown\n")[1].split("````")[0]


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project of the page, before the work."""
    write(
        tmp_path,
        {
            "src/intake/rows.py": "def read(path):\n    return list(path)  # nothing is refused\n",
            "src/intake/api.py": "from intake.rows import read\n",
            "tests/test_rows.py": "import unittest\n",
            "bin/old-report": "#!/bin/sh\necho old\n",
            "pyproject.toml": "",
            "plans/refuse-rows.md": shown_plan(PAGE),
        },
    )
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "user.name", "Test")
    git(tmp_path, "config", "user.email", "test@example.org")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "chore: begin")
    return tmp_path


@pytest.fixture
def plan(project: Path) -> Document:
    return documents.load(project / "plans" / "refuse-rows.md", project)


WORK = {
    1: {"src/intake/dates.py": "def problem(text):\n    return None\n", "tests/test_dates.py": "import unittest\n"},
    2: {
        "src/intake/rows.py": "def read(path):\n    refused = []\n    return list(path), refused\n",
        "tests/test_rows.py": "def test_a_malformed_date_is_refused_by_number():\n    pass\n",
    },
    3: {"bin/report": "#!/usr/bin/env bash\necho report\n"},
}


def carry_out(root: Path, step: Step) -> None:
    write(root, WORK[step.number])
    if step.manifest is not None:
        for path in step.manifest.absent_paths:
            (root / path).unlink()
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", commit_subjects(step.checkpoint)[0])


def test_the_plan_of_the_page_is_valid_without_a_remark(project: Path, plan: Document) -> None:
    assert [str(defect) for defect in rules.validate(plan, project)] == []
    assert [step.number for step in plan.steps] == [1, 2, 3]
    assert [need for need in plan.needs if need_defect(need)] == []


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("pattern: '^\\s+refused\\b.*='", "pattern: '{pattern}'", "pattern"),
        ("      - src/intake/dates.py\n", "      - src/intake/api.py\n", "fence"),
        ("'^feat\\(dates\\): say what is wrong'", "'.*'", "pattern"),
        ("- On failure: revert", "- On failure: hope", "on-failure"),
        ("### Step 3:", "### Phase 3:", "step-heading"),
    ],
)
def test_the_plan_of_the_page_is_valid_for_a_reason(project: Path, before: str, after: str, code: str) -> None:
    shown = shown_plan(PAGE)
    assert before in shown
    found = rules.validate(documents.parse(shown.replace(before, after), "plan.md"), project)
    assert code in {defect.code for defect in found if not defect.is_advisory}


def test_the_plan_of_the_page_can_be_cut_into_its_one_session(project: Path, plan: Document) -> None:
    (spec,) = sessions.decompose(plan, has_remote=False, out="plans/refuse-rows")
    read = documents.parse(spec_text.render(spec), spec.path)
    assert spec.path in text(PAGE)
    assert spec_text.unlike(spec, read) == []


def test_what_the_page_says_the_audit_finds_is_what_it_finds(project: Path, plan: Document) -> None:
    base = git(project, "rev-parse", "HEAD")
    for number in (1, 3):
        carry_out(project, plan.steps[number - 1])
    told = audit(plan, project, base=base)
    shown = re.findall(r"^(\w+) +Step (\d): (.+?)(?: \([0-9a-f]{12}\))?$", text(PAGE), re.M)
    assert [(one.status, str(one.step), one.title) for one in told.steps] == shown
    (verdict_shown,) = re.findall(r"^Verdict: (\w+) since \w+, (\d) of", text(PAGE), re.M)
    assert verdict_shown == (told.verdict, str(len(told.passed)))
    assert "none of 2 commits since" in told.steps[1].findings[0]
    carry_out(project, plan.steps[1])
    assert audit(plan, project, base=base).verdict == "pass"


# The template


def filled(template: str, plan: Document) -> str:
    """The template with what the first step of the page says in each place."""
    step = plan.steps[0]
    assert plan.fence is not None
    assert step.manifest is not None
    command, expected = step.verify.split(" → expected: ")
    content = step.manifest.must_contain[0]
    values = {
        "title": plan.title,
        "needs": ", ".join(plan.needs),
        "description": "Why it is done.",
        "touch": ", ".join(f"`{glob}`" for glob in plan.fence.touch),
        "never touch": ", ".join(f"`{glob}`" for glob in plan.fence.never),
        "step": step.title,
        "files": ", ".join(f"`{path}`" for path in step.files),
        "exactly what to modify": step.changes,
        "your pattern to reuse": step.reuses,
        "test file": step.test_first,
        "exact command": command.strip("`"),
        "expected output": expected,
        "retry, revert, skip or escalate": step.on_failure,
        "specific instructions": step.on_failure_text,
        "paths": " ".join(step.files),
        "commit message": commit_subjects(step.checkpoint)[0],
        "path": step.manifest.expected_paths[0],
        "regex": step.manifest.commit_message_pattern,
        "file": content.path,
        "pattern": content.pattern,
    }
    slots = re.findall(r"\{([\w, -]+)\}", template)
    assert sorted(slots) == sorted(values)
    return re.sub(r"\{([\w, -]+)\}", lambda slot: values[slot[1]], template)


def test_the_template_filled_in_as_on_the_page_is_valid_and_says_the_same(project: Path, plan: Document) -> None:
    made = documents.parse(filled(shown_plan(TEMPLATE), plan), "plan.md")
    assert [str(defect) for defect in rules.validate(made, project)] == []
    (step,) = made.steps
    assert replace(step, line=0, text="", manifest=None) == replace(plan.steps[0], line=0, text="", manifest=None)
    assert made.fence == plan.fence
    assert made.needs == plan.needs


def test_the_template_as_it_stands_is_refused_in_every_place(project: Path) -> None:
    found = rules.refusing(rules.validate(documents.parse(shown_plan(TEMPLATE), "plan.md"), project))
    told = " ".join(str(defect) for defect in found)
    for field in ("needs", "Touch", "the title", "Files", "Changes", "Reuses", "Test first", "Verify", "On failure"):
        assert field in told
    for key in ("Checkpoint", "expected_paths", "commit_message_pattern", "must_contain"):
        assert key in told


def test_the_template_shows_every_key_a_planner_writes() -> None:
    shown = re.findall(r"^ {4}(\w+):", shown_plan(TEMPLATE), re.M)
    assert shown == [*manifest.REQUIRED, "absent_paths"]


# Commands


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_command_that_is_named_exists_with_its_options(path: Path) -> None:
    assert_named_commands_exist(path)


@pytest.mark.parametrize("line", whole_commands(TEXTS))
def test_a_command_that_can_be_copied_parses(line: str) -> None:
    assert_parses(line)


def test_every_verb_of_plan_is_explained_in_the_page_and_in_a_skill() -> None:
    verbs = children(children(build_parser())["plan"])
    skills = " ".join(flat(path) for path in SKILLS.values())
    assert [verb for verb in verbs if f"omo plan {verb}" not in flat(PAGE)] == []
    assert [verb for verb in verbs if f"omo plan {verb}" not in skills] == []


def test_the_page_is_found_from_the_readme() -> None:
    assert "(docs/ultraplan.md)" in text(ROOT / "README.md")
    for name in SKILLS:
        assert f"/omo:{name}" in text(ROOT / "README.md")
