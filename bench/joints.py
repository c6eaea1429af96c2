"""Every two things that can happen between conversations, in each workflow: is there a way on, as omo prints it?

    python3 bench/joints.py [--workflow NAME] [--first JOINT] [--second JOINT]     exits 1 where one is stuck

One row a workflow, one column for what happens first; a cell says how many of what happens second were walked to the
end. What is stuck is told with everything that was typed and answered.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "src")]

from tests.hunt.joints import JOINTS, TYPED, cross  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workflow", choices=TYPED)
    parser.add_argument("--first", choices=JOINTS)
    parser.add_argument("--second", choices=JOINTS)
    given = parser.parse_args()
    workflows = [given.workflow] if given.workflow else list(TYPED)
    firsts = [given.first] if given.first else list(JOINTS)
    seconds = [given.second] if given.second else list(JOINTS)
    stuck: list[str] = []
    print(f"{'':12}" + "".join(f"{first:>14}" for first in firsts))
    for workflow in workflows:
        cells = []
        for first in firsts:
            walked = 0
            for second in seconds:
                with tempfile.TemporaryDirectory() as home:
                    os.environ["XDG_STATE_HOME"] = home  # the user's own names their live sessions
                    try:
                        cross(Path(home, "walk", "a project"), workflow, (first, second))
                        walked += 1
                    except AssertionError as error:
                        stuck.append(f"{workflow}: {first}, then {second}\n{error}")
            cells.append(f"{walked} of {len(seconds)}")
        print(f"{workflow:12}" + "".join(f"{cell:>14}" for cell in cells), flush=True)
    for finding in stuck:
        print(f"\n{finding}")
    return 1 if stuck else 0


if __name__ == "__main__":
    sys.exit(main())
