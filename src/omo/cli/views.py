"""How one session looks in a few lines; the facts are the resolver's."""

from __future__ import annotations

from omo.cli.result import Result
from omo.context import Context
from omo.text import clip
from omo.views import phrases, project


def session_view(context: Context, name: str) -> Result:
    view = project.look_at(context, name)
    rule, blocks = view.brief.rule, view.brief.breakers[0]
    headline = phrases.headline(view)
    if headline == view.brief.mode:
        headline = f"ultrawork {headline}"  # it stands for all of them where none is known
    lines = [f"session {clip(name, phrases.LONGEST_NAME)}: {headline}"]
    if view.is_live:
        lines.append(f"  blocks   {blocks.used} of {blocks.most}")
    for work in view.works or []:
        if work.kind != "ulw" and phrases.progress(work):
            lines.append(f"  {work.unit:8} {phrases.progress(work)} done: {work.headline}")
        for item in work.items if work.kind == "ulw" else ():
            # That a gate passed on other files, or says so in a ledger nobody can believe, is part of its status.
            stale = ", stale" if item.mark == "stale" else ""
            lines.append(f"  gate     {item.id}: {item.status}{stale} [{item.notes[-1]}]")
    lines += [f"  problem  {problem}" for problem in phrases.problems(view)]
    lines.append(f"  Stop now would be {'blocked' if rule.blocks else 'allowed'}: {rule.name}, {rule.why}")
    return Result(view.data, "\n".join(lines))
