"""The status line in the client's own terminal, put there by `omo setup statusline`."""

from __future__ import annotations

import json

import pytest

from omo.cli import setup
from omo.context import Context
from tests.e2e.conftest import Stage
from tests.e2e.scripted_model import say
from tests.e2e.test_interactive import only_session, start

pytestmark = pytest.mark.client

SEEN = "seen.json"


def below_the_prompt(screen: str) -> list[str]:
    """The lines under the input box: the status line, then what the client says of itself."""
    lines = screen.rpartition("─\n")[2].splitlines()
    return [line.strip() for line in lines if line.strip()]


def test_it_appears_with_ulw_and_is_gone_with_the_release(stage: Stage) -> None:
    theirs = stage.home / ".claude" / "settings.json"
    command = f"tee -a '{stage.project / SEEN}' >/dev/null; echo mine"
    theirs.write_text(json.dumps({"statusLine": {"type": "command", "command": command}}), "utf-8")
    environ = {"HOME": str(stage.home), "OMO_ENV_HOME": str(stage.data)}
    assert stage.plugin is not None
    here = setup.Installation(Context(environ, str(stage.project), 0.0, has_terminal=True), stage.plugin)
    for step in setup.status_line_steps(here):
        step.make()

    terminal, held = start(stage, say("Ultrawork is on: I continue."), say("Nothing more."))
    terminal.wait_for(lambda screen: below_the_prompt(screen)[:2] == ["mine", "omo ulw"])
    held.set()
    terminal.wait_for("ended, not proven")
    stage.model.script(say("Hello."))
    terminal.submit("hello")
    terminal.wait_for(lambda screen: "Hello." in screen and below_the_prompt(screen)[:1] == ["mine"])
    terminal.wait_for(lambda screen: "omo ulw" not in below_the_prompt(screen))
    sent = (stage.project / SEEN).read_text("utf-8")
    assert only_session(stage) in sent
    assert '"project_dir"' in sent
