"""Settings: what is in force, from where, and what the keyword does."""

from __future__ import annotations

from omo import settings
from omo.doctor.finding import Finding, Probe, ok, warn

KEYWORD = next(knob for knob in settings.KNOBS if knob.name == "keyword")
TRY = "omo explain prompt TEXT says what a prompt would do and why"


def in_force(probe: Probe) -> Finding:
    found = probe.settings
    values = [f"{name} = {value} ({found.origins[name]})" for name, value in found.values.items()]
    if found.problems:
        seen = f"{len(found.problems)} settings were refused"
        return warn(seen, "correct or remove them where they are set", [*found.problems, *values])
    return ok("every setting is usable", values)


def keyword(probe: Probe) -> Finding:
    """The answer to "I typed ulw and nothing happened"."""
    if settings.is_disabled(probe.environ) or settings.is_skipped(probe.environ, "user-prompt-submit"):
        return warn("no prompt is read, since a switch turns the hook off", "unset OMO_DISABLE and OMO_SKIP_HOOKS")
    mode = probe.settings.keyword
    return ok(f"{mode} ({probe.settings.origins['keyword']}); {TRY}", [KEYWORD.what])
