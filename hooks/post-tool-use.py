"""PostToolUse: what a command of omo's turned on."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.hooks import main, tool_done

main.run("post-tool-use", tool_done.handle)
