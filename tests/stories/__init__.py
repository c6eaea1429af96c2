"""Stories: what a lazy, a cheating or an honest agent does in one session, and what the user may be told at its end.

All modules are imported at once, so that the stories stand in one order, whichever of them a test asks for first.
"""

import importlib
from pathlib import Path

for path in sorted(Path(__file__).parent.glob("*.py")):
    if path.stem != "__init__":
        importlib.import_module(f"{__name__}.{path.stem}")
