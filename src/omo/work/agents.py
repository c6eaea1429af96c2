"""What a hook saw an independent agent say, and how far that counts.

The SubagentStop hook writes the final message of each agent into the session's ledger. That row is the only witness of
independence: a file, or the leading agent's account of what somebody found, is anybody's word.

Who asks a question (the critic of a plan, the judge) binds the answer to one item by a key, the nonce of a brief or the
digest of a plan, and compares the tree: an answer speaks of the files that were there when it was asked for. Who lets
agents review (the goals of a plan) takes the newest word of each since the goal began, and which files changed since.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from omo.json_text import Json, refuse_constant, without_repeats
from omo.proof import base
from omo.state import runtime
from omo.state.rows import EMPTY
from omo.work import session
from omo.work.run import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base, SessionRow

FULL, REDUCED = "full", "reduced"
EVIDENCE = ".sisyphus/"
MOST_TRIED = 1000  # openings of objects in one message
_OPENING = re.compile(r"^[ \t]*\{", re.MULTILINE)


class NoAnswer(Exception):
    """A message that does not answer: no object with the key, or several, or one that is not in the form."""


@dataclass(frozen=True)
class AgentMessage:
    """The last thing an agent said. Of a long one `text` is only the beginning; `digest` is always that of the whole.

    `files` is how the files were when it finished, for agents whose word is about them.
    """

    agent: str
    text: str
    seq: int
    ts: str
    digest: str = ""
    is_cut: bool = False
    agent_id: str = ""
    files: Base | None = None

    @property
    def source(self) -> str:
        return f"{self.agent} at {self.ts} (row {self.seq} of the session's ledger)"


def expect(caller: Caller, agent: str | None, begins: str = "") -> None:
    """From now on the hook keeps what that agent says, also where nothing else is open; None: it need not any more.
    With it is begun what the user has typed, where that `begins` no run."""

    def decide(row: SessionRow | None) -> runtime.Change:
        old = row or EMPTY
        is_begun = begins and old.get("asked") == begins
        if old.get("awaits") == agent and not is_begun:
            return runtime.Change(None)
        after: SessionRow = {**(session.without_request(old) if is_begun else old), "awaits": agent}
        return runtime.Change(None, after, [{"kind": "awaits", "agentType": agent}])

    if caller.session:
        caller.change(decide)


def messages(state: str, session: str, *agents: str) -> list[AgentMessage]:
    """What these agents said, oldest first."""
    return messages_in(runtime.vouched_rows(state, session), agents)


def messages_in(rows: Iterable[SessionEvent], agents: Collection[str]) -> list[AgentMessage]:
    """The same, of rows that were read already. Only what a hook wrote counts."""
    reported = []
    for row in rows:
        is_finish = row.get("kind") == "agent-finished" and row.get("actor") == "hook"
        if not is_finish or row.get("agentType") not in agents or not isinstance(row.get("message"), str):
            continue
        message = AgentMessage(
            agent=str(row["agentType"]),
            text=row["message"],
            seq=row.get("seq", 0),
            ts=str(row.get("ts") or ""),
            digest=str(row.get("digest") or ""),
            is_cut=bool(row.get("cut")),
            agent_id=str(row.get("agentId") or ""),
            files=row.get("base"),
        )
        reported.append(message)
    return reported


def objects(text: str) -> list[Json]:
    """The JSON objects that begin a line of a text, in order; none that is part of another.

    Strict: an object with a repeated key or with NaN is none. Inside one that cannot be read nothing is read either,
    so that no part of a broken answer passes for the answer.
    """
    decoder = json.JSONDecoder(object_pairs_hook=without_repeats, parse_constant=refuse_constant)
    read: list[Json] = []
    end = tried = 0
    broken: int | None = None  # how far the object that could not be read is indented
    for opening in _OPENING.finditer(text):
        start = opening.end() - 1
        indent = start - opening.start()
        if start < end or (broken is not None and indent > broken):
            continue
        tried += 1
        if tried > MOST_TRIED:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            broken = indent
            continue
        broken = None
        read.append(value)
    return read


def answer(text: str, key: str, value: str | None = None) -> Json:
    """The one object in which `key` is that value; without a value, the one in which it is any text.

    Raises NoAnswer. Of two such objects neither is the answer: nobody gets to pick.
    """
    fitting = []
    for candidate in objects(text):
        given = candidate.get(key)
        if isinstance(given, str) and value in (None, given):
            fitting.append(candidate)
    which = f"a {key}" if value is None else f"that {key}"
    if not fitting:
        raise NoAnswer(f"no JSON object with {which} is in it")
    if len(fitting) > 1:
        raise NoAnswer(f"{len(fitting)} JSON objects with a {key} are in it, and one is asked for")
    return fitting[0]


@dataclass(frozen=True)
class Review:
    """The newest word of one agent.

    `verdict` is its own word for it, empty where none can be read. `changed` are the files that are others now than
    when it finished; None where nobody can tell.
    """

    message: AgentMessage
    verdict: str
    is_clean: bool
    changed: list[str] | None

    def without(self, paths: Collection[str]) -> Review:
        """The same, where files that are written after a review do not outdate it: what tells of the review itself."""
        if self.changed is None:
            return self
        return replace(self, changed=[path for path in self.changed if path not in paths])


def words_that_count(
    reported: Sequence[AgentMessage],
    is_clean: Callable[[AgentMessage], bool | None],
    is_of_the_same: Callable[[AgentMessage, AgentMessage], bool],
) -> list[AgentMessage]:
    """What one kind of agent said, oldest first, without the good words about the same that bad ones were said of.

    A second architect that found the very files CLEAR which the first had called BLOCK was told as "found clean" once.
    `is_clean` gives None for words without a verdict.
    """
    bad: list[AgentMessage] = []
    counting = []
    for message in reported:
        verdict = is_clean(message)
        if verdict and any(is_of_the_same(message, other) for other in bad):
            continue
        if verdict is False:
            bad.append(message)
        counting.append(message)
    return counting


def same_files(first: Base | None, second: Base | None) -> bool:
    """Surely the same commit and the same differences from it, evidence aside: what a tester writes down is not what
    it tests."""
    contents = []
    for files in (first, second):
        if files is None or files.get("unknown"):
            return False
        differing = {path: digest for path, digest in files["files"].items() if not path.startswith(EVIDENCE)}
        contents.append((files["head"], differing))
    return contents[0] == contents[1]


def newest_reviews(
    root: str, reported: Sequence[AgentMessage], read: Callable[[str, str], tuple[str, bool]]
) -> dict[str, Review]:
    """By agent. `read` is given what was said and by whom; it gives the verdict's word and whether it is clean, or
    raises NoAnswer: then it is not clean.

    Ask before anything runs that may write files.
    """
    newest = {message.agent: message for message in reported}
    reviews = {}
    for agent, message in newest.items():
        try:
            verdict, is_clean = read(message.text, agent)
        except NoAnswer:
            verdict, is_clean = "", False
        changed = base.look(root, message.files).changed
        reviews[agent] = Review(message, verdict, is_clean, None if changed is None else sorted(changed))
    return reviews


def independence_of_reviews(reviews: Mapping[str, Review], agents: Iterable[str]) -> str:
    """Full where each of the agents was seen to say that the files as they are now are clean."""
    for agent in agents:
        review = reviews.get(agent)
        if review is None or not review.is_clean or review.changed != []:
            return REDUCED
    return FULL
