"""`omo explain`: which rule decided, and why. The texts come from the tables the hooks decide by."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from omo import host
from omo.cli import options, views
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.ultrawork import keyword, stop


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "explain", "which rule decides: prompt TEXT, stop")
    prompt_parser = options.command(
        verbs, "prompt", "would this prompt turn ultrawork on, and why", prompt, session=False
    )
    prompt_parser.add_argument("text", metavar="TEXT", nargs="?", help="the prompt; - or nothing reads stdin")
    stop_parser = options.command(verbs, "stop", "what a Stop would do now, rule by rule", explain_stop)
    stop_parser.add_argument("--event", metavar="FILE", help="a Stop event as the host sends it; - reads stdin")


def prompt(arguments: argparse.Namespace, context: Context) -> Result:
    text = sys.stdin.read() if arguments.text in (None, "-") else arguments.text
    reading = keyword.read_prompt(text, mode=context.settings.keyword)
    data = {
        "action": reading.action,
        "rule": reading.rule,
        "why": keyword.RULES[reading.rule],
        "keyword": context.settings.keyword,
        "trail": [
            {"text": text[start:end], "at": start, "rule": rule, "why": keyword.RULES[rule]}
            for (start, end), rule in reading.trail
        ],
    }
    lines = [f"{reading.action}: {reading.rule}, {keyword.RULES[reading.rule]}"]
    lines += [
        f"  {text[start:end]!r} at {start}: {rule}, {keyword.RULES[rule]}" for (start, end), rule in reading.trail
    ]
    return Result(data, "\n".join(lines))


def explain_stop(arguments: argparse.Namespace, context: Context) -> Result:
    event = _read_event(arguments.event) if arguments.event else None
    name = event.session if event and event.session else context.session(arguments.session)
    now = views.situation(context, name, event)
    decided = stop.decide(now)
    lines = [f"Stop in session {name}: {'block' if decided is stop.BLOCK else 'allow'}"]
    for rule in (*stop.RULES, stop.BLOCK):
        lines.append(f"  {'=>' if rule is decided else '  '} {rule.name:17} {rule.why}")
        if rule is decided:
            break
    data = {
        "session": name,
        "decision": "block" if decided is stop.BLOCK else "allow",
        "rule": decided.name,
        "why": decided.why,
        "limits": now.limits,
    }
    return Result(data, "\n".join(lines))


def _read_event(path: str) -> host.Event:
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"--event {path}: {error.strerror}", fix="give a file with one JSON object") from None
    event = host.parse(raw)
    if event is None:
        raise BadInput(f"--event {path} is not a JSON object", fix="save the event as the host sends it")
    return event
