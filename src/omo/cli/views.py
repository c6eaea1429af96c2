"""How one session looks in a few lines; the facts are the resolver's."""

from __future__ import annotations

from omo.cli.result import Result
from omo.context import Context
from omo.shown import clip
from omo.views import phrases, project
from omo.work.status import Item


def session_view(context: Context, name: str) -> Result:
    one = project.look_at(context, name)
    rule, blocks = one.brief.rule, one.brief.breakers[0]
    lines = [f"session {clip(name, phrases.LONGEST_NAME)}: {_mode(one)}"]
    if one.is_live:
        lines.append(f"  blocks   {blocks.used} of {blocks.most}")
    for view in one.works or []:
        if view.kind != "ulw" and phrases.progress(view):
            lines.append(f"  {view.unit:8} {phrases.progress(view)} done: {view.headline}")
        lines += [
            f"  gate     {item.id}: {_stands(item)} [{item.notes[-1]}]" for item in view.items if view.kind == "ulw"
        ]
    lines += [f"  problem  {said}" for said in phrases.problems(one)]
    lines.append(f"  Stop now would be {'blocked' if rule.blocks else 'allowed'}: {rule.name}, {rule.why}")
    return Result(one.data, "\n".join(lines))


def _stands(item: Item) -> str:
    """What it said last; that it said so of other files, or in a ledger nobody can believe, is part of that."""
    return f"{item.status}, stale" if item.mark == "stale" else item.status


def _mode(one: project.SessionView) -> str:
    """Which work, and how it is; ultrawork stands for all of them where none is known."""
    told = phrases.headline(one)
    return f"ultrawork {told}" if told == one.brief.mode else told
