"""The examples of docs/ci.md, as they stand there, in a shell with the real client."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.e2e.client import environment
from tests.e2e.conftest import Stage
from tests.e2e.scripted_model import bash, say
from tests.e2e.test_run import CHECK, MENDS

pytestmark = pytest.mark.client

PAGE = Path(__file__).parents[2] / "docs" / "ci.md"
LIES = [say("It is mended."), say("It is mended, really.")]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def step(name: str) -> str:
    steps = []
    for text in blocks("yaml"):
        for job in yaml.safe_load(text).get("jobs", {}).values():
            steps += job["steps"]
    (found,) = [each for each in steps if each.get("name") == name]
    return str(found["run"])


@pytest.fixture
def job(stage: Stage) -> Stage:
    """A machine with the client on its PATH, on which omo is installed as the page says; and a project with a test."""
    programs = stage.home / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to(stage.client.binary)
    shutil.copytree(
        PAGE.parents[1], stage.home / "omo", ignore=shutil.ignore_patterns("node_modules", ".git", "site", "tests")
    )
    for name, text in {"app.sh": "echo broken\n", "check.sh": CHECK, "Makefile": "test:\n\tsh check.sh\n"}.items():
        stage.commit(name, text)
    stage.limits["PATH"] = os.pathsep.join(
        [str(programs), environment(stage.home, stage.model)["PATH"], str(stage.home / "omo" / "bin")]
    )
    stage.limits["RUNNER_TEMP"] = str(stage.home)
    stage.limits["GITHUB_STEP_SUMMARY"] = str(stage.home / "summary.md")
    _, _, *install = step("install the client and omo").splitlines()
    assert shell(stage, "\n".join(install)).returncode == 0
    return stage


def shell(job: Stage, script: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """As a runner runs a step: it ends at the first command that fails."""
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=cwd or job.project,
        env={**environment(job.home, job.model), **job.limits},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        start_new_session=True,
        check=False,
    )


def test_the_plain_shell_tells_a_liar_from_an_honest_agent(job: Stage) -> None:
    plain, *_ = blocks("sh")
    job.model.script(*LIES, *MENDS)
    lied = shell(job, plain)
    assert (lied.returncode, "not proven" in lied.stderr) == (3, True), lied.stdout + lied.stderr
    honest = shell(job, plain)
    assert (honest.returncode, "done, proven" in honest.stderr) == (0, True), honest.stdout + honest.stderr


def test_the_rounds_of_the_page(job: Stage) -> None:
    _, rounds, *_ = blocks("sh")
    job.model.script(bash("echo echo well >> app.sh"), *LIES, *MENDS)
    done = shell(job, rounds)
    assert (done.returncode, "done, proven" in done.stdout) == (0, True), done.stdout + done.stderr


def test_the_workflow_of_github_actions(job: Stage) -> None:
    job.model.script(*MENDS)
    done = shell(job, step("work"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert shell(job, step("report")).returncode == 0
    assert "done, proven" in (job.home / "summary.md").read_text("utf-8")
    assert not (job.home / "omo" / "receipt.json").exists()
    assert "no receipt: " in done.stderr
    assert ": app.sh; commit" in done.stderr


def test_a_pull_request_is_verified_by_the_receipt_that_the_job_pushed(job: Stage) -> None:
    origin, request = job.home / "origin", job.home / "request"
    pushed = f"git clone -q --bare . '{origin}' && git remote add origin '{origin}'"
    assert shell(job, pushed).returncode == 0
    job.model.script(*MENDS)
    for name in ("work", "publish"):
        done = shell(job, step(name))
        assert done.returncode == 0, done.stdout + done.stderr
    assert shell(job, f"git clone -q -b agent/mend '{origin}' '{request}'").returncode == 0
    verified = shell(job, step("verify"), request)
    assert (verified.returncode, "It holds." in verified.stdout) == (0, True), verified.stdout + verified.stderr
    (request / "app.sh").write_text("echo broken\n", "utf-8")
    assert shell(job, "git -c user.name=a -c user.email=a@example.org commit -qam back", request).returncode == 0
    again = shell(job, '~/omo/bin/omo receipt verify --yes "$RUNNER_TEMP/receipt.json"', request)
    assert (again.returncode, "another tree" in again.stdout) == (3, True), again.stdout + again.stderr
