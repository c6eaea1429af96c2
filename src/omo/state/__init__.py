"""The only code that opens our state for writing."""

import os

STATE_DIR = os.path.join(".sisyphus", "cc-omo")  # below a project; where in it each file is, paths.py says
# Of the runtime file. State of an earlier version is foreign: nobody reads its rows any more.
RUNTIME_VERSION = 4
