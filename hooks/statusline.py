"""The status line: what holds this session, if anything does."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.ultrawork import hook
from omo.views import statusline

hook.run("statusline", statusline.handle)
