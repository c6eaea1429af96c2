"""Shell commands a plan session might send, in shell_commands.txt. `DENIED` are to be refused, `HARMLESS` look like one
and are not.

The fence: touch `src/**`, `docs/*.md` and `tests/new/test_a.py`; never `src/gen/**`. In the project there are the
directories src, src/gen, src/old, docs and tests, and the files README.md, src/a.py and tests/test_x.py.
"""

from __future__ import annotations

from tests.tables import read, whole

TABLE = read(__file__, "shell_commands.txt")
DENIED, HARMLESS = whole(TABLE["denied"]), whole(TABLE["harmless"])
