"""Whatever a transcript holds, it is read to its end, and what is shown of it is printable."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.replay.scripts import SESSION, played

KINDS = ("user", "assistant", "system", "attachment", "queue-operation", "permission-mode", "another")
WORDS = (
    *("ulw go", "stop", "<task-notification><task-id>b1</task-id>", "[Request interrupted by user]", "\x1b[2J\u202e"),
    *(
        "<command-name>/omo:ulw</command-name>",
        "omo ulw done",
        "Done: x. The session may stop.",
        "Stop hook feedback:\nx",
    ),
    *(
        "tool_use",
        "tool_result",
        "text",
        "Bash",
        "Write",
        "Agent",
        "end_turn",
        "t1",
        "enqueue",
        "dequeue",
        "queued_command",
    ),
    *("compact_boundary", "stop_hook_summary", "informational", "hook_success", "Stop", "/", "/home/me", "\ud800"),
)
KEYS = (
    *(
        "message",
        "content",
        "type",
        "text",
        "id",
        "name",
        "input",
        "command",
        "file_path",
        "tool_use_id",
        "stop_reason",
    ),
    *("isMeta", "isSidechain", "agentId", "toolUseResult", "backgroundTaskId", "status", "subtype", "attachment"),
    *("hookEvent", "hookInfos", "hookErrors", "operation", "permissionMode", "prompt", "cwd", "timestamp"),
)
LEAVES = st.sampled_from(WORDS) | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
ROWS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)), max_size=12
)


@settings(max_examples=40)
@given(ROWS)
def test_any_rows_are_survived(rows: list[tuple[str, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "session.jsonl"
        lines = [json.dumps({**fields, "type": kind, "sessionId": SESSION}) for kind, fields in rows]
        path.write_text("\n".join(lines), encoding="utf-8")
        player = played(path, Path(directory))
        assert player.stage.failures() == []
        for one in player.decisions:
            shown = json.dumps(one.data, ensure_ascii=False)
            assert all(letter.isprintable() for letter in shown)
