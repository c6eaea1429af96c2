"""`omo run` in the real client: rounds of fresh conversations until the work is proven, and what else ends them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from tests.e2e.client import environment
from tests.e2e.conftest import Stage, wait_until
from tests.e2e.scripted_model import bash, fail, say

pytestmark = pytest.mark.client

Ended = subprocess.CompletedProcess[str]

TASK = "make app.sh say mended"
CHECK = "grep -q mended app.sh || { echo still broken; exit 1; }\n"
MAY = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash")


@pytest.fixture
def night(stage: Stage, tmp_path: Path) -> Stage:
    """The client on the PATH, and a project whose tests the commit names."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to(stage.client.binary)
    stage.limits["PATH"] = f"{programs}{os.pathsep}{environment(stage.home, stage.model)['PATH']}"
    stage.commit("app.sh", "echo broken\n")
    stage.commit("check.sh", CHECK)
    stage.commit("Makefile", "test:\n\tsh check.sh\n")
    return stage


def run(
    night: Stage, *options: str, task: str = TASK, arguments: tuple[str, ...] = MAY
) -> subprocess.CompletedProcess[str]:
    given = [*arguments, "--plugin-dir", str(night.plugin)]
    return night.omo("run", *options, task, "--", *given, env=night.limits)


MENDS = (bash("echo echo mended >> app.sh"), bash("omo ulw done"), say("Done."))


def test_a_liar_is_not_believed_and_an_honest_agent_is(night: Stage) -> None:
    night.model.script(bash("echo echo well >> app.sh"), say("It is mended."), say("It is mended, really."), *MENDS)
    (night.project / "mine.txt").write_text("not committed\n", "utf-8")
    ended = run(night, "--rounds", "2", "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "part of what the run begins with: mine.txt" in ended.stderr
    told = json.loads(ended.stdout)
    assert told["verdict"]["proven"]
    assert [each["failure"] is None for each in told["rounds"]] == [False, True]
    assert night.omo("status", "--exit-code").returncode == 0
    opening = json.dumps(night.model.turns[3]["messages"])
    assert "still broken" in opening, "the second round has the first one's failure"
    assert TASK in opening
    assert "It is mended" not in opening, "and none of its conversation"
    assert (night.state / "runs" / "report.md").is_file()
    assert len([line for line in ended.stderr.splitlines() if line.startswith("omo: round ")]) == 2


def test_who_only_says_so_ends_stuck_and_the_next_run_begins_anew(night: Stage) -> None:
    """What an earlier run left, here one that was proven, changes nothing."""
    lies = [say("It is mended."), say("It is mended, really.")]
    night.model.script(*MENDS, *lies, *lies)
    assert run(night).returncode == 0
    ended = run(night, task="make it say more")
    assert (ended.returncode, "stuck" in ended.stdout, "not proven" in ended.stdout) == (3, True, True), ended.stdout
    status = night.omo("status", "--exit-code")
    assert (status.returncode, "let go" in status.stdout) == (3, True), "nobody works on it any more"


def test_what_is_missing_is_said_before_a_model_is_asked(night: Stage) -> None:
    cases = [
        (run(night, arguments=()), "--permission-mode acceptEdits --allowedTools 'Bash(omo *)' 'Bash(make *)'"),
        (night.omo("run", TASK, "--", *MAY, env=night.limits), "the hooks of omo do not fire"),
        (run(night, "--host", "codex"), "codex is not on the PATH"),
    ]
    for ended, mends in cases:
        assert (ended.returncode, mends in ended.stderr) == (77, True), ended.stderr
    assert not night.model.requests
    assert not (night.state / "run.json").exists()
    refused = night.omo("run", TASK, env={**night.limits, "CLAUDECODE": "1"})
    assert (refused.returncode, "is not an agent's" in refused.stderr) == (3, True)


def test_a_refused_tool_is_named_after_the_round_that_met_it(night: Stage) -> None:
    night.model.script(bash("curl x"), say("I may not."), bash("curl x"), say("Still not."))
    may = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash(omo *),Bash(make *)")
    ended = run(night, arguments=may)
    assert (ended.returncode, "blocked" in ended.stdout, "Bash curl x" in ended.stdout) == (3, True, True), ended.stdout
    assert "Allow Bash(curl *) in the permissions of the host" in night.omo("status").stdout


def test_what_the_agent_asked_is_told_by_whoever_ends_stuck(night: Stage) -> None:
    """Nobody was there to read it when the round ended."""
    asks = bash("omo ulw blocked --evidence 'two servers answer to that name' --question 'Which of them?'")
    night.model.script(*[asks, say("I wait.")] * 2)
    ended = run(night)
    assert (ended.returncode, "stuck" in ended.stdout) == (3, True), ended.stdout
    assert "two servers answer to that name. Which of them?" in ended.stdout
    assert "it waits for you" in ended.stderr


def test_a_limit_ends_it_for_now_unless_it_is_to_be_waited_out(night: Stage) -> None:
    limit = fail(429, "rate_limit_error", "This request would exceed your account's rate limit.")
    once = {**night.limits, "CLAUDE_CODE_MAX_RETRIES": "0"}
    night.limits.update(once)
    night.model.script(limit, limit, *MENDS)
    ended = run(night)
    assert (ended.returncode, "the same command goes on" in ended.stdout) == (75, True), ended.stdout + ended.stderr
    ended = run(night, "--wait", "0.001")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "trying again" in ended.stderr
    lies = [say("It says more."), say("It does.")]
    night.model.script(limit, *lies, *lies)
    ended = run(night, "--wait", "0.001", "--json", task="make it say more")
    rounds = json.loads(ended.stdout)["rounds"]
    assert [bool(each["limit"]) for each in rounds] == [True, False, False], "a limit is no try that failed"


def started(night: Stage) -> subprocess.Popen[bytes]:
    command = [str(Path(str(night.plugin)) / "bin" / "omo"), "run", TASK, "--", *MAY, "--plugin-dir", str(night.plugin)]
    environ = {**environment(night.home, night.model), "OMO_ENV_HOME": str(night.data), **night.limits}
    nobody = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=night.project, env=environ, stdin=nobody, stdout=nobody, stderr=nobody)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_interrupted_in_a_round_it_goes_on_where_it_was(night: Stage, number: int, code: int) -> None:
    never = threading.Event()
    night.model.script(bash("echo echo well >> app.sh"), say("never said").held_by(never))
    with started(night) as process:
        wait_until(lambda: len(night.model.turns) == 2)
        second = run(night)
        assert (second.returncode, "another omo run" in second.stderr) == (3, True), second.stderr
        process.send_signal(number)
    assert process.returncode == code
    never.set()
    night.model.script(*MENDS)
    ended = run(night, "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ", in round 1" in ended.stderr
    assert "still broken" in json.dumps(night.model.turns[2]["messages"])


def test_killed_in_its_second_round_it_goes_on_with_the_same_work(night: Stage) -> None:
    """Whose conversation has taken the work up, and nobody has noted that yet."""
    never = threading.Event()
    lies = [bash("echo echo well >> app.sh"), say("It is mended."), say("It is, really.")]
    night.model.script(*lies, say("never said").held_by(never))
    with started(night) as process:
        wait_until(lambda: len(night.model.turns) == 4)
        process.kill()
    never.set()
    night.model.script(*MENDS)
    ended = run(night, "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ", in round 2" in ended.stderr
    assert json.loads(ended.stdout)["rounds"][0]["changed"] == ["app.sh"], "since the beginning of the first round"
    begun = [row for session in night.sessions for row in night.events(session) if row["kind"] == "activated"]
    assert len({row["run"] for row in begun}) == 1


def test_a_word_is_enough_only_where_the_user_says_so(night: Stage) -> None:
    words = (
        bash("echo echo well >> app.sh"),
        bash('omo ulw done --because "it says well, which is as good"'),
        say("So."),
    )
    night.model.script(bash("omo gate remove tests"), *words)
    ended = run(night, "--rounds", "1")
    assert (ended.returncode, "the agent's word" in ended.stdout) == (3, True), ended.stdout + ended.stderr
    night.model.script(*words)
    ended = run(night, "--rounds", "1", "--accept", "attested", task="make it say well")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "the agent's word" in ended.stdout


def test_a_budget_is_of_all_rounds_and_can_be_raised(night: Stage) -> None:
    night.model.script(say("It is mended."), say("It is, really."))
    ended = run(night, "--budget", "10 tokens")
    assert (ended.returncode, "the budget is spent" in ended.stdout) == (75, True), ended.stdout + ended.stderr
    night.model.script(*MENDS)
    assert run(night, "--budget", "2M tokens").returncode == 0


def test_a_round_ends_with_its_time(night: Stage) -> None:
    never = threading.Event()
    night.model.script(say("never said").held_by(never))
    for minutes in ("0.1", "1", "10"):
        ended = run(night, "--minutes", minutes, "--rounds", "1")
        if night.model.turns:
            break  # else the machine was too busy for the client to ask in time
    never.set()
    assert (ended.returncode, "its time was up" in ended.stderr) == (3, True), ended.stderr
    assert len(night.model.turns) == 1


def test_the_bench_measures(client_binary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bench import run as bench

    assert bench.main() == 0
    printed = capsys.readouterr().out
    assert [line.split(" | ")[1] for line in printed.splitlines() if line.startswith("| omo run")] == ["1", "1", "2"]
