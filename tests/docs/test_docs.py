"""Docs that cannot go stale quietly: links, commands, tables that repeat what the code says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from omo import settings
from omo.cli.main import build_parser
from omo.errors import BadInput
from omo.hooks import messages, stop

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    path
    for pattern in ("*.md", "docs/**/*.md", "skills/**/*.md", "skill-fragments/**/*.md", "agents/*.md")
    for path in sorted(ROOT.glob(pattern))
]
COMMAND = re.compile(r"`omo ([a-z][a-z-]*)(?: ([a-z][a-z-]*(?:\|[a-z][a-z-]*)*))?")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_command_reference_is_what_the_parsers_say() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_cli.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_is_named_exists(page: Path) -> None:
    known = {tuple(path[:2]) for path in command_paths()}
    for group, verbs in COMMAND.findall(page.read_text(encoding="utf-8")):
        named = {(group, verb) for verb in verbs.split("|")} if verbs and (group,) not in known else {(group,)}
        groups = {(path[0],) for path in known}
        assert named <= known | groups, f"{page.name} names omo {group} {verbs}"


def command_paths() -> list[list[str]]:
    import argparse

    def below(parser: argparse.ArgumentParser, path: list[str]) -> list[list[str]]:
        groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        return [
            leaf for group in groups for name, child in group.choices.items() for leaf in below(child, [*path, name])
        ] or [path]

    return below(build_parser(), [])


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
        build_parser().parse_args(argv)
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
    assert named == [rule.name for rule in stop.RULES]


def test_the_readme_names_every_setting_with_its_default() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for knob in settings.KNOBS:
        assert f"`{knob.name}`" in readme
        default = f"{knob.default:g}" if isinstance(knob.default, float) else str(knob.default).lower()
        (line,) = [line for line in readme.splitlines() if line.startswith("|") and f"`{knob.name}`" in line]
        assert default in line


def test_the_readme_shows_what_the_benchmark_measures() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    bench = (ROOT / "bench" / "hooks.py").read_text(encoding="utf-8")
    cases = re.findall(r'^ +(?:Case|StatusLine)\(\s*"([^"]+)"', bench, re.M)
    assert len(cases) > 10
    assert [name for name in cases if f"| {name} |" not in readme] == []


def test_the_texts_keep_their_bounds() -> None:
    assert len(messages.INSTRUCTIONS) <= messages.LONGEST_INSTRUCTIONS
    for said in ("2 to 5 leaf workers", "1 to 3 atomic changes", "omo ulw done", "one-line fix", messages.STOP):
        assert said in messages.INSTRUCTIONS


def test_the_project_speaks_of_itself_alone() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    foreign = re.compile(r"/work/(?:main|shared)|/root/\.|registry\.npmjs|files\.pythonhosted|pypi\.org", re.I)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and path != Path(__file__):
            assert not foreign.search(path.read_text(encoding="utf-8", errors="replace")), name
