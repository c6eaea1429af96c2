"""Whose work is looked at, where and when. Looking leaves nothing but the cache of the tree's fingerprint."""

from __future__ import annotations

from functools import cached_property

from omo.context import Context
from omo.errors import NotEvaluable, OmoError
from omo.state import runtime
from omo.state.rows import EMPTY
from omo.work.status import UNKNOWN_TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from omo.state.ledger import Chain
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow
    from omo.work.files import Files
    from omo.work.run import Caller


class Viewer:
    """`reads_all`: also runs that no row names. `run` is one that was named, be it one that ended long ago. `for_next`:
    what the next step needs is looked for as well. What was read already is handed in: `trees` is shared where many
    sessions are looked at, `session_rows` are those of the whole project, `chain` is the session's own ledger.
    """

    def __init__(
        self,
        context: Context,
        session: str,
        row: SessionRow | None = None,
        *,
        trees: dict[str, str] | None = None,
        reads_all: bool = False,
        run: str = "",
        for_next: bool = False,
        session_rows: Mapping[str, SessionRow] | None = None,
        chain: Chain | None = None,
    ) -> None:
        self.context = context
        self.session = session
        self.row = row or EMPTY
        self.trees: dict[str, str] = {} if trees is None else trees
        self.reads_all = reads_all
        self.run = run
        self.for_next = for_next
        self.session_rows = session_rows
        self.chain = chain

    @cached_property
    def caller(self) -> Caller:
        from omo.work.run import caller_of

        return caller_of(self.context, self.session, self.session_rows)

    @cached_property
    def own_ledger(self) -> Chain:
        """The session's own ledger with what is wrong with it. Raises Unreadable."""
        return self.chain or runtime.read_chain(self.context.state, self.session, self.row)

    @cached_property
    def events(self) -> list[SessionEvent]:
        """Its rows, without the row that each event left, which is most of it; none where nobody can read them."""
        try:
            rows: list[SessionEvent] = self.own_ledger.rows
        except OmoError:
            return []
        events = [row.copy() for row in rows]
        for event in events:
            event.pop("after", None)
        return events

    def agent_messages(self, *agents: str) -> list[SessionEvent]:
        """The last words of agents, as hooks noted them."""
        messages = []
        for row in self.events:
            if row.get("kind") == "agent-finished" and row.get("actor") == "hook" and row.get("agentType") in agents:
                messages.append(row)
        return messages

    @property
    def tree(self) -> str:
        """The project's files as they are; empty where nobody can tell."""
        if "now" not in self.trees:
            try:
                self.trees["now"] = self.files.tree
            except NotEvaluable:
                self.trees["now"] = ""
        return self.trees["now"]

    @cached_property
    def files(self) -> Files:
        """The same, and what of them has changed."""
        from omo.work.files import Files

        return Files(self.context.root)

    def changed_since(self, proven_on: object) -> str:
        """Why something that was proven on a tree may not hold any more; empty while it is the same."""
        if not self.tree:
            return UNKNOWN_TREE
        return "" if self.tree == proven_on else "the tree has changed since"
