"""The experiment for a workflow's own commands: on the base that its run began with, in the words of its end."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from omo import settings
from omo.proof import base, experiment, own_commands
from omo.proof.experiment import Command, Experiment, Subject
from omo.proof.run import child_environment
from omo.text import clip, listed
from omo.work.run import Caller

Row = dict[str, Any]


def subject_of(
    caller: Caller, began: Mapping[str, Any], allowed: Mapping[str, str], look: base.Look | None = None
) -> Subject:
    """`allowed` are changes that the user wants, by the digest of what they saw; `look` where there was one already."""
    return Subject(
        root=caller.root,
        state=caller.state,
        began=began,
        look=look or base.look(caller.root, dict(began)),
        environ=child_environment(os.environ),
        now=caller.now,
        minutes=settings.load(os.environ, caller.root).proof_minutes,
        allowed=allowed,
        by=caller.by,
    )


def prove(subject: Subject, command: Command) -> Experiment:
    """All three runs, for a command that passes as it is."""
    return experiment.prove(subject, command, (), lambda: experiment.run_now(subject, command))


def is_projects(subject: Subject, command: Command) -> bool:
    """Whether the project's files named the command when the run began."""
    return bool(own_commands.where(subject.root, subject.began.get("head"), command.argv, command.cwd))


def doubts(subject: Subject, commands: Sequence[Command]) -> list[str]:
    """Why commands that pass, beside somebody's judgement, need not mean that the work was done."""
    if not commands:
        return []
    if subject.look.changed == {}:
        return ["no file was changed"]
    reasons = []
    for command in commands:
        if reason := experiment.weakened(subject, command):
            reasons.append(f"{clip(' '.join(command.argv), 80)}: {reason}")
    return list(dict.fromkeys(reasons))


def allowed_notes(subject: Subject) -> list[str]:
    """What the user allowed, which lowers nothing, and is named."""
    changed = subject.look.changed or {}
    allowed = [path for path, digest in subject.allowed.items() if changed.get(path) == digest]
    return [f"changed as the user allowed: {listed(allowed)}"] if allowed else []
