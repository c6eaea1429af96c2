"""SubagentStop: which agent finished, and what it said."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.hooks import main, subagents

main.run("subagent-stop", subagents.handle_stop)
