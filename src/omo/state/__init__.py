"""The only code that opens our state for writing."""

import os

STATE_DIR = os.path.join(".sisyphus", "cc-omo")  # below a project; where in it each file is, paths.py says
