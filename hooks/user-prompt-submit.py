"""UserPromptSubmit: ulw, and the ways to end it."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.ultrawork import hook, on_prompt

hook.run("user-prompt-submit", on_prompt.handle)
