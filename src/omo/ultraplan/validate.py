"""Every rule a plan has to keep, in one run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from omo.ultraplan import command_rules, order_rules, path_rules, pattern_rules, step_rules
from omo.ultraplan.document import STRICT_SINCE, Defect, Document
from omo.ultraplan.legacy import synthesise

# What no plan of any age may have: it cannot be carried out at all, or must not be.
ALWAYS = frozenset({"no-steps", "steps", "step-repeated", "version", "command", "length"})


def validate(document: Document, root: Path) -> list[Defect]:
    """By line. What refuses a plan of 1.7 only advises on an older one."""
    whole = synthesise(document)
    found = [
        *document.defects,
        *_version(document),
        *order_rules.check(document),
        *step_rules.check(document),
        *command_rules.check(document, root),
        *pattern_rules.check(whole),
        *path_rules.check(whole, root),
    ]
    told = [_advised(defect) for defect in found] if document.is_legacy else found
    return sorted(dict.fromkeys(told), key=lambda defect: (defect.is_advisory, defect.line))


def refusing(found: list[Defect]) -> list[Defect]:
    return [defect for defect in found if not defect.is_advisory]


def _advised(defect: Defect) -> Defect:
    return defect if defect.code in ALWAYS else replace(defect, is_advisory=True)


def _version(document: Document) -> list[Defect]:
    ours = ".".join(map(str, STRICT_SINCE))
    version = document.version
    if version is None and any(step.manifest for step in document.steps) and not document.is_legacy_synthesis:
        message = f"there are manifests but no version; write `plan_version: {ours}` below the title"
        return [Defect(1, "version", message)]
    if version is None or version < STRICT_SINCE:
        said = "no plan_version" if version is None else f"plan_version {'.'.join(map(str, version))}"
        message = f"{said}: an older plan, so manifests are made up from Files and Checkpoint, and prove less"
        return [Defect(0, "legacy", message, is_advisory=True)]
    shown = ".".join(map(str, version))
    if version[0] > STRICT_SINCE[0]:
        return [Defect(1, "version", f"plan_version {shown} is newer than this omo knows ({ours}); update omo")]
    if version[:2] > STRICT_SINCE:
        message = f"plan_version {shown} is newer than {ours} and read as that; what is new in it is not checked"
        return [Defect(1, "version-newer", message, is_advisory=True)]
    return []
