"""Which part of the tests one belongs to: `./tests/run` runs the short one, `./tests/run --clients` the other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

SHORT, CLIENTS = "short", "clients"
ROOT = Path(__file__).resolve().parents[1]
# Files and folders whose tests need what must be fetched, or take longer than what they tell a developer is worth.
IN_CLIENTS = (
    "tests/cli/test_one_piece_of_work.py",
    "tests/cli/test_change_verdict.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_exit_code.py",
    "tests/cli/test_file_names.py",
    "tests/cli/test_long_ledger.py",
    "tests/cli/test_looks_write_nothing.py",
    "tests/cli/test_own_command.py",
    "tests/cli/test_packages.py",
    "tests/cli/test_plan_verify.py",
    "tests/cli/test_proof.py",
    "tests/cli/test_receipt.py",
    "tests/cli/test_verify_truth.py",
    "tests/docs/test_commands.py",
    "tests/docs/test_release.py",
    "tests/e2e/",
    "tests/hooks/test_allowed_tests.py",
    "tests/hooks/test_codex.py",
    "tests/hooks/test_copilot.py",
    "tests/hooks/test_fuzz.py",
    "tests/hooks/test_interpreter.py",
    "tests/hooks/test_leftovers.py",
    "tests/hooks/test_load.py",
    "tests/hooks/test_resume.py",
    "tests/hooks/test_users_word.py",
    "tests/hooks/test_without_a_workflow.py",
    "tests/hunt/",
    "tests/install/",
    "tests/mutants/test_go.py",
    "tests/mutants/test_javascript.py",
    "tests/proof/test_faults.py",
    "tests/proof/test_mutant_runs.py",
    "tests/proof/test_trials.py",
    "tests/proof/test_unchecked_lines.py",
    "tests/proof_views/test_action.py",
    "tests/report/test_browser.py",
    "tests/state/test_contention.py",
    "tests/test_ceremony.py",
    "tests/test_experiment_bench.py",
    "tests/test_guard.py",
    "tests/ultraplan/test_progress.py",
    "tests/verify/test_deadlocks.py",
)
MARKERS = ("client", "install", "long")


def first_of(cases: Iterable[object], count: int) -> list[object]:
    """Return these cases for a parametrized test of which the short part plays so many, and `--clients` the others."""
    shown: list[object] = []
    for number, case in enumerate(cases):
        shown.append(case if number < count else pytest.param(case, marks=pytest.mark.long))
    return shown


def part_of(item: pytest.Item) -> str:
    if item.nodeid.startswith(IN_CLIENTS):
        return CLIENTS
    if any(item.get_closest_marker(name) for name in MARKERS):
        return CLIENTS
    return SHORT


def is_left_out(path: Path, part: str) -> bool:
    """Return whether this part has no test of this file or folder, so that nobody needs to read it."""
    name = f"{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}"
    return part == SHORT and name.startswith(IN_CLIENTS)
