"""The status line: what holds this session, if anything does."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.hooks import main
from omo.views import statusline

main.run("statusline", statusline.handle)
