"""Whose work is looked at, where and when. Looking leaves nothing but the cache of the tree's fingerprint."""

from __future__ import annotations

from functools import cached_property

from omo.context import Context
from omo.errors import OmoError
from omo.state import runtime
from omo.state.rows import EMPTY
from omo.work.files import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from omo.state.ledger import Chain
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow
    from omo.work.run import Caller


class Viewer:
    """`reads_all`: also runs that no row names. `run` is one that was named, be it one that ended long ago. `for_next`:
    what the next step needs is looked for as well. What was read already is handed in: `files` are shared where many
    sessions are looked at, `session_rows` are those of the whole project, `chain` is the session's own ledger.
    """

    def __init__(
        self,
        context: Context,
        session: str,
        row: SessionRow | None = None,
        *,
        files: Files | None = None,
        reads_all: bool = False,
        run: str = "",
        for_next: bool = False,
        session_rows: Mapping[str, SessionRow] | None = None,
        chain: Chain | None = None,
    ) -> None:
        self.context = context
        self.session = session
        self.row = row or EMPTY
        self.files = files or Files(context.root)
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
        """Its rows; none where nobody can read them."""
        try:
            return self.own_ledger.rows
        except OmoError:
            return []
