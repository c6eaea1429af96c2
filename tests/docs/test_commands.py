"""Every command that README.md, CONTRIBUTING.md and docs show is executed, and answers what the page says."""

from __future__ import annotations

import ast
import difflib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from omo import settings
from tests.docs import console, inline, pages, projects
from tests.docs.pages import PAGES, ROOT, Block
from tests.docs.stage import Stage
from tests.hooks.conftest import point_at
from tests.project import Project

SHELL = ("sh", "bash")
PLAYED = (*SHELL, "console")
DATA = ("", "text", "yaml", "json", "markdown", "python")  # the last: tests/engine/test_sixth_workflow.py
LOOKS_TYPED = re.compile(r"^(?:\$ |> |omo |git |python3? |claude |npm |pip |/omo:|\./|\.ci/)", re.M)


@dataclass(frozen=True)
class Elsewhere:
    """A command that needs more than a scratch project: `place` executes it, and `said` stands there."""

    command: str
    place: str
    said: str

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.command)


ELSEWHERE = [
    Elsewhere(r"claude plugin eval .+", "tests/e2e/test_evals.py", '"claude plugin eval "'),
    Elsewhere(
        r"(?:\./bin/omo|~/\.\S+/bin/omo|omo setup|claude plugin (?!validate|eval)).+",
        "tests/e2e/test_readme.py",
        '"README.md"',
    ),
    Elsewhere(r"(?:session=|claude -p |omo (?:run|status --exit-code) ).+", "tests/e2e/test_ci.py", 'blocks("sh")'),
    Elsewhere(r"omo proof .+ > \.\./.+", "tests/proof_views/test_action.py", 'blocks("sh")'),
    Elsewhere(r"codex plugin .+", "tests/e2e/codex_client.py", '"plugin", "marketplace", "add"'),
    Elsewhere(r"copilot plugin .+", "tests/e2e/copilot_client.py", '"marketplace", "add"'),
    Elsewhere(r"claude plugin validate --strict", ".ci/validate.py", '"validate", "--strict"'),
    Elsewhere(r"(?:OMO_\w+=\S+ )?\./tests/run(?: .+)?", ".ci/run", "./tests/run "),
    Elsewhere(r'(?:python=\$\(.*\) && )?"\$python" -m ruff check \.', ".ci/run", '"$python" -m ruff check .\n'),
    Elsewhere(r'"\$python" -m ruff format \.', ".ci/run", '"$python" -m ruff format --check .\n'),
    Elsewhere(r'"\$python" -m mypy', ".ci/run", '"$python" -m mypy\n'),
    Elsewhere(r'"\$python" docs/make_cli\.py', ".ci/run", '"$python" docs/make_cli.py --check\n'),
    Elsewhere(r'"\$python" docs/make_hooks\.py', ".ci/run", '"$python" docs/make_hooks.py --check\n'),
    Elsewhere(r'"\$python" docs/make_versions\.py', ".ci/run", '"$python" docs/make_versions.py --check\n'),
    Elsewhere(r"\./bin/release VERSION", "tests/docs/test_release.py", '"bin" / "release"'),
    Elsewhere(r'"\$python" docs/make_schema\.py', ".ci/run", '"$python" docs/make_schema.py --check\n'),
    Elsewhere(r'"\$python" docs/make_states\.py', ".ci/run", '"$python" docs/make_states.py --check\n'),
    Elsewhere(r'"\$python" docs/make_picture\.py', ".ci/run", '"$python" docs/make_picture.py --check\n'),
    Elsewhere(r"\./docs/build", ".ci/run", "./docs/build\n"),
    Elsewhere(r"\.ci/run", ".ci/run", "./tests/run "),
    Elsewhere(r"python3 bench/hooks\.py", "tests/docs/test_commands.py::test_a_bench_measures", '"hooks.py"'),
    Elsewhere(r"python3 bench/ledger\.py", "tests/docs/test_commands.py::test_a_bench_measures", '"ledger.py"'),
    Elsewhere(r"python3 bench/touched\.py", "tests/docs/test_commands.py::test_a_bench_measures", '"touched.py"'),
    Elsewhere(r"python3 bench/contents\.py", "tests/docs/test_commands.py::test_a_bench_measures", '"contents.py"'),
    Elsewhere(r"(?:pipx|uvx) .+", "tests/install/test_from_url.py", "As pipx and uvx do it"),
    Elsewhere(r"python3 bench/ceremony\.py", "tests/test_ceremony.py", "bench.ceremony"),
    Elsewhere(r"python3 bench/context\.py", "tests/e2e/test_context.py", "bench"),
    Elsewhere(r"python3 bench/phrases\.py", "tests/test_calls_bench.py", '"phrases.py"'),
    Elsewhere(r'"\$python" bench/calls\.py', "tests/test_calls_bench.py", '"calls.py"'),
    Elsewhere(r"python3 bench/budget\.py", "tests/e2e/test_budget.py", "from bench import budget"),
    Elsewhere(r"python3 bench/run\.py", "tests/e2e/test_run.py::test_the_bench_measures", "from bench import run as"),
    Elsewhere(r"python3 bench/told\.py", "tests/e2e/test_told.py", "told.main("),
    Elsewhere(r"python3 bench/joints\.py", "tests/hunt/test_joints.py::test_the_command_prints_a_table", '"joints.py"'),
    Elsewhere(r"python3 bench/install\.py", "tests/install/test_environment.py", "from bench import install"),
    Elsewhere(r"python3 bench/conditions\.py --since main", "tests/test_conditions_bench.py", "from bench.conditions"),
    Elsewhere(r'"\$python" bench/short_endings\.py', "tests/test_conditions_bench.py", "import short_endings"),
    Elsewhere(r"python3 bench/proof\.py", "tests/proof/test_unchecked_lines.py", '"proof.py"'),
    Elsewhere(r"python3 bench/experiment\.py", "tests/test_experiment_bench.py", '"experiment.py"'),
    Elsewhere(r"python3 bench/history\.py REPO", "tests/test_experiment_bench.py", '"history.py"'),
    Elsewhere(r"python3 bench/truth\.py", "tests/test_truth.py::test_the_command_prints_each_ending", '"truth.py"'),
]
# Code inside lines that is a command of this repository, not a word about one.
OF_THE_REPOSITORY = re.compile(
    r"(?:\S+=\S+ )?(?:\./(?:bin|tests|docs)/|\.ci/run|\"\$python\" |python3 bench/|claude plugin )"
)


def elsewhere(command: str) -> Elsewhere | None:
    return next((one for one in ELSEWHERE if one.pattern.fullmatch(command)), None)


def lines_of(block: Block) -> list[str]:
    """The commands of a shell block, one to a line."""
    return [line for line in block.text.splitlines() if line.strip() and not line.startswith("#")]


def pages_with(text: str) -> list[Path]:
    """What a worker need not parse to know which tests there are."""
    return [page for page in PAGES if text in page.read_text(encoding="utf-8")]


def played(page: Path) -> list[Block]:
    return [block for block in pages.blocks(page) if block.language in PLAYED]


# Blocks


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all pages: hooks keep their bytecode in it."""
    home = tmp_path_factory.mktemp("environment")
    point_at(home, sys.executable)
    return home


@pytest.fixture
def stage(tmp_path: Path, environment: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return Stage(project, environment)


@pytest.mark.parametrize("page", pages_with("```"), ids=pages.name_of)
def test_what_a_page_shows_happens(page: Path, stage: Stage) -> None:
    stage.work = {name: list(texts) for name, texts in projects.WORK.get(page.stem, {}).items()}
    stage.begin(projects.START.get(page.stem, {}))
    for block in pages.blocks(page):
        if block.language == "console":
            play(stage, block)
        elif block.language in SHELL:
            for command in lines_of(block):
                assert elsewhere(command) or stage.user_types(command) == "", f"{block.place}: {command}"
        elif block.file:
            stage.write({block.file: block.text})
    assert not any(stage.work.values()), "the page does not write every file that projects.py has for it"


def play(stage: Stage, block: Block) -> None:
    for step in console.steps(block.text):
        shown = stage.play(step)
        if not console.agrees(step.expected, shown):
            place = f"{block.page}:{block.line + step.line}: {step.text.splitlines()[0]}"
            told = difflib.unified_diff(step.expected, shown, "the page", "what happens", lineterm="")
            pytest.fail("\n".join([place, *told]))


def test_no_command_hides_in_a_block_that_is_not_run() -> None:
    rest = [block for page in PAGES for block in pages.blocks(page) if block.language not in PLAYED]
    assert rest
    assert [f"{block.place}: {block.language}" for block in rest if block.language not in DATA] == []
    assert [block.place for block in rest if block.language in ("", "text") and LOOKS_TYPED.search(block.text)] == []


@pytest.mark.parametrize("name", ["ultrawork", "verify", "ultragoal", "ultraplan", "ralph"])
def test_every_workflow_has_an_example_from_a_refused_stop_to_a_release(name: str) -> None:
    page = ROOT / "docs" / f"{name}.md"
    assert "\n## Worked example\n" in page.read_text(encoding="utf-8")
    shown = "".join(block.text for block in played(page))
    assert re.search(r"^\(the agent stops: .+\)\nsent back: .+", shown, re.M)
    assert re.search(r"^\(the agent stops: .+\)\nto you: omo: ", shown, re.M)


def test_the_goal_file_with_every_field_is_accepted(stage: Stage) -> None:
    (shown,) = [block.text for block in pages.blocks(ROOT / "docs" / "verify.md") if "max_retries" in block.text]
    stage.begin({"every-field.yaml": shown})
    said = stage.user_types("omo verify add --file every-field.yaml --session demo")
    assert said.startswith("Goal G1 filed")


# Commands that are executed elsewhere


def repository_commands() -> Iterator[str]:
    for page in PAGES:
        yield from filter(OF_THE_REPOSITORY.match, pages.spans(page))
        yield from (line for block in pages.blocks(page) if block.language in SHELL for line in lines_of(block))


def test_a_command_of_the_repository_is_executed_somewhere() -> None:
    commands = [command for command in repository_commands() if not command.startswith("omo ")]
    assert len(commands) > len(ELSEWHERE)
    for command in commands:
        assert elsewhere(command), f"{command}: run it in a console block, or say in ELSEWHERE what executes it"
        for path in re.findall(r"(?<![\w/])(?:tests|docs|bench)/[\w./]+", command):
            assert (ROOT / path).exists(), command


def test_the_place_that_executes_a_command_is_there() -> None:
    commands = list(repository_commands())
    for one in ELSEWHERE:
        assert one.said in source_of(one.place), one.command
        assert any(map(one.pattern.fullmatch, commands)), f"no page shows {one.command} any more"


def source_of(place: str) -> str:
    """A file, or one function of it."""
    name, _, function = place.partition("::")
    text = (ROOT / name).read_text(encoding="utf-8")
    if not function:
        return text
    (found,) = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name == function]
    first = min([found.lineno, *(one.lineno for one in found.decorator_list)])
    return "\n".join(text.splitlines()[first - 1 : found.end_lineno])


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hooks.py", ["--rounds", "1", "--others", "100"]),
        ("ledger.py", ["--rows", "200", "--sessions", "200", "--rounds", "1"]),
        ("contents.py", ["--files", "200", "--rounds", "1"]),
        ("touched.py", ["--files", "200", "--rounds", "1"]),
    ],
)
def test_a_bench_measures(name: str, options: list[str], environment: Path) -> None:
    """Whether a bound is met says nothing here: one round, on a machine that does other things."""
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / name, *options],
        env={**os.environ, "OMO_ENV_HOME": str(environment)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert (done.returncode in (0, 1), "bound" in done.stdout) == (True, True), done.stdout + done.stderr


# Commands inside lines


def in_sentences(page: Path) -> list[str]:
    return sorted({text for text in pages.spans(page) if text.startswith("omo ")})


@pytest.mark.parametrize("page", pages_with("`omo "), ids=pages.name_of)
def test_a_command_in_a_sentence_is_understood(
    page: Path, project: Project, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inline.fill(project, environment)
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("BROWSER", "true")  # one that shows nothing
    for text in in_sentences(page):
        for argv in inline.commands_of(text):
            ran = inline.run(project, argv)
            assert inline.was_understood(ran), f"{text}\nran as: omo {shlex.join(argv)}\n{ran.err}"


def test_each_line_that_the_readme_says_to_type_is_answered_by_the_hook(project: Project) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = []
    for row in re.findall(r"^\| (`.+?) \|", readme.partition("## The six lines")[2], re.M):
        lines += re.findall(r"`([^`]+)`", row)
    lines = [line.replace("…", "fix the flaky tests") for line in lines if not line.startswith("omo ")]
    assert len(lines) >= 6
    for line in lines:
        assert project.prompt(line).stdout, line
        if line in ("stop", "never mind"):
            assert project.prompt("continue").stdout, f"continue after {line}"


# What the page of ultrawork repeats


@pytest.mark.parametrize("knob", settings.LIMITS, ids=lambda knob: knob.name)
def test_the_breakers_on_the_page_are_the_settings(knob: settings.Knob) -> None:
    page = (ROOT / "docs" / "ultrawork.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.endswith(f"| `{knob.name}` |")]
    assert re.search(rf"\| {knob.default:g}\b", row)
