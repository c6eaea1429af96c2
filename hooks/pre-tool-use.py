"""PreToolUse: the short list of what is denied."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.hooks import main, tool_use

main.run("pre-tool-use", tool_use.handle)
