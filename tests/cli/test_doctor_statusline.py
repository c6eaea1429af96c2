"""`omo doctor --fix statusline`: shown before it is written, beside what was there, and taken out without a trace."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from omo import doctor as statusline
from omo.cli.doctor import fix_statusline
from omo.cli.result import Result
from omo.context import OF_AN_AGENT, Context
from omo.doctor import OK, WARN, Probe
from omo.errors import Refused

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_790_000_000.0


class Desk:
    """A user with a home in a path with a space and a quote."""

    def __init__(self, directory: Path) -> None:
        self.home = directory / "it's home"
        self.settings = self.home / ".claude" / "settings.json"
        self.settings.parent.mkdir(parents=True)
        self.environ = {"HOME": str(self.home), "OMO_ENV_HOME": str(self.home / "data")}

    @property
    def probe(self) -> Probe:
        return Probe(Context(self.environ, str(self.home), NOW, has_terminal=True), ROOT, sys.executable)

    def fix(self, *, remove: bool = False, agreed: bool = True) -> Result:
        return fix_statusline(self.probe, remove=remove, agreed=agreed)

    def write(self, values: Any) -> str:
        text = values if isinstance(values, str) else json.dumps(values, indent=4)
        self.settings.write_text(text, encoding="utf-8")
        return text

    def command(self) -> str:
        return str(json.loads(self.settings.read_text(encoding="utf-8"))["statusLine"]["command"])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_nothing_is_written_that_nobody_agreed_to(desk: Desk) -> None:
    before = desk.write({"model": "opus"})
    result = desk.fix(agreed=False)
    assert (result.exit_code, result.data["written"]) == (3, False)
    assert '+  "statusLine": {' in result.text
    assert desk.settings.read_text() == before
    assert not (desk.home / "data").exists()


def test_it_is_put_into_the_settings_and_taken_out_again(desk: Desk) -> None:
    assert statusline.status_line(desk.probe).result == OK
    desk.fix()
    assert statusline.status_line(desk.probe).seen == f"in {desk.settings}"
    assert desk.fix().text == f"{desk.settings} is so already."
    desk.fix(remove=True)
    assert json.loads(desk.settings.read_text()) == {}


@pytest.mark.parametrize("theirs", ["echo theirs", "cat >/dev/null; echo theirs # done", "echo 'theirs'"])
def test_another_status_line_stays_and_comes_first(desk: Desk, theirs: str) -> None:
    old = {"model": "opus", "statusLine": {"type": "command", "command": theirs, "padding": 0}}
    desk.write(old)
    desk.fix()
    ours = desk.home / "data" / "statusline.sh"
    ours.write_text('read -r first; echo "ours saw $first"\n')
    done = subprocess.run(["sh", "-c", desk.command()], input='{"a": 1}\n', capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ('theirs\nours saw {"a": 1}\n', "")
    desk.fix(remove=True)
    assert json.loads(desk.settings.read_text()) == old


def test_after_the_plugin_is_gone_the_line_is_empty_not_an_error(desk: Desk) -> None:
    desk.fix()
    for gone in (desk.home / "data" / "root", desk.home / "data" / "statusline.sh"):
        gone.unlink()
        done = subprocess.run(["sh", "-c", desk.command()], input="{}", capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")
    assert statusline.status_line(desk.probe).result == WARN


def test_settings_that_cannot_be_read_are_left_alone(desk: Desk) -> None:
    before = desk.write('{"model": // mine\n "opus"}')
    with pytest.raises(Refused, match="left alone"):
        desk.fix()
    assert desk.settings.read_text() == before


def test_what_changed_between_showing_and_writing_is_not_overwritten(desk: Desk) -> None:
    desk.write({"model": "opus"})
    change = statusline.plan_status_line(desk.probe, remove=False)
    newer = desk.write({"model": "sonnet"})
    with pytest.raises(Refused, match="changed meanwhile"):
        statusline.change_status_line(desk.probe, change, remove=False)
    assert desk.settings.read_text() == newer


def test_a_linked_settings_file_stays_a_link_with_the_rights_it_had(desk: Desk) -> None:
    real = desk.home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    desk.settings.symlink_to(real)
    desk.fix()
    assert desk.settings.is_symlink()
    assert "statusLine" in json.loads(real.read_text())
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("variable", OF_AN_AGENT)
def test_an_agent_changes_no_settings_whichever_variable_it_forgot(desk: Desk, variable: str) -> None:
    desk.environ[variable] = "1"
    with pytest.raises(Refused) as refused:
        desk.fix()
    assert "for the user" in refused.value.message
    assert not desk.settings.exists()


def test_a_line_edited_since_is_not_guessed_at(desk: Desk) -> None:
    desk.fix()
    desk.write({"statusLine": {"type": "command", "command": f"date; {statusline.status_line_command(desk.probe)}"}})
    with pytest.raises(Refused, match="was changed since"):
        desk.fix(remove=True)
