"""A workflow is data: a sixth one needs a page, and a workflow that goes leaves the rest in order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from omo import table
from tests.docs.pages import blocks
from tests.project import Project, make_project

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "engine" / "workflows" / "todo"
MOST_LINES = 60
WITHOUT = """
import importlib, pkgutil, sys
import omo.workflows
from omo import table
gone = sys.argv[1]
sys.modules[f"omo.workflows.{gone}"] = None  # nobody can import it
table.ROWS = tuple(row for row in table.ROWS if row.name != gone)
table.BY_KIND = {row.kind: row for row in table.ROWS}
table.BY_TYPED = {name: row for row in table.ROWS for name in row.typed}
for module in pkgutil.walk_packages(omo.__path__, "omo."):
    if not module.name.startswith(f"omo.workflows.{gone}"):
        importlib.import_module(module.name)
"""


def python(*argv: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": "src"}
    command = [sys.executable, "-X", "utf8", *argv]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


def test_a_to_do_list_has_start_next_judge_status_stop_and_report(tmp_path: Path) -> None:
    project: Project = make_project(tmp_path)
    done = python("-m", "tests.engine.with_todo", str(project.root))
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_a_page_and_the_one_of_the_docs() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    assert sum(len(text.splitlines()) for text in texts.values()) <= MOST_LINES
    shown = [block.text for block in blocks(ROOT / "docs" / "architecture.md") if block.language == "python"]
    assert shown[0] == texts["flow.py"]
    assert texts["row.py"].endswith(shown[1])


@pytest.mark.parametrize("name", [row.name for row in table.ROWS if isinstance(row, table.EngineWorkflow)])
def test_without_the_folder_of_a_workflow_and_its_row_all_else_can_be_imported(name: str) -> None:
    done = python("-c", WITHOUT, name)
    assert done.returncode == 0, done.stderr
