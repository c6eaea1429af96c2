"""Whose work is looked at, where and when. Looking writes nothing."""

from __future__ import annotations

from omo.context import Context
from omo.errors import OmoError
from omo.state.rows import EMPTY
from omo.work.files import Files
from omo.work.run import Caller, caller_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow


class Viewer:
    """`reads_all`: also runs that no row names. `run` is one that was named, be it one that ended long ago. `for_next`:
    what the next step needs is looked for as well. What was read already is handed in: `caller` is the session itself,
    `files` are shared where many sessions are looked at.
    """

    def __init__(
        self,
        context: Context,
        session: str,
        row: SessionRow | None = None,
        *,
        caller: Caller | None = None,
        files: Files | None = None,
        reads_all: bool = False,
        run: str = "",
        for_next: bool = False,
    ) -> None:
        self.context = context
        self.session = session
        self.row = row or EMPTY
        self.caller = caller or caller_of(context, session)
        self.files = files or Files(context.root)
        self.reads_all = reads_all
        self.run = run
        self.for_next = for_next

    @property
    def events(self) -> list[SessionEvent]:
        """The rows of the session's ledger, also of a damaged one; none where nobody can read them."""
        try:
            return self.caller.chain.rows
        except OmoError:
            return []
