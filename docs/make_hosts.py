"""Writes the table of docs/hosts.md from a run of the tests: what was seen to work in which host.

./tests/run --clients --junitxml=tests.xml
python docs/make_hosts.py tests.xml            rewrites the table
python docs/make_hosts.py tests.xml --check    exits 1 if the table is not what that run showed
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "hosts.md"
BEGIN, END = "<!-- from a run of the tests -->\n", "<!-- to here -->\n"
HEAD = "| | Claude Code | Codex | Copilot CLI |\n|---|---|---|---|\n"
# What is to be seen, and the test of tests/e2e that shows it in each host; a text in brackets says why there is none.
ROWS = (
    (
        "the instructions reach the model, and a turn that ends too early is sent back",
        "test_ultrawork::test_without_the_word_nothing_happens_and_with_it_an_idle_model_is_sent_back_and_then_let_go",
        "test_codex::test_a_premature_stop_is_sent_back_until_the_users_gate_passes",
        "test_copilot::test_a_premature_stop_is_sent_back_until_the_users_gate_passes",
    ),
    (
        "a gate that you pinned, run by the agent, proves the work",
        "test_truth::test_a_bug_that_is_fixed_is_proven_by_one_command",
        "test_codex::test_a_premature_stop_is_sent_back_until_the_users_gate_passes",
        "test_copilot::test_a_premature_stop_is_sent_back_until_the_users_gate_passes",
    ),
    (
        "the cap lets go",
        "test_ultrawork::test_without_the_word_nothing_happens_and_with_it_an_idle_model_is_sent_back_and_then_let_go",
        "test_codex::test_the_cap_lets_go_and_stop_words_end_it_without_the_model",
        "test_copilot::test_the_cap_lets_go_and_stop_words_end_it_without_the_model",
    ),
    (
        "a budget counts tokens and agents, lets go, and goes on when you raise it",
        "test_budget::test_it_is_told_refuses_agents_lets_go_and_goes_on_when_it_is_raised",
        "test_codex::test_a_budget_counts_its_agents_refuses_them_lets_go_and_goes_on_when_it_is_raised",
        "test_copilot::test_a_budget_counts_its_agents_refuses_them_lets_go_and_goes_on_when_it_is_raised",
    ),
    (
        "stop by words and by command, without a model call",
        "test_escape_hatch::test_after_the_hatch_nothing_holds_until_ulw_is_typed_again",
        "test_codex::test_the_cap_lets_go_and_stop_words_end_it_without_the_model",
        "test_copilot::test_the_cap_lets_go_and_stop_words_end_it_without_the_model",
    ),
    (
        "what is typed while the agent works, and Esc, keep the run",
        "test_interactive::test_a_remark_typed_while_the_model_works_excuses_nothing",
        "test_codex::test_in_the_terminal_what_is_typed_and_escape_keep_the_run_and_a_command_ends_it",
        "test_copilot::test_in_the_terminal_what_is_typed_and_escape_keep_the_run_and_a_command_ends_it",
    ),
    (
        "a stop typed while the agent works is heard, and comes back at no later Esc",
        "test_interactive::test_the_picture_of_stop_ulw_typed_while_the_model_works",
        "test_codex::test_in_the_terminal_what_omo_answers_at_work_stops_nothing_and_never_comes_back",
        "test_copilot::test_in_the_terminal_a_stop_that_is_typed_at_work_ends_it_with_the_turn",
    ),
    (
        "a resumed session keeps its run",
        "test_sessions::test_a_resumed_session_is_told_where_things_stand",
        "test_codex::test_a_resumed_session_keeps_its_run",
        "test_copilot::test_a_resumed_session_keeps_its_run",
    ),
    (
        "omo's state is guarded",
        "test_ultrawork::test_the_agent_may_neither_stop_it_nor_write_the_state_and_finds_omo_everywhere",
        "test_codex::test_state_is_guarded_wherever_a_tool_runs",
        "test_copilot::test_state_is_guarded_whichever_tool_is_used",
    ),
    (
        "what an agent pins or stops never counts as yours ([its limits](security.md#who-is-typing))",
        "test_ultrawork::test_the_agent_may_neither_stop_it_nor_write_the_state_and_finds_omo_everywhere",
        "test_codex::test_no_agent_passes_for_the_user",
        "test_copilot::test_no_agent_passes_for_the_user",
    ),
    (
        "a refused tool is told once, and then the run waits for you",
        "test_refused::test_an_agent_is_not_sent_back_to_the_same_wall",
        "test_codex::test_a_refused_patch_is_told_once_and_then_waits_for_the_user",
        "test_copilot::test_a_refused_tool_is_told_once_and_then_waits_for_the_user",
    ),
    (
        "`omo run`, in rounds until it is proven",
        "test_run::test_a_liar_is_not_believed_and_an_honest_agent_is",
        "test_codex::test_two_rounds_of_omo_run",
        "test_copilot::test_two_rounds_of_omo_run",
    ),
    (
        "ultragoal to its final receipt",
        "test_ultragoal::test_three_goals_from_the_brief_to_the_final_receipt",
        "test_codex::test_ultragoal_runs_to_its_final_receipt_and_the_clients_own_goal_is_not_complete_before",
        "test_copilot::test_ultragoal_runs_to_its_final_receipt",
    ),
    (
        "ralph to its end, with a judge who did not do the work",
        "test_ralph::test_two_claims_are_caught_and_the_third_iteration_holds",
        "test_codex::test_ralph_runs_to_its_end_with_the_agents_that_setup_installs",
        "test_copilot::test_ralph_runs_to_its_end_with_the_agents_of_the_plugin",
    ),
    (
        "the host's own goal is not called complete before omo's",
        "(its goal has no tool that a hook sees)",
        "test_codex::test_ultragoal_runs_to_its_final_receipt_and_the_clients_own_goal_is_not_complete_before",
        "(while its autopilot is on, omo blocks nothing)",
    ),
    (
        "plan mode is left alone",
        "test_sessions::test_a_resumed_session_is_told_where_things_stand",
        "(it does not tell hooks about it)",
        "test_copilot::test_plan_mode_and_its_own_autopilot_are_left_alone",
    ),
    (
        "an `omo` call that only looks needs no permission",
        "test_ultrawork::test_it_costs_the_same_prompts_however_it_is_turned_on",
        "(its sandbox decides)",
        "test_copilot::test_a_call_that_only_looks_needs_no_permission_and_the_users_rule_holds_for_others",
    ),
    (
        "the status line",
        "test_statusline::test_it_appears_with_ulw_and_is_gone_with_the_release",
        "(it has none)",
        "(omo has none for it)",
    ),
    (
        "what is typed into a terminal that the agent opened",
        "(agents have none)",
        "(no hook sees it)",
        "(agents have none)",
    ),
    (
        "a compaction keeps the run",
        "test_interactive::test_compaction_keeps_a_run_and_brings_no_cancelled_one_back",
        "test_codex::test_in_the_terminal_what_is_typed_and_escape_keep_the_run_and_a_command_ends_it",
        "test_copilot::test_a_compaction_keeps_the_run_and_its_tokens",
    ),
)


def main(report: str, *, is_check: bool) -> int:
    passed = _passed(report)
    lines, missing = [], []
    for what, *tests in ROWS:
        cells = []
        for test in tests:
            if test.startswith("("):
                cells.append(f"no {test}")
            elif any(name == test or name.startswith(f"{test}[") for name in passed):
                cells.append("yes")
            else:
                missing.append(test)
        lines.append(f"| {what} | {' | '.join(cells)} |\n")
    if missing:
        print(f"not passed in this run: {', '.join(missing)}", file=sys.stderr)
        return 1
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    table = f"{before}{BEGIN}\n{HEAD}{''.join(lines)}\n{END}{after}"
    if not is_check:
        PAGE.write_text(table, encoding="utf-8")
    elif table != text:
        print(f"docs/hosts.md is not what this run showed: python docs/make_hosts.py {report}", file=sys.stderr)
        return 1
    return 0


def _passed(report: str) -> set[str]:
    """The tests of tests/e2e that ran to a good end: module::name."""
    names = set()
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is None and case.find("failure") is None and case.find("error") is None:
            names.add(f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}")
    return names


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], is_check="--check" in sys.argv[2:]))
