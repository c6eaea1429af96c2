"""Docs that cannot go stale quietly: links, commands, tables that repeat what the code says."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from omo import settings
from omo.errors import BadInput
from omo.hooks import messages
from omo.stop import rules, sentences
from tests.named_commands import (
    assert_named_commands_exist,
    assert_parses,
    named_commands,
    parser_of_omo,
    whole_commands,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    path
    for pattern in ("*.md", "docs/**/*.md", "skills/**/*.md", "skill-fragments/**/*.md", "agents/*.md")
    for path in sorted(ROOT.glob(pattern))
]
FOR_MODELS = [path for path in PAGES if path.relative_to(ROOT).parts[0] in ("skills", "skill-fragments", "agents")]


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_every_link_leads_somewhere() -> None:
    links = [(page, target) for page in PAGES for target in re.findall(r"\]\(([^)#\s]+)", text(page))]
    assert len(links) > 50
    assert [link for link in links if "://" not in link[1] and not (link[0].parent / link[1]).exists()] == []


def test_the_command_reference_is_what_the_parsers_say() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_cli.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_command_that_a_model_is_told_of_exists_with_its_options() -> None:
    assert sum(len(list(named_commands(page))) for page in FOR_MODELS) > 20
    for page in FOR_MODELS:
        assert_named_commands_exist(page)


def test_a_command_that_can_be_copied_parses() -> None:
    lines = whole_commands(FOR_MODELS)
    assert len(lines) > 20
    for line in lines:
        assert_parses(line)


def test_every_agent_that_is_named_exists() -> None:
    named = {name for page in PAGES for name in re.findall(r"`omo:(\w+)`", text(page))}
    assert "judge" in named
    for name in named:
        assert (ROOT / "agents" / f"{name}.md").is_file() or (ROOT / "skills" / name).is_dir(), name


@pytest.mark.parametrize(
    "text",
    re.findall(r"^ {4,}(omo .+)$", messages.INSTRUCTIONS, re.M)
    + re.findall(
        r"^ {4}(omo gate \w+(?: \w+)?(?: -- .+)?)(?: {2,}.*)?$",
        (ROOT / "skill-fragments/ulw/gates.md").read_text(),
        re.M,
    ),
)
def test_the_commands_the_agent_is_told_to_run_parse(text: str) -> None:
    argv = shlex.split(re.sub(r"\[.*\]", "", re.sub(r" {2,}.*", "", text)))[1:]
    try:
        parser_of_omo().parse_args(argv)
    except BadInput as error:
        pytest.fail(f"{text}: {error}")


def test_the_stop_table_of_the_docs_is_the_one_in_the_code() -> None:
    page = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8").split("## Stop")[1].split("## ")[0]
    named = [
        name
        for line in page.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([a-z-]+)`", line.split("|")[1])
    ]
    assert named == [rule.name for rule in rules.RULES]


def test_the_settings_are_named_with_their_defaults() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    for knob in settings.KNOBS:
        assert f"`{knob.name}`" in page
        default = f"{knob.default:g}" if isinstance(knob.default, float) else str(knob.default).lower()
        (line,) = [line for line in page.splitlines() if line.startswith("|") and f"`{knob.name}`" in line]
        assert default in line


def test_the_table_of_speed_shows_what_the_benchmark_measures() -> None:
    page = (ROOT / "docs" / "decisions" / "speed.md").read_text(encoding="utf-8")
    bench = (ROOT / "bench" / "hooks.py").read_text(encoding="utf-8")
    cases = re.findall(r'^ +(?:Case|StatusLine)\(\s*"([^"]+)"', bench, re.M)
    assert len(cases) > 10
    assert [name for name in cases if f"| {name} |" not in page] == []


def test_the_texts_keep_their_bounds() -> None:
    assert len(messages.INSTRUCTIONS) <= messages.LONGEST_INSTRUCTIONS
    for said in ("2 to 5 leaf workers", "1 to 3 atomic changes", "omo ulw done", "one-line fix", sentences.STOP):
        assert said in messages.INSTRUCTIONS


def test_no_file_names_the_machine_it_was_written_on() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    home = pwd.getpwuid(os.getuid()).pw_dir.rstrip("/")
    machine = re.compile("|".join(re.escape(f"{directory}/") for directory in (str(ROOT), home) if directory))
    indexes = re.compile(r"registry\.npmjs|files\.pythonhosted|pypi\.org", re.I)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and path != Path(__file__):
            content = path.read_text(encoding="utf-8", errors="replace")
            assert not machine.search(content), name
            assert not indexes.search(content), f"{name} binds who installs to one package index"
