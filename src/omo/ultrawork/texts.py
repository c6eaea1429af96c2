"""What omo says. Facts first, one voice, every line bounded."""

from __future__ import annotations

from omo.shown import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

LONGEST_REASON = 600
LONGEST_INSTRUCTIONS = 3000
STOP = "/omo:stop-continuation"
NOT_PROVEN = "The work is not proven done. Go on with a new `ulw`?"

INSTRUCTIONS = f"""\
[omo] The user turned ultrawork on for this session. Begin your reply with one line that tells them:
"Ultrawork is on: I continue until the verification gates pass. {STOP} ends it."

Ultrawork means: the task is finished when its verification gates pass, not when it looks finished. Ending the turn \
early sends you back to work, at most a few times; the user can end it whenever they like.

Fit the effort to the task. A one-line fix is: change it, verify it, finish. The loop below is for work that has \
more than one part.

1. Explore. If you do not know the code yet, send 2 to 5 leaf workers at once with the Agent tool (omo:explorer \
reads this code base), each with one question, so that your own context stays small. External documentation or \
open-source examples: omo:librarian, in the foreground, because background agents have no MCP tools. Workers \
cannot start workers; do not ask them to. If you already know where to change what, skip this step.
2. Pick a slice: 1 to 3 atomic changes, and say for each how it will be verified.
3. Execute and persist: make the changes; if a plan or checklist exists, bring it up to date as you go.
4. Verify. Pin each check the task needs once (the user is asked to approve it):
     omo gate add tests -- python3 -m pytest -q
   then `omo gate run` after every slice. Fix what fails and run again. A failure that was there before you came \
is documented, not hidden: omo gate record NAME --pre-existing --evidence "what you saw"
5. Repeat from 2 until nothing of the task is open, then `omo ulw done`. It succeeds when every gate passed on \
the tree as it is now. If no gate can apply: omo ulw done --skip-verification "why none applies"

How it stays honest:
- Read the output before you call something passing; `omo gate run` records exit code, output and tree.
- Do not weaken, skip or delete a test or a gate to get a pass, and do not edit files under .sisyphus/cc-omo.
- The model in use stays the one the user chose; there is no hidden switch.
- If something outside stops you (access, a decision only the user can make), say it plainly and run
     omo ulw blocked --evidence "what is missing" [--question "what you need to know"]
  instead of going round in circles.
- The user's latest words win over everything above. Only the user can end ultrawork early: {STOP}.
"""

CANCELLED = "Ultrawork is off. Nothing will hold this session until you type ulw again."
NOTHING_TO_CANCEL = "Ultrawork is not on in this session, and stays off until you type ulw."
CANCELLED_AND_MORE = (
    "[omo] The user cancelled ultrawork with this message: nothing continues by itself any more, and no further "
    "ultrawork step is requested. Do only what the rest of the message asks."
)
WAS_CANCELLED = (
    "[omo] Before this message the user cancelled ultrawork: nothing continues by itself any more, earlier ultrawork "
    "instructions no longer apply, and no further step of that work is requested."
)
PAUSED = (
    "[omo] The user asked to stop for now: ultrawork is paused and this turn may end. Do not go on with the work, "
    'answer what they said. It resumes when they say "continue" or ulw; ' + STOP + " ends it for good."
)
CONTINUED = "[omo] Ultrawork goes on where it was. `omo ulw status` shows what is open; " + STOP + " ends it."


# How work says that it cannot go on, where it has a way of its own; omo ulw blocked is not for it then.
CANNOT_GO_ON = {
    "ultragoal": "omo ultragoal classify-blocker --classification human_blocked --evidence TEXT, then omo goal pause",
    "ultraplan": "omo plan finish --failed STEP --error TEXT --tried TEXT",
    "ralph": "omo ralph abandon REASON, which the user is told",
}


def where_things_stand(row: Json) -> str:
    """For a session that comes back from a resume or a compaction: at most a few hundred tokens."""
    work = row.get("work", {})
    states = ", ".join(f"{kind} {one.get('state')}" for kind, one in work.items()) or "ulw active"
    active = [(kind, one) for kind, one in work.items() if one.get("state") == "active"]
    waiting = "" if active else "It waits: do not go on before the user answers. "
    return (
        f"[omo] Ultrawork is still on in this session ({clip(states, 120)}). {waiting}"
        f"{clip(what_is_open(active), 400)} `omo ulw status` shows more. The user can end it with {STOP}."
    )


def instructions(problems: list[str]) -> str:
    """The block, and which settings were not used, as far as the bound allows; `omo doctor` lists them all."""
    text = INSTRUCTIONS
    for problem in problems:
        line = f"\n[omo] Tell the user that a setting was not used: {clip(problem, 160)}"
        if len(text) + len(line) < LONGEST_INSTRUCTIONS:
            text += line
    return text


def could_not(what: str, why: str) -> str:
    return f"[omo] Ultrawork could not be {what}: {clip(why, 300)}. Tell the user so in one line; omo doctor says more."


def reason_to_go_on(row: Json, active: list[tuple[str, Json]], most: int) -> str:
    """Why the turn goes on: what is open, how many blocks are left, how to stop. Never the user's prompt."""
    given = row.get("ulw", {}).get("stopBlocks", 0)
    lead = "Ultrawork active: continuing until verification gates pass or stop requested."
    way = next((CANNOT_GO_ON[kind] for kind, _ in active if kind in CANNOT_GO_ON), "omo ulw blocked --evidence TEXT")
    end = f" Block {given} of {most}. Cannot go on? {way}. The user stops this with {STOP}."
    return lead + " " + clip(what_is_open(active), LONGEST_REASON - len(lead) - len(end) - 1) + end


def what_is_open(active: list[tuple[str, Json]]) -> str:
    return " ".join(_open_work(kind, one) for kind, one in active)


def _open_work(kind: str, one: Json) -> str:
    total, left, following = one.get("total", 0), one.get("open", 0), clip(str(one.get("next") or ""), 160)
    if kind != "ulw":
        return f"{kind}: {left} of {total} open" + (f", next {following}." if following else ".")
    if not total:
        return (
            "No verification gate is pinned yet: omo gate add NAME -- COMMAND, then omo gate run; "
            'or, if none can apply, omo ulw done --skip-verification "why".'
        )
    if not left:
        return "Every gate passed when it last ran: if the task is complete, run omo ulw done, which looks at the tree."
    return f"Open gates, {left} of {total}: {following}. Fix, then omo gate run; when all pass, omo ulw done."


def release(rule: str, before: Json, after: Json, limits: Json) -> str:
    """One line for the user when the session is let go for good, or waits for them; nothing otherwise."""
    if rule == "done":
        return f"omo: the work is done: {_how_done(after)}"
    if rule == "waiting":
        return _waiting(before)
    if rule == "host-limit":
        why = next(
            (str(one.get("why", "")) for one in after.get("work", {}).values() if one.get("state") == "waiting"), ""
        )
        return f"omo: ultrawork waits: {clip(why, 200)} It goes on with your next message."
    causes = {
        "cap": f"{limits['max_stop_blocks']} blocks without verified progress",
        "cooldown": f"the agent stopped again within {limits['cooldown_seconds']:g} s of being sent back",
        "ceiling": f"the run reached {limits['max_total_blocks']} blocks or {limits['max_hours']:g} hours",
        "invalid-state": "its state file was edited into something unusable",
    }
    return f"omo: ultrawork let go: {causes[rule]}. {NOT_PROVEN}" if rule in causes else ""


def _how_done(row: Json) -> str:
    done = [one for one in row.get("work", {}).values() if one.get("state") == "done"]
    ways = [str(one.get("how") or f"{one.get('total', 0)} of {one.get('total', 0)} gates passed") for one in done]
    return clip("; ".join(ways), 200) + "."


def _waiting(row: Json) -> str:
    for one in row.get("work", {}).values():
        if one.get("told") is False:
            question = one.get("question") or "How should it go on?"
            return f"omo: ultrawork is {one['state']}: {clip(str(one.get('why', '')), 200)}. {clip(str(question), 200)}"
    return ""
