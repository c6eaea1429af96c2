"""What a hook may import. Each module here was measured; see docs/decisions/speed.md."""

from __future__ import annotations

import subprocess
import sys
import sysconfig

import pytest

from tests.hooks.conftest import ROOT, Host, command_of

# os and what it brings along, and builtin or tiny extension modules. Neither json nor re: each is as dear as Python.
FREE = {
    *("os", "os.path", "stat", "_stat", "posix", "posixpath", "genericpath", "_collections_abc", "abc", "io", "sys"),
    *("time", "_json", "fcntl", "_sha2", "_sha256", "encodings.utf_8_sig", "__future__"),
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
    path = str(ROOT / "hooks" / f"{script}.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", REPORT, path, sysconfig.get_path("purelib")],
        input=host.payload(event, **fields),
        capture_output=True,
        cwd=host.project,
        env=host.environment(),
        check=True,
    )
    return set(done.stderr.decode().split())


@pytest.mark.parametrize(
    ("event", "script", "fields"),
    [
        ("Stop", "stop", {}),
        ("PreToolUse", "pre-tool-use", {"tool_name": "Write", "tool_input": {"file_path": "a"}}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "and also the docs"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "ulw fix the flaky tests"}),
        ("UserPromptSubmit", "user-prompt-submit", {"prompt": "stop ulw"}),
        ("SubagentStop", "subagent-stop", {"agent_type": "x", "agent_id": "1"}),
        ("SessionStart", "session-start", {"source": "resume"}),
    ],
)
def test_a_hook_at_work_imports_only_what_is_budgeted(
    host: Host, event: str, script: str, fields: dict[str, object]
) -> None:
    host.prompt("ulw begin")
    foreign = {name for name in imported(host, event, script, **fields) if name.partition(".")[0] != "omo"}
    assert foreign <= FREE, sorted(foreign - FREE)


def test_markdown_is_parsed_only_where_there_is_some(host: Host) -> None:
    assert "markdown_it" in imported(host, "UserPromptSubmit", "user-prompt-submit", prompt="> ulw\n\nulw fix")
    assert "markdown_it" not in imported(host, "UserPromptSubmit", "user-prompt-submit", prompt="ulw fix it, please")


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
