"""What people type to an agent at work, in heard.txt: stops in many frames, work with a stop's words in it, uses of the
keyword and mentions of it. Promised is that no work is paused, no use is missed and no mention taken for one, and that
a stop which no word tells is let go by what the agent does."""

from __future__ import annotations

from tests.tables import read, whole

TABLE = read(__file__, "heard.txt")
STOPS, WORK, USES, MENTIONS = (whole(TABLE[kind]) for kind in ("stops", "work", "uses", "mentions"))
