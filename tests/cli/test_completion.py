"""`omo completion`: the scripts in the shells they are for, and the names they ask for."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from omo.cli.main import GROUPS, build_parser
from omo.completion import ids
from omo.completion.table import BY_NAME, Command, commands_of
from omo.state import paths, runtime
from omo.state.journal import Journal
from tests.cli import shells
from tests.cli.conftest import NOW, SESSION, Shell
from tests.cli.shells import World
from tests.report import states

every_shell = pytest.mark.parametrize("shell_name", shells.SHELLS)

# Each begins with a letter of its own, so that one letter and a tab complete it.
HOSTILE = (
    "a$(touch pwned)",
    "b`touch pwned`",
    "c; touch pwned",
    "d & touch pwned #",
    "e'f\"g\\h",
    "j*?[x]~",
    "k!!:l=m@n",
    "o|p>q<r",
    "s${HOME}$HOME",
    "tümläut 漢字",
)
UNTYPEABLE = ("new\nline", "tab\tbed", "-option", "\x1b[31mred", "right\u202eleft", "z" * 300)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = shells.build_world(tmp_path_factory.mktemp("completion"))
    state = str(world.project / ".sisyphus" / "cc-omo")
    for name in (*HOSTILE, *UNTYPEABLE):
        start_session(state, name)
    for name in ("notes.txt", "no te.txt"):
        (world.project / name).touch()
    (world.project / "nested").mkdir()
    return world


def start_session(state: str, name: str) -> None:
    def decide(row: object) -> runtime.Change:
        return runtime.Change(None, {"ulw": {"enabled": True}}, [{"kind": "activated"}])

    runtime.change_session(state, name, decide, actor="user", now=NOW, wait=5)


@pytest.fixture(scope="module")
def commands() -> list[Command]:
    return list(commands_of(build_parser()))


@every_shell
def test_the_shell_finds_no_fault_with_the_script(world: World, shell_name: str) -> None:
    done = subprocess.run(
        [shells.require(shell_name), "-n", world.script(shell_name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@every_shell
def test_every_command_and_option_of_the_parsers_is_offered(
    world: World, commands: list[Command], shell_name: str
) -> None:
    groups = [one for one in commands if one.commands]
    lines = [[*one.path.split(), ""] for one in groups] + [[*one.path.split(), "--"] for one in commands]
    expected = [{name for name, _ in one.commands} for one in groups]
    expected += [{option.name for option in one.options if option.name.startswith("--")} for one in commands]
    assert len(expected) > 100
    found = [set(one) for one in shells.offered(world, shell_name, lines)]
    assert [(line, got, want) for line, got, want in zip(lines, found, expected, strict=True) if got != want] == []


def test_every_group_is_in_the_table(commands: list[Command]) -> None:
    assert {name for name, _ in commands[0].commands} == set(GROUPS)


def test_nothing_in_the_table_is_about_a_command_that_is_gone() -> None:
    found = set()

    def look(parser: object, path: list[str]) -> None:
        for action in parser._actions:  # type: ignore[attr-defined]
            for length in range(len(path) + 1):
                found.add((" ".join(path[:length]), action.dest))
            if action.dest in ("command", "verb"):
                for name, child in action.choices.items():
                    look(child, [*path, name])

    look(build_parser(), [])
    assert [key for key in BY_NAME if key not in found] == []


LINES = {
    "ul": {"ulw", "ultragoal"},
    "gate re": {"record", "remove"},
    "ultragoal gate in": {"init"},
    "nonsense ": set(),
    "ultragoal checkpoint --status ": {"complete", "failed", "blocked"},
    "ultragoal checkpoint --status f": {"failed"},
    "ultragoal steer --kind sp": {"split_subgoal"},
    "ralph phase ": {"PLAN", "IMPL", "VERIFY", "REFINE", "SHIP"},
    "ralph phase PLAN --ski": {"--skip"},
    "ulw blocked --evidence ": set(),
    "explain goal ": set(),
    "gate run no-such-": set(),
    "ulw blocked --evidence ulw --que": {"--question"},
    "completion ids plan-": {"plan-goals", "plan-runs"},
    "ledger show --of ul": {"ultragoal"},
    "ledger show --session x --of se": {"session"},
    "ledger show --follow --session x --js": {"--json"},
}


@every_shell
def test_what_is_offered_for_a_line(world: World, shell_name: str) -> None:
    found = shells.offered(world, shell_name, [line.split(" ") for line in LINES])
    assert {line: set(one) for line, one in zip(LINES, found, strict=True)} == LINES


# bash has both ways: with an equals sign as a word of its own, and as part of the word where COMP_WORDBREAKS has none.
EQUALS = {
    "bash": [(["--status", "=", "f"], "failed"), (["--status", "="], "failed"), (["--status=f"], "--status=failed")],
    "zsh": [(["--status=f"], "failed"), (["--status="], "failed")],
    "fish": [(["--status=f"], "--status=failed"), (["--status="], "--status=failed")],
}


@every_shell
def test_a_value_after_an_equals_sign(world: World, shell_name: str) -> None:
    lines = [["ultragoal", "checkpoint", *words] for words, _ in EQUALS[shell_name]]
    found = shells.offered(world, shell_name, lines)
    assert [one for one, (_, name) in zip(found, EQUALS[shell_name], strict=True) if name not in one] == []


FILES = {
    "bash": [{"<default>"}, {"<default>"}, {"<dirnames>"}],
    "zsh": [{"no\\ te.txt", "notes.txt"}, {"notes.txt"}, {"nested"}],
    "fish": [{"no te.txt", "notes.txt"}, {"notes.txt"}, {"nested/"}],
}


@every_shell
def test_files_where_files_are_meant(world: World, shell_name: str) -> None:
    lines = [["verify", "add", "--file", "no"], ["gate", "add", "x", "--", "a", "not"], ["gate", "add", "--cwd", "ne"]]
    assert [set(one) for one in shells.offered(world, shell_name, lines)] == FILES[shell_name]


@every_shell
def test_an_id_is_never_run_whatever_is_in_it(world: World, shell_name: str) -> None:
    """Typed into the shell on a terminal: one letter, a tab, and enter."""
    before = sorted(world.project.iterdir())
    lines = [f"omo ulw status --session {name[0]}\t" for name in HOSTILE]
    called = shells.typed(world, shell_name, lines)
    assert called == [["ulw", "status", "--session", name] for name in HOSTILE]
    assert sorted(world.project.iterdir()) == before


@every_shell
def test_an_id_that_cannot_be_typed_is_not_offered(world: World, shell_name: str) -> None:
    (found,) = shells.offered(world, shell_name, [["ulw", "status", "--session", ""]])
    assert len(found) == len(HOSTILE)


@every_shell
def test_an_omo_that_is_not_on_the_path_is_found_where_the_script_was_made(
    world: World, commands: list[Command], shell_name: str
) -> None:
    elsewhere = replace(world, is_on_path=False)
    made = world.script(shell_name).read_text(encoding="utf-8")
    text = import_module(f"omo.completion.{shell_name}").script(commands, str(world.omo))
    world.script(shell_name).write_text(text, encoding="utf-8")
    try:
        (found,) = shells.offered(elsewhere, shell_name, [["ulw", "status", "--session", "t"]])
    finally:
        world.script(shell_name).write_text(made, encoding="utf-8")
    assert len(found) == 1


@every_shell
def test_the_script_and_the_help_say_how_to_install_it(shell: Shell, shell_name: str) -> None:
    from omo.completion.words import INSTALL

    ran = shell.user("completion", shell_name)
    assert (ran.code, ran.err) == (0, "")
    assert INSTALL[shell_name] in "\n".join(ran.out.splitlines()[:3])
    assert INSTALL[shell_name] in dict(child_abouts())[shell_name]
    assert shell.user("completion", shell_name, "--json").json["script"] == ran.out


def child_abouts() -> list[tuple[str, str]]:
    (group,) = [one for one in commands_of(build_parser("completion")) if one.path == "completion"]
    return list(group.commands)


# omo completion ids


def offered(shell: Shell, kind: str, *more: str) -> list[str]:
    ran = shell.agent("completion", "ids", kind, *more)
    assert (ran.code, ran.err) == (0, "")
    return ran.out.splitlines()


def test_sessions_are_offered_last_used_first_and_those_that_left_only_a_ledger(shell: Shell) -> None:
    shell.agent("ulw", "start")
    shell.user("ulw", "start", "--session", "other")
    Path(paths.session_dir(shell.state, "forgotten")).mkdir()
    assert offered(shell, "sessions") == ["other", SESSION, "forgotten"]


def test_gates_are_those_of_the_session_that_is_named(shell: Shell) -> None:
    for name, by in (("tests", SESSION), ("lint", "other")):
        shell.user("gate", "add", name, "--session", by, "--", "true")
    assert offered(shell, "gates") == ["tests"]
    assert offered(shell, "gates", "--session", "other") == ["lint"]
    assert offered(shell, "gates", "--session", "nobody") == []


def test_goals_and_runs(shell: Shell) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", "@goal: Parse\nRead it.\n@goal: Print\nWrite it.")
    Path(paths.plans_dir(shell.state), "p-1").mkdir(parents=True)
    Path(paths.plans_dir(shell.state), "reviews").mkdir()
    Path(paths.ralph_dir(shell.state), "r-1").mkdir(parents=True)
    assert offered(shell, "plan-goals") == ["G001", "G002"]
    filed: list[dict[str, Any]] = [
        {"kind": "added", "spec": {"id": "g-1"}},
        {"kind": "added", "spec": {"id": "g-1"}},
        {"kind": "begun"},
    ]
    goals = Journal(str(Path(paths.verify_dir(shell.state), "goals")), shell.state)
    goals.change(lambda _: (None, filed), actor="user", now=NOW, wait=5)
    assert offered(shell, "verify-goals") == ["g-1"]
    assert offered(shell, "goals") == ["g-1", "G001", "G002"]
    assert (offered(shell, "plan-runs"), offered(shell, "ralph-runs")) == (["p-1"], ["r-1"])
    assert {"session", "ultragoal", "plans/p-1", "ralph/r-1"} <= set(offered(shell, "ledgers"))


def test_all_that_explain_goal_knows_is_offered(shell: Shell) -> None:
    shell.agent("gate", "add", "tests", "--", "true")
    shell.agent("ultragoal", "create-goals", "--brief", "@goal: Parse\nRead it.")
    assert offered(shell, "explained") == ["G001", "tests"]
    ran = shell.user("completion", "ids", "explained")
    assert (ran.out, ran.err) == ("G001\ntests\n", ""), "in the user's own terminal too"
    assert offered(shell, "explained", "--session", SESSION[:3]) == ["G001", "tests"]


@pytest.mark.parametrize(("name", "expected"), [("ralph-regression", "C1"), ("ultraplan-missing-step", "step-1")])
def test_criteria_and_steps_are_offered_as_explain_goal_takes_them(name: str, expected: str) -> None:
    scene = states.scene(name)
    found = ids.offered("explained", scene.state, scene.here)
    assert expected in found
    for one in found:
        assert scene.omo("explain", "goal", one), one


def test_a_ledger_that_cannot_be_read_hides_no_other(shell: Shell) -> None:
    shell.agent("gate", "add", "tests", "--", "true")
    Path(paths.verify_dir(shell.state), "goals", "ledger.jsonl").mkdir(parents=True)
    assert offered(shell, "explained") == ["tests"]


@pytest.mark.parametrize("kind", sorted(ids.KINDS))
@pytest.mark.parametrize(
    "broken", ["", "rubbish", '{"version": 99, "sessions": {}}', '{"version": 1, "sessions": {"s": 3}}']
)
def test_a_state_that_cannot_be_read_is_answered_with_silence_and_left_as_it_is(
    shell: Shell, kind: str, broken: str
) -> None:
    state = Path(shell.state)
    for name in ("sessions/abc123/ultragoal", "verify/goals", "plans", "ralph"):
        (state / name).mkdir(parents=True)
    (state / "runtime.local.json").write_text(broken)
    (state / "sessions/abc123/events.jsonl").write_text(
        '{"kind": "gate-added"}\n[]\n{"kind": "gate-added", "name": 3}\n'
    )
    (state / "sessions/abc123/ultragoal/goals.json").write_text('{"goals": [3, {"id": []}]}')
    (state / "verify/goals/ledger.jsonl").mkdir()
    before = {path: path.stat().st_mtime_ns for path in state.rglob("*")}
    ran = shell.agent("completion", "ids", kind)
    assert (ran.code, ran.err) == (0, "")
    assert {path: path.stat().st_mtime_ns for path in state.rglob("*")} == before


def test_without_any_state_nothing_is_written(shell: Shell) -> None:
    assert offered(shell, "sessions") == []
    assert not Path(shell.state).exists()
