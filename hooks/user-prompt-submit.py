"""UserPromptSubmit: ulw, and the ways to end it."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.hooks import main, prompt

main.run("user-prompt-submit", prompt.handle)
