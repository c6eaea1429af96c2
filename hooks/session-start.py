"""SessionStart: where open work stands, after a resume or a compaction."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.hooks import main, session_start

main.run("session-start", session_start.handle)
