"""`omo verify claim`: exit codes, what it prints, and what it records."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from omo.cli import verify_claim
from omo.cli.main import Parser
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.state import paths
from omo.state.journal import Journal
from omo.verify import claims
from tests.cli.conftest import Shell


@dataclass
class Project:
    root: Path

    def claim(self, *argv: str, agent: bool = True) -> Result:
        parser = Parser(prog="omo")
        verify_claim.register(parser.add_subparsers(required=True))
        arguments: argparse.Namespace = parser.parse_args(["claim", *argv])
        context = Context({}, str(self.root), 1_771_780_801.0, has_terminal=not agent)
        result: Result = arguments.run(arguments, context)
        json.dumps(result.data)
        return result

    @property
    def state(self) -> str:
        return str(self.root / ".sisyphus" / "cc-omo")

    def rows(self) -> list[dict[str, Any]]:
        return claims.recorded(self.state)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "config.yaml").write_text("debug: true\n")
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("text", "code", "verdict"),
    [
        ("all is well", 0, "nothing-to-gate"),
        ("config.yaml contains `debug: true`", 0, "holds"),
        ("config.yaml contains `debug: false`", 3, "contradicted"),
        ("`debu` does not exist", 3, "insufficient"),
        ("The redis service is down", 4, "not-probeable"),
    ],
)
def test_the_exit_code_is_the_verdict(project: Project, text: str, code: int, verdict: str) -> None:
    result = project.claim(text)
    assert (result.exit_code, result.data["verdict"], result.data["override"]) == (code, verdict, None)


def test_it_prints_which_gate_what_it_ran_and_what_it_saw(project: Project) -> None:
    result = project.claim("config.yaml contains `debug: false`")
    assert result.text.splitlines() == [
        "contradicted  positive-state: config.yaml contains `debug: false`",
        "    ran  read config.yaml",
        '    saw  12 bytes, 1 lines; "debug: false": not there',
        "    why  config.yaml was read now and does not hold it",
    ]
    (gate,) = result.data["gates"]
    assert set(gate) == {"gate", "trigger", "ran", "saw", "holds", "reason", "outcome"}
    assert gate["holds"] is False


def test_an_override_lets_it_stand_and_is_recorded_as_whose_it_is(project: Project) -> None:
    reason = "the release job writes it"
    result = project.claim("dist/a.whl exists", "--goal", "G1", "--override", reason)
    assert (result.exit_code, result.data["verdict"]) == (0, "contradicted")
    assert result.data["override"] == {"reason": reason, "by": "agent"}
    assert result.text.endswith(f"overridden by the agent: {reason}")
    project.claim("The redis service is down", "--override", reason, agent=False)
    assert [(row["kind"], row["actor"], row["goal"], row["override"]) for row in project.rows()] == [
        ("claim", "agent", "G1", reason),
        ("claim", "user", None, reason),
    ]
    assert Journal(paths.verify_dir(project.state) + "/claims", project.state).problems() == []


def test_nothing_to_override_is_said_and_not_recorded_as_one(project: Project) -> None:
    result = project.claim("config.yaml exists", "--override", "better safe than sorry")
    assert (result.exit_code, result.data["override"], result.notes) == (0, None, ["there was nothing to override"])
    assert [row["override"] for row in project.rows()] == [None]


def test_a_text_without_a_claim_leaves_no_trace(project: Project) -> None:
    assert "Nothing to gate" in project.claim("all is well").text
    assert not Path(project.state).exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["config.yaml exists", "--override", "no"],
        ["config.yaml exists", "--override", "         x"],
        [" "],
        ["x" * 9000],
        ["config.yaml exists", "--evidence", "I saw it, believe me"],
    ],
)
def test_bad_input_is_refused(project: Project, argv: list[str]) -> None:
    with pytest.raises(BadInput):
        project.claim(*argv)
    assert project.rows() == []


def test_file_and_field_say_where_for_a_claim_that_does_not(project: Project) -> None:
    (project.root / "a.jsonl").write_text('{"meta": {"tag": "a"}}\n')
    result = project.claim("0 records have `tag` = b", "--file", "a.jsonl", "--field", "meta.tag")
    assert (result.exit_code, result.data["verdict"]) == (0, "holds")


def test_an_override_is_shown_where_the_project_is_summed_up(shell: Shell) -> None:
    shell.write("config.yaml", "port: 8080\n")
    claim = "config.yaml contains 'port: 9090'"
    assert shell.agent("verify", "claim", claim).code == 3
    assert shell.agent("verify", "claim", claim, "--override", "the port is set at deploy time").code == 0
    assert "override by the agent: config.yaml contains 'port: 9090'" in shell.agent("status").out
