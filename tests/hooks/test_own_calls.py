"""Which calls of `omo` nobody is asked about while a run is on, and that no spelling of another gets among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo import hosts
from omo.hooks.own_calls import ANYWHERE, CALLS
from omo.hosts import launcher
from tests.hooks.conftest import ROOT, Host
from tests.hooks.test_fence import open_fence
from tests.hooks.test_tool_gates import AS_SUBAGENT, bash, decided, denied, open_run
from tests.named_commands import parser_at

pytestmark = pytest.mark.usefixtures("laps")

IN_PROCESS = True


@pytest.fixture
def on(host: Host) -> Host:
    host.prompt("ulw fix it")
    return host


ALLOWED = [
    *(" ".join(("omo", *words)) for words in CALLS),
    *("omo gate run tests", "  omo   status  --json "),
    "omo ulw done --because 'the page says so: see `docs/a.md`; $5 & more'",
    *('omo ulw done --because "it\'s done, (all of it) * 2 > 1"', "omo report --md --run r-17"),
    "omo plan audit plans/a.md",
    "omo ulw done --help",
]


@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
def test_what_looks_or_runs_what_is_pinned_is_allowed(on: Host, mode: str) -> None:
    assert [one for one in ALLOWED if decided(bash(on, one, permission_mode=mode)) != "allow"] == []


def test_the_list_names_commands_and_options_that_there_are() -> None:
    for words, options in CALLS.items():
        parser, rest = parser_at(list(words))
        assert not rest
        for option in {*options, *ANYWHERE} - {"--"}:
            action = parser._option_string_actions[option.rstrip("=")]
            assert (action.nargs != 0) == option.endswith("="), (words, option)


LEFT_TO_THE_HOST = [
    # More than one command, or one that a shell makes of it.
    *("omo gate list\nrm x", "omo gate list\r\nrm x", "omo gate list; rm x", "omo gate list && rm x"),
    *("omo gate list || rm x", "omo gate list | sh", "omo gate list & rm x", "omo gate list &"),
    *("(omo gate list)", "! omo gate list", "time omo gate list", "omo gate list # quiet", "omo gate list > x"),
    *("omo gate list >x", "omo gate list 2>&1", "omo gate list < x", "omo gate list <<< x"),
    "omo gate list <(rm x)",
    # Words that are not what they look like.
    *("omo gate run $(rm x)", "omo gate run `rm x`", "omo gate run $NAME", "omo gate run ${NAME}"),
    *("omo gate run *", "omo gate run te?ts", "omo gate run [t]ests", "omo gate run {a,b}", "omo gate run ~"),
    *("omo gate run =ls", "omo gate run a\\ b", "omo gate run 'a", 'omo gate run "a', "omo gate run 'a'b"),
    *("omo gate run a'b'", "omo gate run $'a'", 'omo ulw done --because "$(rm x)"'),
    *('omo ulw done --because "`rm x`"', 'omo ulw done --because "$HOME"'),
    *('omo ulw done --because "a\\"; rm x; \\""', 'omo ulw done --because "done!rm"'),
    *("omo ulw done --because 'a' 'b'; rm x", "omo ulw done --because 'it'\\''s done'"),
    *("omo ulw done --because 'one\ntwo'", "omo\u00a0gate list", "omo gate list\u2028rm x", "omo\tgate\tlist"),
    # Another program.
    *("A=b omo gate list", "PATH=. omo gate list", "env omo gate list", "command omo gate list"),
    *("sudo omo gate list", "./omo gate list", "/tmp/omo gate list", "bin/omo gate list", "\\omo gate list"),
    *("$OMO gate list", "OMO gate list", "omo2 gate list", "sh -c 'omo gate list'", "eval omo gate list"),
    "echo omo gate list",
    # Commands and options that change or run something else.
    *("omo", "omo gate", "omo gate add tests -- true", "omo gate remove tests"),
    *("omo gate record tests --pre-existing --evidence x", "omo gate run --session other"),
    *("omo --json gate add x -- true", "omo 'gate run'", "omo ulw done --skip-verification 'no time'"),
    *("omo ulw done --skip 'no time'", "omo ulw done --because=done"),
    *("omo ulw done --because --skip-verification x", "omo ulw done --because", "omo ulw blocked --evidence x"),
    *("omo resume", "omo report --out x.html", "omo report --ou x.html", "omo report --md --out=x.md"),
    *("omo report -o x.html", "omo ledger show"),
    *("omo explain stop --event /etc/passwd", "omo plan start plans/a.md", "omo plan critique plans/a.md"),
    *("omo verify claim 'x' --service example.org:80 --is up", "omo verify finish G1 --summary x"),
    *("omo evidence replay -- ./x", "omo resume other", "omo doctor --fix statusline", "omo stop-continuation"),
]


def test_anything_else_is_left_to_the_host(on: Host) -> None:
    assert [command for command in LEFT_TO_THE_HOST if bash(on, command).stdout] == []


@pytest.mark.parametrize(
    "more",
    [
        {"dangerouslyDisableSandbox": True},
        {"dangerouslyDisableSandbox": False},
        {"shell": "/tmp/sh"},
    ],
    ids=str,
)
def test_a_call_that_asks_for_more_than_to_be_run_is_left_to_the_host(on: Host, more: dict[str, Any]) -> None:
    plain = {"command": "omo gate run", "description": "run the gates", "timeout": 600000, "run_in_background": True}
    assert decided(on.send("PreToolUse", tool_name="Bash", tool_input=plain)) == "allow"
    on.send("PreToolUse", tool_name="Bash", tool_input={**plain, **more}).assert_silent()
    on.send("PreToolUse", tool_name="PowerShell", tool_input=plain).assert_silent()


def test_plan_mode_and_a_host_that_takes_no_such_answer_are_asked_as_ever(on: Host) -> None:
    bash(on, "omo gate run", permission_mode="plan").assert_silent()
    for name in hosts.NAMES:
        fields = {"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "omo gate run"}}
        call = hosts.named(name).read(json.dumps(fields).encode(), {})
        assert call is not None
        assert call.can_permit == (name != "codex")


def test_only_while_a_run_of_this_session_is_on(host: Host) -> None:
    bash(host, "omo status").assert_silent()
    host.prompt("ulw fix it")
    assert decided(bash(host, "omo status")) == "allow"
    bash(host, "omo status", session_id="another").assert_silent()
    host.prompt("wait")
    assert decided(bash(host, "omo status")) == "allow"  # it is paused, and open
    host.prompt("stop ulw")
    bash(host, "omo status").assert_silent()
    host.write_runtime("{")
    bash(host, "omo status").assert_silent()


@pytest.mark.parametrize("name", ["omo", "sub/omo"])
def test_another_program_of_that_name_is_left_to_the_host(on: Host, tmp_path: Path, name: str) -> None:
    """What the user has on the PATH comes before what the host adds to it."""
    planted = tmp_path / "programs" / name
    planted.parent.mkdir(parents=True)
    planted.write_text("#!/bin/sh\n", encoding="utf-8")
    path = f"{on.environ.get('PATH', '/usr/bin:/bin')}:{planted.parent}"
    assert decided(bash(on, "omo status", env={"PATH": path})) == "allow"  # which nothing can run
    planted.chmod(0o755)
    bash(on, "omo status", env={"PATH": path}).assert_silent()
    assert decided(bash(on, "omo status", env={"PATH": f"{ROOT / 'bin'}:{path}"})) == "allow"


def test_the_omo_that_setup_put_on_the_users_path_is_ours(on: Host, tmp_path: Path) -> None:
    program = tmp_path / "programs" / "omo"
    program.parent.mkdir()
    path = f"{program.parent}:/usr/bin:/bin"
    text = launcher.script().replace("ROOT", "'/home/me/omo 0.1'")
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    assert decided(bash(on, "omo status", env={"PATH": path})) == "allow"
    for changed in (text + "evil\n", text.replace("'/home/me/omo 0.1'", "$(evil)"), text.replace("omo 0.1'", "x' y")):
        program.write_text(changed, encoding="utf-8")
        bash(on, "omo status", env={"PATH": path}).assert_silent()


def test_tests_that_nobody_pinned_are_asked_about_each_by_its_file(host: Host) -> None:
    for part in ("api", "lib"):
        host.write(f"{part}/work.py", "")
        host.write(f"{part}/Makefile", "test:\n\ttrue\n")
    host.git("init", "-q")
    host.commit()
    host.prompt("ulw fix it")
    for part in ("api", "lib"):
        host.write(f"{part}/work.py", "1\n")
    asked = bash(host, "omo ulw done")
    runs = "make test (api/Makefile), make test (lib/Makefile)"
    assert asked.says_to_user("tool-proof-is-announced", runs=runs)
    assert "permissionDecision" not in asked.json.get("hookSpecificOutput", {})
    for part in ("api", "lib"):
        host.prompt(f"/omo:pin {part} -- make -C {part} test")
    assert decided(bash(host, "omo ulw done")) == "allow"


@pytest.mark.parametrize("command", ["omo ulw done", "git merge -q w && omo ulw done 2>&1 | tail -5"])
def test_where_nothing_would_be_run_no_run_is_announced(on: Host, command: str) -> None:
    assert "systemMessage" not in bash(on, command).stdout
    on.prompt("/omo:pin -- true", session_id="another")
    assert "systemMessage" not in bash(on, "git commit -m 'omo ulw done'").stdout
    assert "omo ulw done runs the pinned gates, also with" in bash(on, command).json["systemMessage"]


def test_a_relative_directory_on_the_path_is_the_sessions(on: Host) -> None:
    planted = on.project / "tools" / "omo"
    planted.parent.mkdir()
    planted.write_text("#!/bin/sh\n", encoding="utf-8")
    planted.chmod(0o755)
    bash(on, "omo status", env={"PATH": "tools:/usr/bin:/bin"}).assert_silent()


def test_another_project_is_left_to_the_host(on: Host, tmp_path: Path) -> None:
    (tmp_path / ".sisyphus" / "cc-omo").mkdir(parents=True)
    bash(on, "omo gate run", cwd=str(tmp_path)).assert_silent()
    (on.project / "deep").mkdir()
    assert decided(bash(on, "omo gate run", cwd=str(on.project / "deep"))) == "allow"


def test_what_a_gate_of_ours_denies_is_denied(host: Host) -> None:
    open_run(host)
    assert denied(bash(host, "omo ulw done", **AS_SUBAGENT))
    assert denied(bash(host, "omo laps judge", **AS_SUBAGENT))
    assert decided(bash(host, "omo gate run", **AS_SUBAGENT)) == "allow"
    assert decided(bash(host, "omo ulw done", agent_type="omo:executor")) == "allow"  # as what the client was started
    assert denied(bash(host, "omo goal complete"))


def test_the_fence_of_a_plan_leaves_it_as_it_is(on: Host) -> None:
    open_fence(on)
    assert decided(bash(on, "omo plan status")) == "allow"
    assert denied(bash(on, "omo plan status > outside.txt"))
