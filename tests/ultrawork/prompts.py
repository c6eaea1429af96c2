"""What people type, labelled, in prompts.txt. Each prompt shows something that no other one does."""

from __future__ import annotations

from tests.tables import read, whole

TABLE = read(__file__, "prompts.txt")
USES = TABLE["uses"]
NOT_USES = TABLE["not uses"]
# Written before the rules were, and the rules not tuned to them; and what is in doubt.
NOT_USES_NOT_TUNED_TO = whole(TABLE["not uses not tuned to"])
TAKEN_FOR_USES = whole(TABLE["taken for uses"])
CANCELS = whole(TABLE["cancels"])
CANCELS_WITH_MORE = whole(TABLE["cancels with more"])
STOPS = TABLE["stops"]
CONTINUES = TABLE["continues"]
WORK = whole(TABLE["work"])  # which pauses nothing
NOTHING_SAID = whole(TABLE["nothing said"])  # neither work nor an answer to the agent
STOPS_BY_NAME = {
    "stop ultragoal": ("ultragoal",),
    "please cancel ultragoal": ("ultragoal",),
    "stop the plan": ("ultraplan",),
    "end verify": ("verify",),
    "omo, stop": ("omo",),
    "stop ultragoal and the plan": ("ultragoal", "ultraplan"),
    "stop everything": (),
    "pause ulw": (),
    "계획 취소해줘": ("ultraplan",),
    "停止 ultragoal": ("ultragoal",),
    "brich den Plan ab": ("ultraplan",),
}
