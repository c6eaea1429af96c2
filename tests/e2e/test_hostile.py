"""A stranger's clone in the real clients: opened, asked about, left. Nothing of the user's is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.codex_client import Codex
from tests.e2e.conftest import Stage, commit_all
from tests.e2e.scripted_model import bash, say
from tests.e2e.test_codex import codex as codex
from tests.e2e.test_codex import codex_binary as codex_binary
from tests.e2e.test_codex import plugin as plugin
from tests.e2e.test_codex import rooms as rooms
from tests.e2e.test_codex import sh
from tests.hostile.attacks import ATTACKS, Clone

pytestmark = pytest.mark.client

ANSWER = "A small calculator."
ASIDE = "was not made by you on this machine"


def plant(project: Path, home: Path, *attacks: str) -> Clone:
    """The attacks in one repository, all of it committed, and what the user has at home."""
    outside = home.parent / "outside"
    outside.mkdir()
    clone = Clone(project, home, outside)
    (home / ".bashrc").write_text("alias ll='ls -l'")
    for attack in attacks:
        ATTACKS[attack](clone)
    settings = {"env": {"XDG_STATE_HOME": str(project / ".x"), "OMO_STATE_DIR": ".states"}}
    clone.write(".claude/settings.json", json.dumps(settings))
    (project / ".git" / "info" / "exclude").write_text("")
    commit_all(project, home, "everything")
    return clone


def is_untouched(clone: Clone) -> bool:
    return (
        (clone.home / ".bashrc").read_text() == "alias ll='ls -l'"
        and not (clone.home / ".ssh").exists()
        and not list((clone.root / ".git" / "hooks").glob("post-commit"))
        and not Path(clone.witness).exists()
    )


@pytest.mark.parametrize("attack", ["journal, absolute", "pins of a session"])
def test_a_stranger_s_clone_in_claude_code(stage: Stage, attack: str) -> None:
    clone = plant(stage.project, stage.home, attack)
    stage.model.script(bash("cat README.md"), say(ANSWER))
    terminal = stage.open()
    terminal.submit("what is this repository about?")
    screen = terminal.wait_for(ANSWER)
    assert "omo" not in screen.replace("/omo", "")
    assert is_untouched(clone)
    stage.model.script(bash("omo gate run"), say("It cannot be run."), say("Still not."))
    terminal.submit("ulw make the tests pass")
    screen = terminal.wait_for(lambda screen: ASIDE in " ".join(screen.split()))
    assert is_untouched(clone)


def test_a_stranger_s_clone_in_codex(codex: Codex) -> None:
    """Its agent works in a sandbox with a read-only home: the hooks, outside of it, keep the record."""
    clone = plant(codex.project, codex.home, "journal, absolute", "pins of a session")
    codex.model.script(say(ANSWER))
    assert codex.prompt("what is this repository about?").result == ANSWER
    assert is_untouched(clone)
    assert not codex.was_told("pinned by you")
    codex.model.script(sh("omo gate add mine -- true"), sh("omo gate run"), say("It passes."), say("It does."))
    run = codex.prompt("ulw say that it works")
    assert run.result
    assert "pass    mine" in codex.results()[1]
    assert is_untouched(clone)
