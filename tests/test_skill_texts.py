"""Skills, fragments and agents: who may start them, what they approve, and how much a model has to read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from omo.cli.main import build_parser
from tests.named_commands import children
from tests.tables import read
from tests.written import AGENTS, FRAGMENTS, ROOT, SKILLS, agent, body, flat, fragments, frontmatter, page, skill, text

DECISIONS = ROOT / "docs" / "decisions"

FOR_THE_MODEL = ("verify",)
MOST_WORDS = 3500
TOOLS = {
    "executor": {"Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit", "Bash"},
    "planner": {"Read", "Grep", "Glob"},
    "architect": {"Read", "Grep", "Glob", "Bash"},
    "critic": {"Read", "Grep", "Glob"},
    "qa": {"Read", "Grep", "Glob", "Bash", "Write"},
    "judge": {"Read", "Grep", "Glob", "Bash"},
    "explorer": {"Read", "Grep", "Glob"},
}
NOT_FOR_LIBRARIANS = {
    *("Agent", "Task", "Skill", "Bash", "PowerShell"),
    *("Edit", "MultiEdit", "Write", "NotebookEdit"),
}
# What code cannot enforce.
SAID = read(__file__, "said_in_skills.txt")["said"]
EXPLAINED_IN = {
    "plan": [page("ultraplan")],
    "ralph": [skill("ralph"), *fragments("ralph"), agent("judge"), page("ralph"), DECISIONS / "ralph.md"],
    "ultragoal": [skill("ultragoal"), *fragments("ultragoal"), *AGENTS, page("ultragoal")],
}


@pytest.mark.parametrize("name", SAID)
def test_a_skill_says_what_code_cannot_enforce(name: str) -> None:
    told = flat(skill(name))
    assert [rule for rule in SAID[name] if rule not in told] == []


@pytest.mark.parametrize("command", EXPLAINED_IN)
def test_every_verb_is_explained_somewhere(command: str) -> None:
    told = " ".join(map(flat, EXPLAINED_IN[command]))
    verbs = children(children(build_parser())[command])
    assert [verb for verb in verbs if f"omo {command} {verb}" not in told] == []


def name_of(path: Path) -> str:
    return path.parent.name


@pytest.mark.parametrize("path", SKILLS, ids=name_of)
def test_a_skill_is_named_like_its_directory_and_says_what_it_is_for(path: Path) -> None:
    fields = frontmatter(path)
    assert fields["name"] == name_of(path)
    assert "user-invocable" not in fields
    assert ": " not in fields["description"], "YAML would read a key"


@pytest.mark.parametrize("path", SKILLS, ids=name_of)
def test_what_a_user_starts_by_name_is_not_offered_to_the_model(path: Path) -> None:
    fields = frontmatter(path)
    if name_of(path) in FOR_THE_MODEL:
        assert "Use when" in fields["description"]
    else:
        assert fields["disable-model-invocation"] == "true"
        assert "the user" not in fields["description"], "they alone read it, in the menu"


def test_the_bodies_of_all_skills_are_read_in_a_quarter_of_an_hour() -> None:
    words = {name_of(path): len(body(path).split()) for path in SKILLS}
    assert sum(words.values()) <= MOST_WORDS, words


def test_skills_approve_nothing_that_pins_records_or_lets_through() -> None:
    allowed = []
    for path in SKILLS:
        allowed += re.findall(r"Bash\((.+?)\)", frontmatter(path).get("allowed-tools", ""))
    of_verify = {"omo verify begin", "omo verify answer *", "omo verify finish *"}
    assert set(allowed) == {"omo plan validate *", *of_verify}


def test_no_skill_runs_a_shell_command_before_its_text() -> None:
    """A command that fails there aborts the whole skill before any hook runs."""
    for path in SKILLS:
        assert "!`" not in text(path)
        assert "```!" not in text(path)


def test_a_fragment_is_no_skill_and_its_skill_names_it() -> None:
    for path in FRAGMENTS:
        assert not text(path).startswith("---"), f"{path.name} has frontmatter, so a host could list it"
        assert path.name in body(skill(name_of(path))), f"nobody reads {path}"


def test_texts_that_name_a_fragment_name_one_that_exists() -> None:
    for path in [*SKILLS, *AGENTS]:
        for directory, names in re.findall(r"(skill-fragments/\w+/)([\w.-]+\.md|`(?:[^.]|\.\w)+\.)", text(path)):
            for name in re.findall(r"[\w-]+\.md", names):
                assert (ROOT / directory / name).is_file(), f"{path} names {directory}{name}"


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.stem)
def test_an_agent_is_named_like_its_file_and_has_the_tools_of_its_role(path: Path) -> None:
    """None starts others. What the librarian reads with comes from MCP servers, so it is said what it may not have."""
    fields = frontmatter(path)
    assert fields["name"] == path.stem
    if path == agent("librarian"):
        assert set(fields["disallowedTools"].split(", ")) >= NOT_FOR_LIBRARIANS
    else:
        assert set(fields["tools"].split(", ")) == TOOLS[path.stem]
