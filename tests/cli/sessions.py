"""What several tests ask of a session, and do to its row as a hook would."""

from __future__ import annotations

from tests.project import Project

OF_ANOTHER = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "other"}


def next_stop(project: Project, session: str = "") -> str:
    """The rule that the next Stop would be decided by."""
    asked = project.user("ulw", "status", "--session", session or project.session, "--json")
    rule: str = asked.json["nextStop"]["rule"]
    return rule


def use_blocks(project: Project, number: int) -> None:
    """So many Stops were sent back."""
    project.change_row(lambda row: {**row, "ulw": {**row["ulw"], "stopBlocks": number}})
