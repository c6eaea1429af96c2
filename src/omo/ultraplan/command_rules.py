"""Verify and Checkpoint as the fence will meet them: what it would deny then is told before the work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from omo.ultraplan.document import Defect, Document, Fence, Step
from omo.ultraplan.sessions import touch_of
from omo.ultraplan.shell_text import shell_texts
from omo.ultraplan.steps import field_lines
from omo.ultrawork import fence as fences
from omo.ultrawork.fence.commands import refusals, violations


def check(document: Document, root: Path) -> Iterator[Defect]:
    for step in document.steps:
        lines = field_lines(step)
        limits = session_fence(document, step)
        fence = fences.fence_for(limits.touch, limits.never, str(root))
        for key, label, value in (("verify", "Verify", step.verify), ("checkpoint", "Checkpoint", step.checkpoint)):
            for text in shell_texts(value):
                yield from _judged(text, fence, str(root), lines.get(key, step.line), f"step {step.number}: {label}")


def session_fence(document: Document, step: Step) -> Fence:
    """The fence that is open when the step is carried out: the session's lists, else the plan's, else its files."""
    group = next((one for one in document.groups if step.number in one.steps), None)
    own, plans = (group and group.fence) or Fence(), document.fence or Fence()
    together = [one for one in document.steps if one.number in (group.steps if group else (step.number,))]
    return Fence(own.touch or plans.touch or touch_of(together), (*plans.never, *own.never))


def _judged(text: str, fence: fences.Fence, root: str, line: int, where: str) -> Iterator[Defect]:
    never = violations(text)
    for reason in never:
        yield Defect(line, "command", f"{where} must not be run: {reason}; it would be escalated")
    # What is never run would be told twice: the same rules are part of the fence.
    for reason in refusals(text, fence, root) if not never else ():
        message = f"{where} would be denied: {reason.removesuffix(fences.REMEDY).strip()} Mend the command or Touch"
        yield Defect(line, "fence", message)
