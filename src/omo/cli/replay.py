"""`omo replay TRANSCRIPT`: a saved transcript through the hooks, and what each of them decides."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from omo import settings
from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.shown import clip, counted

if TYPE_CHECKING:
    from omo.replay.decision import Decision
    from omo.replay.player import Player
    from omo.replay.transcript import Unread

KINDS = ("prompt", "tool", "stop", "subagent", "start", "omo")
LONGEST_SHOWN = 200


def register(commands: options.Commands) -> None:
    about = "run a saved transcript through the hooks and print each decision; nothing in it is executed"
    parser = options.command(commands, "replay", about, run, session=False)
    parser.add_argument("transcript", metavar="TRANSCRIPT", help="a *.jsonl below ~/.claude/projects")
    parser.add_argument("--only", metavar="KINDS", help=f"show only these, with commas: {', '.join(KINDS)}")
    parser.add_argument(
        "--settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="decide under this setting instead of the one in force here; may be repeated",
    )


def run(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.replay import stage, transcript
    from omo.replay.player import Player
    from omo.replay.scratch import scratch

    only, given = _only(arguments.only), _settings(arguments.settings)
    unread = transcript.Unread()
    with scratch(context.now) as directory:
        player = Player(stage.build(directory, context.settings, given, context.environ))
        if not _play(player, arguments.transcript, unread):
            raise _no_transcript(arguments.transcript, unread)
        return _result(player, unread, only, arguments.transcript)


def _play(player: Player, path: str, unread: Unread) -> bool:
    """Whether there was one row of a transcript in it: each of these names its type."""
    from omo.replay import transcript

    is_one = False
    for line in transcript.read(path, unread):
        is_one = is_one or bool(line.text("type"))
        try:
            player.play(line)
        except RecursionError:
            unread.add(line.file, line.number, "nested too deeply")
        if player.is_full:
            break
    else:
        player.finish()
    return is_one


def _no_transcript(path: str, unread: Unread) -> BadInput:
    what = f"{counted(unread.count, 'line')} of it could not be read" if unread.count else "it has no row of one"
    return BadInput(
        f"{clip(path, 200)} is no transcript: {what}",
        fix="name a transcript file, *.jsonl below ~/.claude/projects",
        defects=list(unread.first[:3]),
    )


def _only(text: str | None) -> tuple[str, ...]:
    chosen = [one.strip() for one in text.split(",")] if text is not None else list(KINDS)
    if unknown := [one for one in chosen if one not in KINDS]:
        raise BadInput(f"--only {clip(unknown[0], 40)!r} is no kind of event", fix=f"there are {', '.join(KINDS)}")
    return tuple(chosen)


def _settings(given: list[str]) -> dict[str, Any]:
    knobs = {knob.name: knob for knob in settings.KNOBS}
    found = {}
    for one in given:
        name, _, value = one.partition("=")
        if name not in knobs:
            raise BadInput(f"--settings {clip(one, 80)!r} names no setting", fix=f"there are {', '.join(knobs)}")
        try:
            found[name] = knobs[name].parse(value)
        except settings.Refusal as why:
            raise BadInput(f"--settings {clip(one, 80)!r}: {value!r} {why}", fix=knobs[name].what) from None
    return found


def _result(player: Player, unread: Unread, only: tuple[str, ...], path: str) -> Result:
    shown = [one for one in player.decisions if one.kind in only]
    compared = [one.compared for one in shown]
    same, differs = sum(one.startswith("same") for one in compared), compared.count("differs")
    failures = player.stage.failures()
    data = {
        "transcript": path,
        "session": clip(player.stage.session, 100),
        "settings": {name: player.stage.settings.values[name] for name in player.stage.settings.values},
        "decisions": [one.data for one in shown],
        "same": same,
        "differs": differs,
        "unread": {"count": unread.count, "first": unread.first},
        "failures": [clip(one, 300) for one in failures],
        "cut": player.is_full,
    }
    notes = [f"could not be read: {one}" for one in unread.first]
    notes += [f"a hook failed, and failed open: {clip(one, 300)}" for one in failures[:5]]
    notes += [f"only the first {len(player.decisions)} decisions are shown"] if player.is_full else []
    end = f"{counted(len(shown), 'decision')}: {same} as then, {differs} otherwise, {_blocks(shown)}"
    end += f"; {counted(unread.count, 'line')} could not be read" if unread.count else ""
    return Result(data, "\n".join([line for one in shown for line in _lines(one)] + [end]), notes=notes)


def _blocks(shown: list[Decision]) -> str:
    blocks = sum(one.kind == "stop" and one.decision == "block" for one in shown)
    denials = sum(one.decision in ("deny", "ask") for one in shown)
    return f"{counted(blocks, 'Stop')} blocked, {counted(denials, 'call')} denied"


def _lines(one: Decision) -> list[str]:
    told = one.data
    then = f"  [{told['compared']}]" if told["compared"] else ""
    if told["compared"] == "differs":
        then = f"  [differs: then {told['then']}]"
    rule = f" {told['rule']}" if told["rule"] else ""
    lines = [f"{told['at'][:19]} {told['event']:8} {told['decision']}{rule}  {clip(one.what, 100)}{then}"]
    lines += [f"    | {clip(one.text, LONGEST_SHOWN)}"] if one.text else []
    return lines + [f"    - {clip(note, LONGEST_SHOWN)}" for note in one.notes]
