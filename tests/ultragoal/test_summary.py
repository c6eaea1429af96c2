"""What hooks read of a plan: how much is open, whether the session works or waits, and what is denied."""

from __future__ import annotations

import pytest

from tests.ultragoal.project import Project, commit

SETTINGS = ".sisyphus/omo.json"


# What is denied in the client


def denied(project: Project) -> dict[str, str]:
    deny: dict[str, str] = project.tell()["deny"]
    return deny


@pytest.mark.parametrize("first", ["{}", '{"attended": false}', "rubbish", '{"attended": "x"}', "[]", "{" * 200_000])
def test_the_agent_cannot_make_the_user_attend_by_an_edit_of_the_projects_file(project: Project, first: str) -> None:
    commit(project.root, SETTINGS, first)
    project.create()
    commit(project.root, SETTINGS, '{"attended": true}')
    assert "attended" not in project.tell()
