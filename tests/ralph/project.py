"""A git project with a ralph run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from omo.engine.flow import Flow
from omo.engine.runs import kind_of
from omo.workflows.ralph.flow import FLOW
from tests.engine.project import JUDGE as JUDGE
from tests.engine.project import Judged as Judged
from tests.engine.project import Project as EngineProject
from tests.engine.project import answer as answer
from tests.engine.project import asked_as, made_as
from tests.engine.project import criterion as criterion
from tests.engine.project import judged_criterion as judged_criterion
from tests.engine.project import question as question
from tests.engine.project import refused as refused
from tests.engine.project import reply as reply

RALPH = kind_of(FLOW)


@dataclass
class Project(EngineProject):
    flow: ClassVar[Flow] = FLOW


def make_project(tmp_path: Path) -> Project:
    return made_as(Project, tmp_path)


def asked(tmp_path: Path, *criteria: Any, **options: Any) -> Project:
    return asked_as(Project, tmp_path, *criteria, **options)
