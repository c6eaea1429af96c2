"""PreToolUse: the short list of what is denied."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.ultrawork import hook, on_tool_use

hook.run("pre-tool-use", on_tool_use.handle)
