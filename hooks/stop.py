"""Stop: may the session stop?"""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[1:2]]

from omo.ultrawork import hook, on_stop

hook.run("stop", on_stop.handle)
