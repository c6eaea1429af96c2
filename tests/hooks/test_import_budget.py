"""What a hook may import. Each module here was measured; see docs/decisions/speed.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.conftest import ROOT, SESSION, Host, command_of, note_starts, point_at
from tests.hooks.test_tool_gates import open_run

# os and what it brings along, and builtin or tiny extension modules. Neither json nor re: each is as dear as Python.
FREE = {
    *("os", "os.path", "stat", "_stat", "posix", "posixpath", "genericpath", "_collections_abc", "abc", "io", "sys"),
    *("time", "_json", "fcntl", "gc", "_sha2", "_sha256", "select", "__future__"),
}
REPORT = """
import sys
before = set(sys.modules)
sys.argv = sys.argv[1:]
with open(sys.argv[0]) as file:
    code = compile(file.read(), sys.argv[0], "exec")
exec(code, {"__file__": sys.argv[0], "__name__": "__main__"})
sys.stderr.write(" ".join(sorted(set(sys.modules) - before)))
"""


def imported(host: Host, event: str, script: str, **fields: object) -> set[str]:
    path = str(ROOT / "hooks" / "event.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", REPORT, path, script],
        input=host.payload(event, **fields),
        capture_output=True,
        cwd=host.project,
        env=host.environment(),
        check=True,
    )
    return set(done.stderr.decode().split())


def unbudgeted(host: Host, event: str, script: str, **fields: object) -> list[str]:
    modules = imported(host, event, script, **fields)
    return sorted(name for name in modules - FREE if name.partition(".")[0] != "omo")


@pytest.mark.parametrize(
    ("event", "script", "fields"),
    [
        ("Stop", "stop", {}),
        ("PreToolUse", "pre-tool-use", {"tool_name": "Write", "tool_input": {"file_path": "a"}}),
        ("PreToolUse", "pre-tool-use", {"tool_name": "Bash", "tool_input": {"command": "omo ulw status; ls"}}),
        ("PreToolUse", "pre-tool-use", {"tool_name": "AskUserQuestion", "tool_input": {"questions": []}}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "and also the docs"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "ulw fix the flaky tests"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "ulw do what TASK.md says"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "/omo:ultragoal fix the flaky tests"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "stop ulw"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "that's wrong, you can stop now"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "이제 그만해 주세요"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": '> ulw\n\n```\nulw\n```\n12:00:00 ulw\nwhat is "ulw"?'}),
        ("SubagentStop", "subagent-stop", {"agent_type": "x", "agent_id": "1"}),
        ("SubagentStop", "subagent-stop", {"agent_type": "omo:qa", "agent_id": "1"}),
        ("SessionStart", "session-start", {"source": "resume"}),
        ("SessionStart", "session-start", {"source": "startup", "session_id": "next"}),
        ("Status", "statusline", {"workspace": {"project_dir": "."}}),
    ],
)
def test_a_hook_at_work_imports_only_what_is_budgeted(
    host: Host, event: str, script: str, fields: dict[str, object]
) -> None:
    (host.project / "package.json").write_text('{"scripts": {"test": "jest"}}')
    (host.project / "Makefile").write_text("lint:\n\ttrue\n")
    (host.project / "TASK.md").write_text("- [ ] add\n- [ ] mul\n")
    (host.project / ".github" / "workflows").mkdir(parents=True)
    (host.project / ".github" / "workflows" / "ci.yml").write_text("- run: mypy .\n")
    host.prompt("ulw begin", session_id="another" if event == "UserPromptSubmit" else SESSION)
    assert unbudgeted(host, event, script, **fields) == []


def test_a_stop_after_a_message_imports_no_more(host: Host, tmp_path: Path) -> None:
    spoke = '{"type":"assistant","message":{"role":"assistant","content":[]},"timestamp":"2999-01-01T00:00:00.000Z"}'
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text(spoke + "\n", encoding="utf-8")
    host.prompt("ulw begin")
    host.prompt("and also the docs", transcript_path=str(transcript))
    assert unbudgeted(host, "Stop", "stop", transcript_path=str(transcript)) == []
    assert host.kinds()[-1] == "blocked:quote-message"


@pytest.mark.parametrize(("text", "decision"), [("x = 1\n", "allowed:done"), ("x = 2\n", "blocked:block")])
def test_a_stop_that_looks_at_the_files_of_an_end_imports_no_more(host: Host, text: str, decision: str) -> None:
    host.write("calc.py", "x = 1\n")
    host.commit("base")
    host.prompt("ulw begin")
    host.check("ulw", "done", "--because", "there was nothing to do")
    host.write("calc.py", text)
    assert unbudgeted(host, "Stop", "stop") == []
    assert host.kinds()[-1] == decision


def test_a_shell_command_is_parsed_only_where_it_could_matter(host: Host) -> None:
    def parses(command: str) -> bool:
        fields: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": command}}
        return "omo.shell" in imported(host, "PreToolUse", "pre-tool-use", **fields)

    open_run(host)
    assert parses("ls; omo goal pause")
    assert not parses("omo gate run; ls")
    assert not parses("git commit -m 'pause'")


def test_a_shell_command_that_does_not_name_omo_starts_no_python(host: Host, data: Path) -> None:
    open_run(host)
    noted = note_starts(data)
    project: dict[str, Any] = {"cwd": "/home/omo/omo", "transcript_path": "/omo/x.jsonl"}
    for command in ("ls -l", "git commit -m 'goal pause'", "x" * 60_000):
        host.send("PreToolUse", **project, tool_name="Bash", tool_input={"command": command}).assert_silent()
    assert not noted.exists()
    host.send("PreToolUse", tool_name="Bash", tool_input={"command": "omo goal pause"}).assert_silent()
    assert noted.exists()


def test_a_session_start_starts_no_python_unless_something_was_left_open(host: Host, data: Path) -> None:
    host.prompt("ulw begin")
    host.prompt("/omo:stop-continuation")
    noted = note_starts(data)
    host.send("SessionStart", source="startup", session_id="next").assert_silent()
    assert not noted.exists()
    point_at(data, sys.executable)
    host.prompt("ulw begin")
    note_starts(data)
    host.send("SessionStart", source="startup", session_id="next").assert_silent()
    assert noted.exists()


def test_an_idle_event_starts_no_program(host: Host) -> None:
    """The whole cost is the shell the host starts: nothing can be found on this PATH, and nothing is missed."""
    for event in ("Stop", "PreToolUse", "SubagentStop"):
        done = subprocess.run(
            ["/bin/sh", "-c", command_of(event)],
            input=host.payload(event),
            capture_output=True,
            cwd=host.project,
            env=host.environment(PATH="/nonexistent"),
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_armed_again_a_run_takes_no_second_look_at_the_files(host: Host) -> None:
    """It goes on with those it began with; to keep all of a large tree once more may take seconds."""
    assert "omo.proof.base" in imported(host, "UserPromptSubmit", "user-prompt-submit", prompt="ulw mend")
    again = imported(host, "UserPromptSubmit", "user-prompt-submit", prompt="ulw and the docs")
    assert "omo.hooks.asked" in again
    assert "omo.proof.base" not in again
    assert "omo.work.gates" not in again  # nor does it read its whole ledger, for gates


def test_the_words_of_scripts_without_spaces_are_loaded_for_such_letters(host: Host) -> None:
    """They are a third of all words that a prompt is held against."""
    words = "omo.hooks.unspaced_words"
    assert words not in imported(host, "UserPromptSubmit", "user-prompt-submit", prompt="ulw fix")
    assert words in imported(host, "UserPromptSubmit", "user-prompt-submit", prompt="用ulw 修复测试")
