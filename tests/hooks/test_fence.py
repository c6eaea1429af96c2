"""The fence of a plan session: who is held, by what, and until when."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from omo.state import paths, runtime
from tests import texts
from tests.hooks.conftest import SESSION, Answer, Host, note_starts
from tests.hooks.test_import_budget import unbudgeted
from tests.hooks.test_tool_gates import AS_SUBAGENT, bash, denied, put_work
from tests.ultrawork.shell_commands import DENIED, HARMLESS

pytestmark = pytest.mark.usefixtures("laps")

IN_PROCESS = True

PLAN = {"run": "p1", "state": "active", "open": 2, "total": 3, "next": "Step 2"}


def open_fence(host: Host, *, session_id: str = SESSION, fence: Any = None, **changes: Any) -> None:
    given = {"touch": ["src/**", "docs/*.md"], "never": ["src/gen/**"], "root": str(host.project), "spec": "plan.md"}
    put_work(host, "ultraplan", session_id, **{**PLAN, "fence": given if fence is None else fence, **changes})


def close_fence(host: Host) -> None:
    host.change_row(lambda row: {**row, "work": {**row["work"], "ultraplan": {**PLAN, "state": "ended"}}})


def write(host: Host, path: str, tool: str = "Write", **fields: Any) -> Answer:
    key = "notebook_path" if tool == "NotebookEdit" else "file_path"
    return host.send("PreToolUse", tool_name=tool, tool_input={key: path}, **fields)


def powershell(host: Host, command: object) -> Answer:
    return host.send("PreToolUse", tool_name="PowerShell", tool_input={"command": command})


EDITORS = ("Write", "Edit", "MultiEdit", "NotebookEdit")


@pytest.mark.parametrize("tool", EDITORS)
def test_edits_stay_inside_the_fence(host: Host, tool: str) -> None:
    open_fence(host)
    assert texts.says(denied(write(host, "README.md", tool)), "fence-outside", path="README.md")
    generated = str(host.project / "src" / "gen" / "x.py")
    assert texts.says(denied(write(host, generated, tool)), "fence-never", path=generated, never="src/gen/**")
    assert texts.says(denied(write(host, "/etc/hosts", tool)), "fence-outside-project", path="/etc/hosts")
    assert ".env file" in denied(write(host, "src/.env", tool))
    write(host, "src/a.py", tool).assert_silent()
    write(host, str(host.project / "docs" / "x.md"), tool).assert_silent()
    write(host, "/tmp/scratch.txt", tool).assert_silent()


def test_a_file_with_brackets_in_its_name_is_inside_the_fence_that_names_it(host: Host) -> None:
    path = "app/[slug]/page.tsx"
    open_fence(host, fence={"touch": [path], "never": [], "root": str(host.project)})
    write(host, path).assert_silent()
    bash(host, f"echo x > '{path}'").assert_silent()
    assert texts.says(denied(write(host, "app/s/page.tsx")), "fence-outside", touch=path)


@pytest.mark.parametrize(
    "path",
    [
        *(".git/hooks/pre-commit", ".git/config", "src/.git/config", ".husky/pre-push", ".githooks/x"),
        *("~/.ssh/config", "~/.aws/credentials", "~/.gnupg/x", "src/.env", "src/.env.production"),
        *("~/.zshrc", "~/.bashrc", "~/.profile", "~/.bash_profile", "~/.zprofile", "~/.config/fish/config.fish"),
        *(".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/x.sh", "~/.claude/settings.json"),
        *("src/id_rsa", "src/id_ed25519_x", "src/a.pem", "src/a.key", "src/prod.env"),
        *(".mcp.json", "src/.MCP.JSON", ".pre-commit-config.yaml", "/etc/crontab", "/etc/anacrontab"),
        *("/var/spool/cron/me", ".cursor/mcp.json", ".codex/hooks.json"),
        *(".github/hooks/omo.json", "~/.copilot/hooks/x.json"),
    ],
)
def test_what_no_plan_may_change_even_if_its_fence_says_so(host: Host, path: str) -> None:
    open_fence(host, fence={"touch": ["**"], "never": [], "root": str(host.project)})
    assert texts.says(denied(write(host, path)), "fence-no-plan-may-change")


@pytest.mark.parametrize(
    "path",
    [
        *("src/.env.example", "src/prod.env.example", "src/id_rsa.pub", "src/settings.json"),
        *(".github/x.yml", ".github/settings.yml"),
        *(".gitignore", "src/hooks/a.py", ".claude/notes.md"),
    ],
)
def test_what_only_looks_like_it_may_be_changed(host: Host, path: str) -> None:
    open_fence(host, fence={"touch": ["**"], "never": [], "root": str(host.project)})
    write(host, path).assert_silent()


def test_every_file_of_a_patch_is_looked_at(host: Host) -> None:
    open_fence(host)
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** Add File: README.md\n+x\n*** End Patch"
    sent = host.send("PreToolUse", tool_name="apply_patch", tool_input={"command": patch})
    assert "README.md" in denied(sent)
    inside = patch.replace("README.md", "src/b.py")
    host.send("PreToolUse", tool_name="apply_patch", tool_input={"command": inside}).assert_silent()


def test_shell_commands_are_held_too(host: Host) -> None:
    open_fence(host)
    assert "rm -rf" in denied(bash(host, "rm -rf src/old"))
    for writes in ("echo x > README.md", ["bash", "-lc", "echo x > README.md"]):
        assert texts.says(denied(bash(host, writes)), "fence-outside", path="README.md")
    for command in ("git status", "echo 'rm -rf /' > src/a.py", "omo plan status", "cat .env", 7, None):
        assert not denied(bash(host, command)), command


def test_every_command_of_the_table_is_held_or_let_go(host: Host) -> None:
    touch, never = ["src/**", "docs/*.md", "tests/new/test_a.py"], ["src/gen/**"]
    host.environ |= {"HOME": "/home/me", "XDG_STATE_HOME": os.environ["HOME"]}
    for name in ("src/gen/api.py", "src/a.py", "src/old/x.py", "docs/x.md", "tests/test_x.py", "README.md"):
        host.write(name, "x\n")
    open_fence(host, fence={"touch": touch, "never": never, "root": str(host.project), "spec": "plan.md"})
    for command in HARMLESS:
        assert not denied(bash(host, command)), command
    for command in DENIED:
        reason = denied(bash(host, command))
        assert "report it" in reason or "omo's own state" in reason, command


@pytest.mark.parametrize("command", ["Remove-Item -Recurse -Force src", "Get-ChildItem", "omo plan finish", "", None])
def test_powershell_is_refused_while_the_fence_is_up(host: Host, command: object) -> None:
    open_fence(host)
    assert texts.says(denied(powershell(host, command)), "fence-no-powershell")


def test_a_relative_path_counts_from_where_the_call_runs(host: Host) -> None:
    open_fence(host)
    (host.project / "src").mkdir()
    bash(host, "echo x > a.py", cwd=str(host.project / "src")).assert_silent()
    assert denied(bash(host, "echo x > ../a.py", cwd=str(host.project / "src")))


# Whose fence, and until when.


def test_subagents_are_held_and_other_sessions_are_not(host: Host) -> None:
    open_fence(host)
    assert denied(write(host, "README.md", **AS_SUBAGENT))
    assert denied(bash(host, "rm -rf x", **AS_SUBAGENT))
    write(host, "README.md", session_id="another").assert_silent()
    bash(host, "rm -rf x", session_id="another").assert_silent()


@pytest.mark.parametrize("state", [*(state for state in runtime.OPEN_STATES if state != "paused"), "ended"])
def test_the_fence_holds_in_every_state_of_the_run(host: Host, state: str) -> None:
    open_fence(host, state=state, endedBy="cap")
    assert denied(write(host, "README.md"))
    assert denied(bash(host, "rm -rf x"))


def test_a_cancel_takes_the_fence_down_until_the_user_goes_on(host: Host) -> None:
    open_fence(host)
    assert denied(write(host, "README.md"))
    host.prompt("/omo:stop-continuation")
    write(host, "README.md").assert_silent()
    bash(host, "rm -rf x").assert_silent()
    host.prompt("thanks")
    write(host, "README.md").assert_silent()
    host.stop().assert_silent()
    host.prompt("ulw go on with the plan")
    assert denied(write(host, "README.md"))


@pytest.mark.parametrize("lets_go", ["/omo:stop-continuation", "stop the plan", "stop"])
@pytest.mark.parametrize("task", ["ulw write the README", "/omo:laps write the README"])
def test_a_plan_that_the_user_let_go_fences_no_other_work(host: Host, lets_go: str, task: str) -> None:
    (host.project / "plan.md").write_text("# A plan\n")
    open_fence(host)
    host.prompt(lets_go)
    host.prompt(task)
    write(host, "README.md").assert_silent()
    host.prompt("/omo:ultraexecute plan.md")
    assert denied(write(host, "README.md"))


def test_the_end_of_the_session_opens_it(host: Host) -> None:
    open_fence(host)
    close_fence(host)
    write(host, "README.md").assert_silent()
    bash(host, "rm -rf x").assert_silent()
    first = Path(paths.runtime_file(host.state)).read_text().splitlines()[0]
    assert "fenced" not in first


def test_the_first_line_lists_who_is_fenced(host: Host) -> None:
    open_fence(host)
    host.prompt("ulw x", session_id="zz")
    first = Path(paths.runtime_file(host.state)).read_text().splitlines()[0]
    listed = {"version": 4, "live": [SESSION, "zz"], "fenced": [SESSION], "left": True, "sessions": {}}
    assert first == json.dumps(listed).removesuffix("}}")
    bash(host, "rm -rf x", session_id="zz").assert_silent()


@pytest.mark.parametrize("odd", ["é", "a b", "x" * 200])
def test_an_odd_session_id_is_fenced_as_well(host: Host, odd: str) -> None:
    open_fence(host, session_id=odd)
    assert denied(bash(host, "rm -rf x", session_id=odd))


def test_state_kept_elsewhere_is_found(host: Host, tmp_path: Path) -> None:
    elsewhere = {"OMO_STATE_DIR": str(tmp_path / "elsewhere")}
    state = paths.state_dir(str(host.project), elsewhere)
    open_fence(host)
    shutil.move(host.state, state)
    assert denied(bash(host, "rm -rf x", env=elsewhere))


@pytest.mark.parametrize(
    "fence",
    [
        *("src", ["src"], {}, {"touch": "src", "never": [], "root": "/x"}, {"touch": [7], "never": [], "root": "/x"}),
        *({"touch": [], "never": {}, "root": "/x"}, {"touch": [], "never": []}, {"touch": [], "never": [], "root": 7}),
        {"touch": [], "never": [], "root": "x"},
    ],
    ids=str,
)
def test_a_fence_that_makes_no_sense_allows(host: Host, fence: Any) -> None:
    open_fence(host, fence=fence)
    write(host, "README.md").assert_silent()
    bash(host, "rm -rf x").assert_silent()
    assert not Path(paths.log_file(host.state)).exists(), "it is no failure"


def test_without_a_fence_nothing_changes(host: Host) -> None:
    host.prompt("ulw x")
    for command in ("rm -rf x", "echo x > README.md"):
        bash(host, command).assert_silent()
        powershell(host, command).assert_silent()
    write(host, "README.md").assert_silent()


@pytest.mark.parametrize(
    "command",
    [
        *("rm -r .sisyphus", "rm -rf .sisyphus/cc-omo", "mv .sisyphus x", "find .sisyphus -type f | xargs rm"),
        *(
            "echo {} > .sisyphus/cc-omo/events.jsonl",
            "cd .sisyphus && rm cc-omo/events.jsonl",
            "git clean -fdX -e .sisyphus",
            "git clean -fdx .sisyphus/cc-omo/runs",
        ),
        *("sed -i s/a/b/ .sisyphus/cc-omo/events.jsonl", "cp x .sisyphus/omo.json"),
        *("touch 'a\0b'; rm -r .sisyphus", 'cd "$DIR" && rm -r .sisyphus/cc-omo'),
    ],
)
def test_own_state_is_kept_from_the_shell_while_work_is_open(host: Host, command: str) -> None:
    host.prompt("ulw x")
    assert "omo's own state" in denied(bash(host, command))
    bash(host, command, session_id="another").assert_silent()


@pytest.mark.parametrize(
    "command",
    [
        *("cat .sisyphus/cc-omo/events.jsonl", "cp .sisyphus/cc-omo/events.jsonl /tmp/e", "ls .sisyphus; rm -rf build"),
        *("echo x > .sisyphus/notes.md", "git commit -m 'rm -r .sisyphus'", "echo x > .env # .sisyphus"),
        *("git clean -fx", "ls *.tmp | xargs rm # .sisyphus", 'echo x > "$DIR/.env" # .sisyphus'),
    ],
)
def test_reading_it_or_writing_beside_it_is_not(host: Host, command: str) -> None:
    host.prompt("ulw x")
    bash(host, command).assert_silent()


# A refusal that is repeated.


def test_the_third_identical_refusal_makes_the_run_wait_and_the_fence_stays_shut(host: Host) -> None:
    open_fence(host)
    assert all(denied(bash(host, "rm -rf src/old")) for _ in range(2))
    assert host.row()["work"]["ultraplan"]["state"] == "active"
    assert denied(bash(host, "rm -rf src/old"))
    assert host.row()["work"]["ultraplan"]["state"] == "waiting"
    assert "rm -rf src/old" in host.stop().message
    assert all(denied(bash(host, "rm -rf src/old")) for _ in range(3))
    rows = [row for row in host.events() if row["kind"] == "denied"]
    assert {row["gate"] for row in rows} == {"fence"}


# What it costs.


@pytest.mark.parametrize("command", ["git status", 'git commit -m "x" && rm -rf y'])
def test_a_fenced_shell_command_imports_only_what_is_budgeted(host: Host, command: str) -> None:
    open_fence(host)
    fields: Any = {"tool_name": "Bash", "tool_input": {"command": command}}
    assert unbudgeted(host, "PreToolUse", "pre-tool-use", **fields) == []


@pytest.mark.usefixtures("through_the_shell")
def test_python_is_started_for_a_fenced_shell_command_only(host: Host, data: Path) -> None:
    host.prompt("ulw x")
    noted = note_starts(data)
    bash(host, "ls").assert_silent()
    powershell(host, "ls").assert_silent()
    assert not noted.exists()
    open_fence(host)
    bash(host, "ls").assert_silent()
    powershell(host, "ls").assert_silent()
    assert noted.read_text().split() == ["pre-tool-use"] * 2
