"""`omo ulw done`, from top to bottom: load, look, judge, record. What the user then reads is in `end.py`."""

from __future__ import annotations

import os

from omo import globs
from omo.clock import stamp
from omo.context import Context
from omo.errors import Refused
from omo.state import paths, runtime
from omo.state.ledger import MOST_DAMAGE
from omo.state.rows import EMPTY
from omo.text import clip
from omo.work import bound, damage, gate_runner, gates, naming, outcome, requests, room, session
from omo.work.gates import Gate, SessionGates
from omo.workflows.ultrawork.end import Finish, WaitsForUser
from omo.workflows.ultrawork.prove import Proof, Prover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Outcome, SessionRow

TRIES = 5


def judge(context: Context, name: str, because: str = "", skipping: str = "") -> Outcome:
    """End the run of a session, and return how it ended. Refused if it may not end.

    Gates run longer than a hook waits for the lock, so they run before it is taken. If the session went on meanwhile,
    all is decided anew: the user may have said stop, allowed something or typed a task.
    """
    pinned = gate_runner.load(context, name)
    prover = Prover(context, pinned, makes=not because and not skipping, runs_gates=not skipping)
    for _ in range(TRIES):
        _require_on(context, pinned)
        proof = prover.proof()
        if not because and proof.look.changed == {}:
            _require_here(context)
        try:
            ended = _outcome(prover, proof, because, skipping)
        except WaitsForUser as waiting:
            raise waits_for_user(pinned, waiting.gates) from None
        except Refused as refusal:
            if _record_refusal(context, pinned, proof, refusal):
                raise
        else:
            if _record_end(context, pinned, proof, ended):
                return ended
        pinned.load()
    raise Refused(f"session {name} changed while the gates ran", fix="omo ulw done, when nothing else runs in it")


def require_proof(context: Context, name: str) -> None:
    """Raise what `omo ulw done` would be refused with, for work that stands still."""
    pinned = gate_runner.load(context, name)
    prover = Prover(context, pinned, makes=True)
    _outcome(prover, prover.proof(), "", "")


# Load


def _require_on(context: Context, pinned: SessionGates) -> None:
    """Refuse unless plain ultrawork is on and alone. Its run ends if the ledger was damaged a second time."""
    if pinned.row is None or not runtime.is_live(pinned.row):
        raise Refused(f"ultrawork is not on in session {pinned.session}", fix="omo next")
    _refuse_with_other_work(pinned.row)
    armed_at = str(pinned.row["ulw"].get("armedAt"))
    if pinned.known.repairs and damage.of_session(pinned.row, pinned.rows, armed_at) >= MOST_DAMAGE:
        raise _ended_by_damage(context, pinned)


def _ended_by_damage(context: Context, pinned: SessionGates) -> Refused:
    """End the run, and return the refusal that says so."""
    why = "the ledger of the session was damaged a second time"
    ended = outcome.not_proven(why)

    def decide(row: SessionRow | None) -> runtime.Change:
        event: SessionEvent = {"kind": "done", "run": session.run_of(row), "outcome": ended}
        return runtime.Change(None, session.finish(row or EMPTY, ended, at="", files={}), [event])

    context.change(pinned.session, decide)
    return Refused(f"the run has ended: {why}", fix="end your turn; the user may type ulw to begin anew")


def _refuse_with_other_work(row: SessionRow) -> None:
    """Plain ultrawork cannot end what else the session holds. What was given up holds nothing, and neither does what is
    paused, of which the user knows."""
    others = room.runs(row, *room.GOING)
    if others:
        raise Refused(
            "other work of this session is open: " + naming.listed(others),
            fix=f"its own command ends it; next: {clip(str(others[0][1].get('next') or 'omo status'), 200)}",
        )


# Judge


def _require_here(context: Context) -> None:
    """Nothing was changed where the run is on: the work of an agent that stands in another worktree is not there."""
    here, root = os.path.realpath(context.cwd), os.path.realpath(context.root)
    around = [other for other in (root, *paths.worktrees(root)[1:]) if globs.is_inside(other, here)]
    nearest = max(around, key=len, default=root)  # one may lie in another
    if nearest != root:
        raise Refused(
            f"no file was changed in {context.root}, where the run is on, and this is {nearest}",
            fix="bring the work there, as with git merge, then omo ulw done",
        )


def _outcome(prover: Prover, proof: Proof, because: str, skipping: str) -> Outcome:
    pinned, row = prover.pinned, prover.pinned.row
    unseen: list[str] = []
    if because:  # the agent's word is handed on to the user, so what it cites is looked at
        from omo.work.citations import require_cited
        from omo.work.run import caller_of

        caller = caller_of(prover.context, pinned.session)
        unseen = require_cited(caller, "--because", [because], gates.commands_of(pinned.known))
    typed = requests.rows_of_run(pinned.rows, session.KIND, session.run_of(row) or "")
    began_with = str(typed[0]["text"]) if len(typed) > 1 else ""
    armed_at = str(row["ulw"].get("armedAt") or "") if row is not None else ""
    return Finish(proof, prover.other_gates, armed_at, because, skipping, unseen, began_with, typed).outcome()


def waits_for_user(pinned: SessionGates, waiting: list[Gate]) -> Refused:
    """Have the session wait until the user lets these gates through, and return the refusal that says so."""
    names = [gate.name for gate in waiting]
    why = f"{', '.join(names)}: {waiting[0].status}, pinned by you; the agent asks to finish all the same"
    question = f"/omo:allow {' '.join(names)}?"
    pinned.change(
        lambda _: (None, [{"kind": "waiting", "gates": names}]),
        after=lambda _, row: session.suspend(row, why=why, question=question),
    )
    return Refused(
        f"the user pinned {', '.join(names)}, and only they can let it through; the work waits for them",
        fix=f"tell the user what fails and stop; /omo:allow {' '.join(names)} lets it through",
    )


# Record: False if the session went on meanwhile, and nothing was written


def _record_end(context: Context, pinned: SessionGates, proof: Proof, ended: Outcome) -> bool:
    files = bound.files_of_end(context.root, pinned.rows, proof.whole)

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or not runtime.is_live(row) or not _is_of_now(pinned, proof, row):
            return runtime.Change(False)
        after = session.finish(row, ended, at=stamp(context.now), files=files)
        event: SessionEvent = {"kind": "done", "run": session.run_of(row), "outcome": ended, "tree": proof.look.tree}
        return runtime.Change(True, after, [event])

    return bool(context.change(pinned.session, decide))


def _is_of_now(pinned: SessionGates, proof: Proof, row: SessionRow) -> bool:
    return proof.gates is pinned.known and pinned.is_as_read(row)


def _record_refusal(context: Context, pinned: SessionGates, proof: Proof, refusal: Refused) -> bool:
    """Note the refusal in the row, so that Stop, status and `omo next` do not lead back to it."""

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or not session.is_ultrawork_on(row):
            return runtime.Change(True)
        if not _is_of_now(pinned, proof, row):
            return runtime.Change(False)
        return runtime.Change(True, session.refused(row, refusal.message, refusal.fix))

    return bool(context.change(pinned.session, decide))
