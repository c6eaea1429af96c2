"""How git is asked: no configuration may name a program to start, make git look away, or speak of another place."""

from __future__ import annotations

import os

# safe.directory: what is asked runs nothing of the repository's, so whose it is does not matter here.
_SETTINGS = {
    "advice.graftFileDeprecated": "false",
    "core.commitGraph": "false",
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.untrackedCache": "false",
    "core.trustctime": "true",
    "core.checkStat": "default",
    "core.ignoreStat": "false",
    "diff.autoRefreshIndex": "true",
    "safe.directory": "*",
}
COMMAND = ("git", "--literal-pathspecs", *(part for item in _SETTINGS.items() for part in ("-c", "=".join(item))))
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "LC_ALL": "C",
    "XDG_CONFIG_HOME": os.devnull,
}
