"""One event of the host: launch.sh names it, where the packages are, and the host. Never cached, so a few lines."""

import os
import sys

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"), *sys.argv[2:3]]

from omo.hooks import main

main.run(sys.argv[1])
