"""SessionStart: where open work stands, after a resume or a compaction."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.ultrawork import hook, on_session_start

hook.run("session-start", on_session_start.handle)
