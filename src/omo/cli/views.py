"""How one session looks in a few lines; the facts are the resolver's."""

from __future__ import annotations

from omo import host
from omo.cli.result import Result
from omo.context import Context
from omo.report import project, session
from omo.state import runtime
from omo.ultrawork import stop


def situation(context: Context, name: str, event: host.Event | None = None) -> stop.Situation:
    """What the Stop hook would look at now."""
    return session.look(context.state, name, context.settings.limits, context.now, context.environ, event).now


def session_view(context: Context, name: str) -> Result:
    one = project.look_at(context, name)
    rule, blocks = one.brief.rule, one.brief.breakers[0]
    lines = [f"session {name}: ultrawork {one.brief.mode}"]
    if runtime.is_live(one.brief.row):
        lines.append(f"  blocks   {blocks.used} of {blocks.most}")
    for view in one.works or []:
        lines += [
            f"  gate     {item.id}: {item.status} [{item.notes[-1]}]" for item in view.items if view.kind == "ulw"
        ]
    lines.append(f"  Stop now would be {'blocked' if rule is stop.BLOCK else 'allowed'}: {rule.name}, {rule.why}")
    return Result(one.data, "\n".join(lines))
