"""How a plan session ended that passed its audit: what it did, what was let through, what proves it."""

from __future__ import annotations

from collections.abc import Sequence

from omo.engine import ends
from omo.proof import base, changes, git
from omo.proof.gate_runs import Plain, Subject
from omo.text import clip, counted, listed
from omo.work import damage, gates, outcome, proving, requests, task_documents
from omo.work.gates import Gate
from omo.work.user_pins import Held
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.critique import is_another_named
from omo.workflows.ultraplan.next_step import sessions_left, start_command
from omo.workflows.ultraplan.run import runs_of_repository, unrecorded
from omo.workflows.ultraplan.run_audit import RunStatus, audit_plan
from omo.workflows.ultraplan.verify import Verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import LetThrough, Outcome

LONGEST_WHY = 160
MOST_NAMED = 5


def outcome_of(status: RunStatus, results: Sequence[Verify], held: Held, unverified: str) -> Outcome:
    """`results` are what its Verify commands said, `held` what the user's pins did; `unverified` is why the former were
    not run, where they could have been."""
    state, count = status.state, len(status.audit.passed)
    left = sessions_left(status)
    facts = [f"plan session {state.run}: {counted(count, 'step')} passed the audit"]
    if state.before:
        facts.append(f"step {', '.join(map(str, state.before))} was done before this session")
    if state.sessions > 1:
        facts.append(f"session {state.number} of {state.sessions} of {clip(state.path, 100)}")
    if left:
        facts.append(f"next: {start_command(state).line}")
    verified, doubts = _verified(status, results)
    facts += [*verified, *held.facts]
    exceptions = [*_exceptions(status, unverified), *held.exceptions]
    if state.sessions > 1 and not left:
        whole, lost = _whole_plan(status)
        facts.append(whole)
        exceptions += lost
        gone = unrecorded(runs_of_repository(status.run.caller, state.path), state.terms.order)
        if gone:  # carried out where nobody kept what was run and fenced: git alone speaks for it
            doubts.append(f"of session {', '.join(map(str, gone))} no record is left")
    for step in status.audit.steps:
        if step.status == "skipped":  # as the plan allows: that lowers nothing, and is named
            reason = clip(state.skipped[step.step], LONGEST_WHY)
            facts.append(f"step {step.step} was skipped, as its plan allows: {reason}")
    doubts = [*_lost_of_the_task(status), *doubts]
    if not count:
        return outcome.not_proven("; ".join(facts), exceptions)
    # A gate that passes says nothing of the sessions that were not begun yet.
    if not doubts and not exceptions and not left:
        shown = _shown(status, results, held.passing)
        if shown.proof:
            not_said = [fact for fact in facts if fact not in shown.proof]  # what the user allowed is said in it
            return outcome.finished(outcome.PROVEN, [shown.proof, *not_said])
        doubts += shown.doubts
    return outcome.finished(outcome.ATTESTED, facts, doubts, exceptions)


def _lost_of_the_task(status: RunStatus) -> list[str]:
    """What is gone of the documents that the user named as what to do; the plan itself is held by its digest."""
    state, caller = status.state, status.run.caller
    planned = requests.typed(caller.events, "ultraplan")[-1:]
    asked = [*planned, *requests.rows_since(caller.events, "ultraplan", state.started_at)]
    allowed = gates.fold(caller.events, None).allowed_changes
    head = state.terms.began or state.base
    return task_documents.doubts(caller.root, asked, allowed, {"head": head, "files": {}}, but_for=state.path)


def pinned_commands(status: RunStatus) -> list[Verify]:
    """As the start pinned them; a skipped step has none."""
    skipped = [step.step for step in status.audit.steps if step.status == "skipped"]
    return [command for command in status.state.pinned if command.step not in skipped]


def _verified(status: RunStatus, results: Sequence[Verify]) -> tuple[list[str], list[str]]:
    """What the plan's own Verify commands show, and what is in doubt of it."""
    facts, doubts = [], []
    passing = [command for command in results if command.result == verify.PASS]
    not_run = [str(command) for command in results if command.result == verify.NOT_RUN]
    if passing:
        facts.append(f"{counted(len(passing), 'Verify command')} passed, which the plan's author chose")
        subject = _subject(status)
        facts += proving.allowed_notes(subject)
        doubts += proving.doubts(subject, [Plain(command.argv, timeout=verify.SECONDS) for command in passing])
    if not_run:
        doubts.append(f"not run by omo: {listed(not_run, MOST_NAMED, '; ')}")
    return facts, doubts


def _exceptions(status: RunStatus, unverified: str) -> list[LetThrough]:
    """Verify commands that could have been run, and what is changed where the session had no business, and stays."""
    state, audit = status.state, status.audit
    exceptions = [*ends.exceptions(state), *damage.exceptions(status.run.caller, state.started_at)]
    for command in pinned_commands(status):
        if command.argv and unverified:
            what = f"Verify of step {command.step} was not run: {clip(command.text, 80)}"
            exceptions.append(outcome.exception(what, status.run.caller.by, clip(unverified, LONGEST_WHY)))
    if audit.left_alone:
        paths = clip(", ".join(violation.path for violation in audit.left_alone), LONGEST_WHY)
        why = "no step's commit has it, and the fence saw no call that writes it"
        exceptions.append(outcome.exception(f"changed outside the fence: {paths}", "user, or a script", why))
    if audit.allowed:
        paths = clip(", ".join(audit.allowed), LONGEST_WHY)
        exceptions.append(outcome.exception(f"changed beside the plan: {paths}", "user", "/omo:allow"))
    if is_another_named(status.run.caller, state.path, state.terms.plan, state.started_at):
        was = f"carried out as {clip(state.path, 100)} was before the user named it again"
        exceptions.append(outcome.exception(was, "agent", "the session had begun"))
    return exceptions


def _whole_plan(status: RunStatus) -> tuple[str, list[LetThrough]]:
    """The last session answers for the plan: what no longer holds of it, from where its first session began."""
    state = status.state
    audit = audit_plan(status.run.caller, status.run, whole=status.whole).audit
    lost = []
    for violation in audit.violations:
        if not any(violation.path in line for line in state.terms.left_behind):
            lost.append(("changed since the plan's first session began", str(violation)))
    for step in audit.steps:
        if step.status not in ("pass", "skipped"):
            what = f"step {step.step} of {clip(state.path, 100)} does not hold any more"
            lost.append((what, "; ".join(step.findings)))
    for problem in audit.problems:
        lost.append(("the whole plan could not be audited", problem))
    # Between sessions nobody saw who did it.
    exceptions = [outcome.exception(what, "agent, or the user", clip(why, 200)) for what, why in lost]
    words = f"of the whole plan, from its first session on, {len(audit.passed)} of {len(audit.steps)} steps hold"
    here = {violation.path for violation in status.audit.left_alone}
    if outside := [violation.path for violation in audit.left_alone if violation.path not in here]:
        words += f"; between its sessions also changed: {clip(', '.join(outside), 160)}"
    return words, exceptions


def _shown(status: RunStatus, results: Sequence[Verify], pins: Sequence[Gate]) -> proving.ProofOrDoubts:
    """What the plan's own Verify commands prove, where the user named the plan or the project names the command; else
    what the user pinned."""
    subject = _subject(status)
    candidates, others = [], []
    for result in results:
        if result.result == verify.PASS:
            command = Plain(result.argv, timeout=verify.SECONDS)
            owner = proving.owner_of(subject, command, is_users=status.state.terms.is_named)
            name = f"Verify of step {result.step}"
            if owner:
                candidates.append(proving.Candidate(name, command, owner, verify.judge_of(result)))
            else:  # of which it is said already who chose it
                others.append(command)
    return proving.shown(subject, candidates, pins, others)


def _subject(status: RunStatus) -> Subject:
    """The files of the session, for the experiment: what the audit saw changed, what was committed by a run of it that
    failed ("tests weakened in a session that fails"), and what a runner reads anyway."""
    terms, root = status.state.terms, status.state.root
    head, paths = terms.base, [*status.audit.changed]
    if terms.began and terms.began != head:
        since = changes.tracked_changes(root, terms.began, git.lines(root, "ls-files", "-z"))
        if since is not None:  # else that commit was thrown away
            head, paths = terms.began, [*paths, *since]
    changed = {path: base.digest_of(root, path) for path in paths}
    for path, digest in terms.runner.items():  # looked at also where git ignores them
        if base.digest_of(root, path) != digest:
            changed[path] = base.digest_of(root, path)
    caller = status.run.caller
    look = base.Look(base.tree_of(changed), changed, frozenset())
    allowed = gates.fold(caller.events, None)
    return proving.subject_of(caller, {"head": head, "files": {}}, allowed, look)
