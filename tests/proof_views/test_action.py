"""The GitHub Action: its inputs reach the script as variables, and the script is run as a runner runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs import make_release
from tests import texts
from tests.docs import pages
from tests.hooks.conftest import point_at
from tests.project import IDENTITY
from tests.proof_views.test_sarif import wrong

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INPUTS = ("since", "command", "allow", "refactoring", "untrusted", "minutes", "args", "summary", "sarif")
TEST = "import sys\n\nimport calc\n\nassert calc.add(2, 3) == 5\nprint('1 passed')\n"
BROKEN, MENDED = "def add(a, b):\n    return a - b - b\n", "def add(a, b):\n    return a + b\n"
COMMAND = "python3 -B test_calc.py"


def step() -> dict[str, Any]:
    (found,) = ACTION["runs"]["steps"]
    assert isinstance(found, dict)
    return found


def test_every_input_is_handed_on_as_a_variable_and_none_is_part_of_the_script() -> None:
    assert tuple(ACTION["inputs"]) == INPUTS
    handed_on = {name: f"${{{{ inputs.{name} }}}}" for name in INPUTS}
    assert handed_on.items() <= {name.removeprefix("PROOF_").lower(): of for name, of in step()["env"].items()}.items()
    assert "${{" not in step()["run"]
    assert (ACTION["runs"]["using"], step()["shell"]) == ("composite", "sh")
    assert set(ACTION["outputs"]) == {"verdict", "exit"}
    assert all(isinstance(each["default"], str) for each in ACTION["inputs"].values())


def test_the_script_reads_every_variable_and_no_other() -> None:
    script = (ROOT / "bin" / "proof-action").read_text(encoding="utf-8")
    assert set(re.findall(r"\bPROOF_[A-Z_]+", script)) == set(step()["env"])


def test_a_release_has_what_the_action_runs() -> None:
    assert all(map(make_release.is_runtime, ("action.yml", "bin/proof-action", "bin/omo")))
    assert os.access(ROOT / "bin" / "proof-action", os.X_OK)


@dataclass
class Ran:
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@dataclass
class Runner:
    """A machine of GitHub's on which a repository was checked out."""

    home: Path
    workspace: Path
    origin: Path
    variables: dict[str, str] = field(default_factory=dict)

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        environ = {**os.environ, **IDENTITY}
        line = ["git", *arguments]
        done = subprocess.run(line, cwd=cwd or self.origin, env=environ, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, files: dict[str, str], subject: str = "more") -> str:
        for name, text in files.items():
            (self.origin / name).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def check_out(self, ref: str, depth: int = 1) -> None:
        """As actions/checkout does: one commit, on no branch."""
        shutil.rmtree(self.workspace, ignore_errors=True)
        self.git("init", "-q", str(self.workspace))
        here = self.workspace
        self.git("remote", "add", "origin", self.origin.as_uri(), cwd=here)
        self.git("fetch", "-q", "--no-tags", f"--depth={depth}", "origin", ref, cwd=here)
        self.git("checkout", "-q", "--detach", "FETCH_HEAD", cwd=here)

    def run(self, environ: dict[str, str] | None = None, **inputs: str) -> Ran:
        files = {name: self.home / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
        for path in files.values():
            path.write_text("", encoding="utf-8")
        given = {f"PROOF_{name.upper()}": ACTION["inputs"][name]["default"] for name in INPUTS}
        given |= {f"PROOF_{name.upper()}": text for name, text in inputs.items()}
        unknown = dict.fromkeys(step()["env"], "")
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "OMO_ENV_HOME": str(self.home / "data"),
            **{name: str(path) for name, path in files.items()},
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_REPOSITORY": "we/it",
            **unknown,
            **given,
            **self.variables,
            **(environ or {}),
        }
        done = subprocess.run(
            ["sh", "-e", "-c", step()["run"]],
            cwd=self.workspace,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        assert files["GITHUB_ENV"].read_text() == ""
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return Ran(done.returncode, done.stdout, outputs, files["GITHUB_STEP_SUMMARY"].read_text())


PULL_REQUEST = {
    "GITHUB_EVENT_NAME": "pull_request",
    "GITHUB_BASE_REF": "main",
    "GITHUB_REF": "refs/pull/1/merge",
    "PROOF_HEAD_REPOSITORY": "we/it",
    "PROOF_DEFAULT_BRANCH": "main",
}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """With the project on its branch main: it is broken, and nothing tests it."""
    (tmp_path / "data").mkdir()
    point_at(tmp_path / "data", sys.executable)
    made = Runner(tmp_path, tmp_path / "it's a checkout", tmp_path / "origin")
    made.git("init", "-q", "-b", "main", str(made.origin), cwd=tmp_path)
    made.commit({"calc.py": BROKEN, "README.md": "It adds.\n"}, "base")
    return made


def pull_request(runner: Runner, files: dict[str, str]) -> None:
    """A branch that left main a while ago, its merge as GitHub makes it, and a checkout of that."""
    runner.git("checkout", "-q", "-b", "feature")
    for number in range(3):
        runner.commit({"NOTES.md": f"{number}\n"})
    runner.commit(files, "the change")
    runner.git("checkout", "-q", "main")
    runner.commit({"other.py": "OTHER = 1\n"}, "meanwhile on main")
    runner.git("checkout", "-q", "--detach", "main")
    runner.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
    runner.git("update-ref", "refs/pull/1/merge", "HEAD")
    runner.git("checkout", "-q", "main")
    runner.check_out("refs/pull/1/merge")
    runner.variables = PULL_REQUEST


def test_a_pull_request_that_is_tested_passes(runner: Runner) -> None:
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": TEST})
    ran = runner.run(command=COMMAND, sarif="proof.sarif")
    assert (ran.code, ran.outputs) == (0, {"verdict": "proven", "exit": "0"}), ran.log
    assert ran.summary.startswith("**✅ proven.** ")
    assert "other.py" not in ran.summary + ran.log
    log = json.loads((runner.workspace / "proof.sarif").read_text(encoding="utf-8"))
    assert wrong(log, "log") == []
    assert log["runs"][0]["invocations"][0]["exitCode"] == 0
    quiet = re.fullmatch(r"::stop-commands::([0-9a-f]{32})\n(.*)::\1::\n", ran.log, re.DOTALL)
    assert quiet, ran.log
    assert "proven. " in quiet[2]


def test_one_that_no_test_notices_fails_the_step(runner: Runner) -> None:
    runner.commit({"test_calc.py": "import calc\n\nprint('1 passed')\n"}, "a test that checks nothing")
    pull_request(runner, {"calc.py": MENDED})
    ran = runner.run(command=COMMAND)
    assert (ran.code, ran.outputs) == (3, {"verdict": "not proven", "exit": "3"}), ran.log
    assert ran.summary.startswith("**❌ not proven.** ")
    assert texts.says(ran.summary, "proof-write-a-test-would-help")


def test_documents_alone_need_no_proof(runner: Runner) -> None:
    pull_request(runner, {"README.md": "It adds two numbers.\n"})
    ran = runner.run(command=COMMAND, summary="false")
    assert (ran.code, ran.outputs, ran.summary) == (0, {"verdict": "nothing to prove", "exit": "0"}, "")


def test_a_fork_is_not_trusted_whatever_the_workflow_says(runner: Runner) -> None:
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": TEST + "import os\nassert 'OF_OURS' not in os.environ\n"})
    for head in ("stranger/it", ""):  # a fork that is gone has no name
        ran = runner.run({"PROOF_HEAD_REPOSITORY": head, "OF_OURS": "1"}, command=COMMAND, untrusted="false")
        assert ran.outputs["verdict"] == "proven", ran.log
    assert runner.run({"OF_OURS": "1"}, command=COMMAND).outputs["verdict"] != "proven"


def test_a_push_is_compared_with_the_default_branch_and_on_it_with_the_commit_before(runner: Runner) -> None:
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": TEST})
    for ref in ("feature", "main"):
        if ref == "main":
            runner.git("merge", "-q", "--squash", "feature")
            runner.commit({}, "the change, squashed")
        runner.variables = {"GITHUB_REF": f"refs/heads/{ref}", "PROOF_DEFAULT_BRANCH": "main"}
        runner.check_out(ref)
        assert runner.run(command=COMMAND).outputs == {"verdict": "proven", "exit": "0"}, ref


@pytest.mark.parametrize("since", ["main", "origin/main", "HEAD~4", "v1"])
def test_the_base_may_be_named_however_short_the_checkout_is(runner: Runner, since: str) -> None:
    runner.git("tag", "v1")
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": TEST})
    runner.check_out("feature")
    assert runner.run(command=COMMAND, since=since).outputs["verdict"] == "proven"


def test_a_branch_that_left_long_ago_is_fetched_as_far_as_that(runner: Runner) -> None:
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": TEST})
    for branch in ("main", "feature"):
        commits = [f"from refs/heads/{branch}^0\n"] + [""] * 119
        stream = ""
        for start in commits:
            about = "committer Test <test@example.org> 1700000000 +0000\ndata 4\nmore"
            stream += f"commit refs/heads/{branch}\n{about}\n{start}\n"
        environ = {**os.environ, **IDENTITY}
        subprocess.run(
            ["git", "fast-import", "--quiet"], cwd=runner.origin, env=environ, input=stream.encode(), check=True
        )
    runner.check_out("feature")
    runner.variables = {"GITHUB_REF": "refs/heads/feature", "PROOF_DEFAULT_BRANCH": "main"}
    ran = runner.run(command=COMMAND)
    assert ran.outputs == {"verdict": "proven", "exit": "0"}, ran.log
    left = runner.git("merge-base", "main", "feature")
    assert left[:12] in ran.log


def test_what_is_no_repository_is_told(runner: Runner) -> None:
    runner.workspace.mkdir()
    ran = runner.run({"GIT_CEILING_DIRECTORIES": str(runner.home)}, command=COMMAND)
    assert (ran.code, ran.outputs) == (77, {"verdict": "", "exit": "77"})
    assert texts.says(ran.log, "action-no-commit")


def test_a_base_that_is_not_there_is_told(runner: Runner) -> None:
    pull_request(runner, {"calc.py": MENDED})
    ran = runner.run(command=COMMAND, since="gone")
    assert (ran.code, ran.outputs) == (77, {"verdict": "", "exit": "77"})
    assert texts.says(ran.log, "action-base-not-fetched", base="gone")
    ran = runner.run(command=COMMAND, since="--upload-pack=touch pwned\n::error::x")
    assert (ran.code, ran.log.count("\n::error::")) == (77, 0)


def test_an_error_of_omo_is_told_and_is_no_verdict(runner: Runner) -> None:
    pull_request(runner, {"calc.py": MENDED})
    ran = runner.run(command=COMMAND, args="--nonsense")
    assert (ran.code, ran.outputs) == (2, {"verdict": "", "exit": "2"}), ran.log
    assert ran.summary == "**❔ omo proof gave no verdict.** It ended with exit code 2; the log says why.\n"
    assert "--nonsense" in ran.log


def test_no_input_is_read_as_shell_text(runner: Runner) -> None:
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": TEST})
    hostile = "$(touch pwned) `touch pwned`; touch pwned & echo 'a  b' \"c $HOME\" *"
    ran = runner.run(command=COMMAND, allow=hostile, sarif="a $(touch pwned).sarif", minutes="5")
    assert not list(runner.workspace.rglob("pwned"))
    assert (runner.workspace / "a $(touch pwned).sarif").exists(), ran.log
    program = "import json, sys; open('argv.json', 'w').write(json.dumps(sys.argv[1:]))"
    (runner.home / "argv.py").write_text(program, encoding="utf-8")
    runner.run(command=f"python3 -B {runner.home}/argv.py {hostile}")
    (words,) = [json.loads(path.read_text()) for path in runner.workspace.rglob("argv.json")]
    assert words[:4] == ["$(touch", "pwned)", "`touch", "pwned`;"]
    assert words[-3:] == ["a  b", "c $HOME", "*"]
    assert not list(runner.workspace.rglob("pwned"))


def test_what_a_test_does_is_not_heard_by_the_runner(runner: Runner) -> None:
    """Neither through the files that the runner reads, nor by a command in the log."""
    reaching = (
        "import os\nfor name, path in os.environ.items():\n"
        "    if name.startswith('GITHUB_') and os.path.isfile(path):\n"
        "        open(path, 'a').write('verdict=proven\\nEVIL=1\\n')\n"
        "raise SystemExit('::set-env name=EVIL::1')\n"
    )
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": reaching})
    ran = runner.run(command=COMMAND)
    assert ran.code != 0
    assert ran.outputs["verdict"] != "proven"
    first, *rest = ran.log.splitlines()
    assert first.startswith("::stop-commands::")
    assert rest[-1] == f"::{first.removeprefix('::stop-commands::')}::"


# The examples of docs/ci.md


def blocks(language: str) -> list[str]:
    texts = [block.text for block in pages.blocks(ROOT / "docs" / "ci.md") if block.language == language]
    return [text for text in texts if "omo proof" in text or "/omo@" in text]


def shell(runner: Runner, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """With omo where the examples have it, and on the PATH."""
    if not (runner.home / "omo").exists():
        (runner.home / "omo").symlink_to(ROOT)
    environ = {"HOME": str(runner.home), "OMO_ENV_HOME": str(runner.home / "data"), **variables}
    environ["PATH"] = f"{ROOT / 'bin'}:{os.environ['PATH']}"
    line = ["sh", "-e", "-c", script]
    return subprocess.run(line, cwd=runner.workspace, env=environ, capture_output=True, text=True, check=False)


def test_the_workflows_of_the_page_name_inputs_that_there_are() -> None:
    steps = []
    for text in blocks("yaml"):
        for job in yaml.safe_load(text).get("jobs", {}).values():
            steps += [each for each in job["steps"] if each.get("uses", "").endswith("/omo@release")]
    assert len(steps) == 2
    assert all(set(each.get("with", {})) <= set(INPUTS) for each in steps)
    table = re.findall(r"(?m)^\| `(\w+)[`:].* \|$", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"))
    assert set(table) == set(INPUTS)


def test_the_job_of_gitlab(runner: Runner) -> None:
    base = runner.commit({"Makefile": "test:\n\tpython3 -B test_calc.py\n", "test_calc.py": "import calc\n"}, "base")
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": TEST})
    runner.check_out("feature", depth=0x7FFFFFFF)
    (job,) = [yaml.safe_load(text)["tested"] for text in blocks("yaml") if "GIT_DEPTH" in text]
    _clone, proof = job["script"]
    done = shell(runner, proof, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (done.returncode, done.stdout.startswith("proven. ")) == (0, True), done.stdout + done.stderr


def test_the_plain_shell(runner: Runner) -> None:
    runner.commit({"Makefile": "test:\n\tpython3 -B test_calc.py\n", "test_calc.py": "import calc\n"}, "base")
    pull_request(runner, {"calc.py": MENDED, "test_calc.py": TEST})
    runner.check_out("feature", depth=0x7FFFFFFF)
    runner.git("fetch", "-q", "origin", "main:refs/remotes/origin/main", cwd=runner.workspace)
    (script,) = blocks("sh")
    done = shell(runner, script)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert (runner.home / "proof.md").read_text(encoding="utf-8").startswith("**✅ proven.** ")
    assert wrong(json.loads((runner.home / "proof.sarif").read_text(encoding="utf-8")), "log") == []


def test_typed_elsewhere_it_says_what_to_type(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"]}
    line = ["sh", str(ROOT / "bin" / "proof-action")]
    done = subprocess.run(line, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert texts.situations(done.stderr) == {"action-typed-elsewhere"}


def test_the_script_is_clean() -> None:
    shellcheck = shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("no shellcheck")
    line = [shellcheck, "-x", str(ROOT / "bin" / "proof-action")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
