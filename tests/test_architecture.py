"""What would drift: import directions, and every list that is written in two places."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import omo
from omo import hosts, table

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "omo"

# From the ground up: a module imports what lies below its own layer, or beside it in its own package.
LAYERS = (
    (
        *("deadline", "errors", "text", "clock", "digest", "json_text", "globs", "masking", "progress", "safe_open"),
        *("strict", "shell", "mutants"),
    ),
    ("table",),
    ("hosts",),
    ("state",),
    ("settings", "variables"),
    ("context", "fence", "proof"),
    ("options", "result"),
    ("work",),
    ("engine",),
    ("workflows",),
    ("stop",),
    ("hooks",),
    ("views",),
    ("cli",),
)
HEIGHT = {package: height for height, layer in enumerate(LAYERS) for package in layer}
# Of the modules on the ground and of the workflows, those that lean on another one.
NEIGHBOURS = {
    "progress": {"masking", "text"},
    "mutants": {"digest", "text"},
    "options": {"result"},
    "strict": {"errors", "text"},
    "fence": {"proof"},
}


def package_of(module: str) -> str:
    """`omo.state.store` → `state`, `omo.workflows.ralph.run` → `workflows.ralph`; omo itself → the empty string."""
    parts = module.split(".")[1:]
    return ".".join(parts[: 2 if parts[:1] == ["workflows"] else 1])


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports(path: Path) -> list[str]:
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "omo":
            for alias in node.names:
                is_module = (SRC / alias.name).exists() or (SRC / f"{alias.name}.py").exists()
                found.append(f"omo.{alias.name}" if is_module else "omo")
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return [name for name in found if name.partition(".")[0] == "omo"]


def modules() -> list[Path]:
    return sorted(SRC.rglob("*.py"))


def test_imports_go_one_way() -> None:
    wrong = []
    for path in modules():
        module = ".".join(("omo", *path.relative_to(SRC).with_suffix("").parts)).removesuffix(".__init__")
        own = package_of(module)
        for name in imports(path):
            other = package_of(name)
            if other in ("", own) or other in NEIGHBOURS.get(own, ()):
                continue
            if HEIGHT[other.partition(".")[0]] >= HEIGHT[own.partition(".")[0]]:
                wrong.append(f"{module} imports {name}")
    assert wrong == []


# The host calls the status line as it calls a hook.
OF_HOOKS = ("views/statusline.py",)


def test_a_view_knows_what_stop_would_do_from_the_rules_and_not_from_the_hook() -> None:
    wrong = []
    for path in modules():
        relative = str(path.relative_to(SRC))
        if relative.startswith("views/") and relative not in OF_HOOKS:
            wrong += [f"{relative} imports {name}" for name in imports(path) if package_of(name) == "hooks"]
    assert wrong == []


def test_a_workflow_is_reached_through_the_table() -> None:
    """No module outside its folder imports one, but for ultrawork, the engine's own: `omo.table` says how."""
    wrong = []
    for path in modules():
        relative = str(path.relative_to(SRC))
        if relative.startswith("workflows/"):
            continue
        for name in imports(path):
            if package_of(name).startswith("workflows.") and package_of(name) != "workflows.ultrawork":
                wrong.append(f"{relative} imports {name}")
    assert wrong == []


# Each kind of work by its own names. Verify is a verb besides, so a sentence names it only as a command or a path.
NAMED = {row.kind: re.compile(rf"\b({'|'.join(row.typed)})\b") for row in table.with_runs()}
if "verify" in NAMED:
    NAMED["verify"] = re.compile(r"^verify$|\bverify/|/verify\b|\bomo[ :.]verify\b|\bworkflows\.verify\b")
NOT_THE_KIND = {
    # The loop of another plugin.
    ("hosts/claude.py", ".claude/ralph-loop.local.md"),
    ("hosts/claude.py", "ralph-loop"),
    ("hosts/claude.py", "/cancel-ralph"),
    # The verb of `omo ledger verify` and `omo receipt verify`.
    ("cli/ledger.py", "verify"),
    ("cli/receipt.py", "verify"),
    ("hooks/own_calls.py", "verify"),
    # What projects call a script that tests them.
    ("proof/project_checks.py", "verify"),
    # Where the pinned checks of every workflow lie on disk.
    ("state/paths.py", "verify/pins"),
    # The line `verify:` of a plan's step.
    *[
        (f"workflows/ultraplan/{module}.py", "verify")
        for module in ("document", "flow", "markdown", "propose", "rules", "verbs")
    ],
}


def literals(path: Path) -> list[str]:
    """Every string of a module but its docstrings."""
    docstrings = {node.value for node in nodes(path) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings
    ]


def test_no_other_module_names_a_workflow() -> None:
    """Its name stands in its own folder and in its row of the table. Ultrawork is the engine's."""
    named = set()
    for path in modules():
        relative = str(path.relative_to(SRC))
        if relative == "table.py":
            continue
        own = {relative.split("/")[1]} if relative.startswith("workflows/") else set()
        named |= {(relative, literal) for literal in literals(path) if kinds_named(literal) - own}
    assert named == {(path, literal) for path, literal in NOT_THE_KIND if kinds_named(literal)}


def kinds_named(literal: str) -> set[str]:
    return {kind for kind, pattern in NAMED.items() if pattern.search(literal)}


def test_the_engine_names_no_step_agent_option_or_status_of_a_workflow() -> None:
    """It reads them from the flow. A status that is a common word may stand in a sentence."""
    flows = [row.flow for row in table.ROWS if isinstance(row, table.EngineWorkflow)]
    names = set()
    for flow in flows:
        names |= {status.name for status in flow.statuses if status.name.isupper() or "_" in status.name}
        for step in flow.steps:
            names |= {step.name, step.option} | ({step.agent} if step.agent else set())
    assert len(names) > 10
    wrong = []
    for path in (SRC / "engine").glob("*.py"):
        for literal in literals(path):
            wrong += [f"{path.name}: {name}" for name in names if re.search(rf"(?<!\w){name}(?!\w)", literal)]
    assert wrong == []


def test_what_hooks_read_of_a_flow_is_what_it_says() -> None:
    """They load no flow, so its row repeats these."""
    for row in table.ROWS:
        if not isinstance(row, table.EngineWorkflow):
            continue
        flow = row.flow
        assert (row.kind, row.is_shared) == (flow.name, flow.is_filed)
        assert not flow.has_rounds or row.says_so_again.startswith(flow.judge)
        wanted = {step.agent: step.asked_by or f"{flow.brief} {role}" for role, step in flow.briefed.items()}
        asks_judge = f"{flow.brief} {flow.unit.upper()}" if flow.is_filed else flow.brief
        if flow.has_rounds and not flow.goes_on:
            wanted["omo:judge"] = asks_judge
        assert row.briefs in ({}, wanted)


# The counter of a session has the name of the word that turns it on.
COUNTERS = {"views/explain.py"}


def test_no_view_asks_for_a_kind_of_work_by_name() -> None:
    kinds = {row.kind for row in table.ROWS}
    paths = [*(SRC / "views").rglob("*.py"), *(SRC / "cli" / f"{name}.py" for name in ("next", "status", "report"))]
    asking = {str(path.relative_to(SRC)) for path in paths if kinds.intersection(literals(path))}
    assert asking == COUNTERS


MOST_WORDS_TWICE = 5  # shorter ones are the same by chance


def test_a_sentence_stands_in_one_module() -> None:
    shelves: dict[str, set[str]] = {}
    for path in modules():
        for text in sentences(path):
            if len(re.findall(r"[A-Za-z][A-Za-z'’-]*", text)) > MOST_WORDS_TWICE:
                shelves.setdefault(text, set()).add(str(path.relative_to(SRC)))
    assert len(shelves) > 1000
    assert {text: places for text, places in shelves.items() if len(places) > 1} == {}


def sentences(path: Path) -> list[str]:
    """Every string of a module but its docstrings, with `{}` for what varies in it."""
    docstrings = {node.value for node in nodes(path) if isinstance(node, ast.Expr)}
    texts, parts = [], set()
    for node in nodes(path):
        if isinstance(node, ast.JoinedStr):
            parts |= set(node.values)
            texts.append("".join([str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]))
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings | parts:
            texts.append(node.value)
    return texts


# Folders whose tests are not of workflows: they begin `laps` (tests/engine/laps.py), so that ralph can be taken out.
NEUTRAL = ("engine", "hooks", "cli", "work", "report", "state")
NAMES_RALPH = {
    "cli/test_ralph.py",  # its own
    "hooks/test_other_loops.py",  # the loop of another plugin
    "hooks/test_telling.py",  # the page of the docs that it compares shows an end of ralph's
}


def test_tests_of_other_things_do_without_ralph() -> None:
    named = set()
    for folder in NEUTRAL:
        for path in (ROOT / "tests" / folder).rglob("*.py"):
            if re.search(r"\bralph\b|RalphProject", path.read_text(encoding="utf-8")):
                named.add(str(path.relative_to(ROOT / "tests")))
    assert named <= NAMES_RALPH


def test_only_the_state_library_opens_state_for_writing() -> None:
    writing = re.compile(r"os\.replace\(|os\.O_WRONLY|open\([^)]*[\"'][wax]b?[\"']|write_text\(|write_bytes\(")
    # hooks.log is the hooks' error log, worktrees are omo's own; the rest write files that are not state.
    allowed = {
        "hooks/main.py",
        "cli/__init__.py",
        "cli/demo.py",
        "workflows/ultraplan/verbs.py",
        "workflows/ultragoal/evidence_verbs.py",
        "cli/out_file.py",
        "cli/run.py",
        "proof/changes.py",
        "proof/git.py",
        "proof/git_hold.py",
        "proof/swap.py",
        "proof/swap_files.py",
        "proof/swap_journal.py",
        "proof/worktrees.py",
        "cli/doctor.py",
        "cli/setup.py",
    }
    found = {str(path.relative_to(SRC)) for path in modules() if writing.search(path.read_text(encoding="utf-8"))}
    assert {name for name in found if not name.startswith("state/")} <= allowed


def test_only_evidence_and_the_demo_run_commands() -> None:
    found = {str(path.relative_to(SRC)) for path in modules() if "subprocess" in path.read_text(encoding="utf-8")}
    assert found <= {"proof/run.py", "proof/git.py", "cli/demo.py"}


# The names that a host has for its variables, events, fields and tools. `apply_patch` is a program too, "Edit" a word.
HOSTS_NAMES = re.compile(
    r"CLAUDE_|CLAUDECODE|CODEX_|COPILOT_|GEMINI_CLI|AI_AGENT|hook_?event_?name|hookSpecificOutput|systemMessage"
    r"|additionalContext|permission_?(mode|Decision)|stop_hook_active|last_assistant_message|background_tasks"
    r"|session_crons|transcript_path|tool_(name|input)|AskUserQuestion|ExitPlanMode|Todo(Write|Read)"
    r"|MultiEdit|NotebookEdit|[\"'](Bash|Write|Task|PowerShell|UserPromptSubmit|PreToolUse|SubagentStop)[\"']"
    r"|turn_id|session_id[\"']|[\"']decision[\"']: [\"']block"
)


# A host's own name stands, besides, in what the fence guards of agents, and among the words that people type.
NAMED_IN = ("fence/__init__.py", "hooks/prose.py", "hooks/wordlists.py")
HOSTS_THEMSELVES = re.compile(r"\b(Claude|Codex|Copilot|claude|codex|copilot)\b(?!/)")
OF_THE_SECURITY_LIST = "`.claude/"


def test_no_other_module_says_which_host_it_is() -> None:
    wrong = []
    for path in modules():
        relative = str(path.relative_to(SRC))
        if relative.startswith("hosts/") or relative in NAMED_IN:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if HOSTS_THEMSELVES.search(line.replace(OF_THE_SECURITY_LIST, "")):
                wrong.append(f"{relative}:{number}: {line.strip()}")
    assert wrong == []


HOSTS_SHARED = ("__init__", "headless", "launcher", "rehearsal", "setups", "terminal")


def test_only_the_modules_of_hosts_know_a_hosts_names() -> None:
    wrong = []
    for path in modules():
        relative = path.relative_to(SRC)
        if relative.parts[0] == "hosts":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if HOSTS_NAMES.search(line):
                wrong.append(f"{relative}:{number}: {line.strip()}")
    assert wrong == []


def test_every_host_has_a_module_and_is_named_by_its_registration() -> None:
    here = {path.stem for path in (SRC / "hosts").glob("*.py")} - set(HOSTS_SHARED)
    assert {name.partition("_")[0] for name in here} == set(hosts.NAMES)
    for host in hosts.every():
        registration = ROOT / host.registration
        events = json.loads(registration.read_text(encoding="utf-8"))["hooks"].values()
        commands = [handler["command"] for groups in events for group in groups for handler in group["hooks"]]
        assert all(f"host={host.name} event=" in command for command in commands)


def test_what_starts_the_hooks_knows_of_hosts_only_what_a_registration_says() -> None:
    """And so do the program, and what writes the registrations."""
    names = re.compile("|".join(hosts.NAMES), re.IGNORECASE)
    written = ("around.sh", "not-ready.sh")  # by make_hooks.py
    scripts = [path for path in sorted((ROOT / "hooks").glob("*.sh")) if path.name not in written]
    assert len(scripts) == 4
    for path in [*scripts, ROOT / "bin" / "omo", ROOT / "docs" / "make_hooks.py"]:
        assert names.findall(path.read_text(encoding="utf-8")) == [], path.name


def test_outside_of_hosts_nobody_imports_the_module_of_one() -> None:
    of_one = re.compile(rf"omo\.hosts(\.| import .*)\b({'|'.join(hosts.NAMES)})(_\w+)?\b")
    for path in modules():
        relative = path.relative_to(SRC)
        if relative.parts[0] != "hosts":
            assert of_one.findall(path.read_text(encoding="utf-8")) == [], relative


def test_every_host_says_what_differs_from_host_to_host() -> None:
    for host in hosts.every():
        for name in ("read", "write", "is_typed_at_work"):
            assert getattr(type(host), name) is not getattr(hosts.Host, name), (host.name, name)
        assert set(host.events.values()) == set(hosts.EVENTS.values())


# Of each host what its interface asks for.
SHARED_CLASS_NAMES = {"Headless", "Setup"}


def test_a_class_is_the_only_one_of_its_name() -> None:
    """Who looks a type up by its name finds one idea."""
    names: Counter[str] = Counter()
    for path in modules():
        names.update(node.name for node in nodes(path) if isinstance(node, ast.ClassDef) and node.name[0] != "_")
    assert {name for name, count in names.items() if count > 1} == SHARED_CLASS_NAMES


def test_what_a_reason_in_a_comment_names_is_there() -> None:
    """A rule says which test would fail without it; who renames or takes out the test comes by the rule."""
    tests = {path: path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")}
    functions = set(re.findall(r"def (test_\w+)", "\n".join(tests.values())))
    missing = []
    for module in modules():
        for comment in re.findall(r"(?m)(?:^| )# .*$", module.read_text("utf-8")):
            named = re.findall(r"\b(?:tests|docs/decisions|bench)/[\w/.-]*\w", comment)
            missing += [f"{module.name}: {name}" for name in named if not (ROOT / name).exists()]
            sentences = re.findall(r"(?<![/\w])test_[a-z]+_[a-z]+_\w+\b(?!\.)", comment)
            missing += [f"{module.name}: {name}" for name in sentences if name not in functions]
    assert missing == []


def test_the_manifests_say_the_same() -> None:
    read = [
        json.loads((ROOT / name).read_text(encoding="utf-8")) for name in ("plugin.json", ".claude-plugin/plugin.json")
    ]
    assert read[0].pop("hooks") == f"./{hosts.named('copilot').registration}"  # which reads this one first
    assert read[0] == read[1]
    of_codex = json.loads((ROOT / ".codex-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert {name: of_codex[name] for name in ("name", "version", "description")}.items() <= read[0].items()
    assert of_codex["hooks"] == f"./{hosts.named('codex').registration}"


def test_ci_calls_the_test_command_of_the_readme_and_the_contributors() -> None:
    assert "`./tests/run`" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "| `./tests/run` |" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "\n./tests/run " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_changelog_begins_with_this_version() -> None:
    """The manifests repeat it by docs/make_versions.py: tests/docs/test_release.py."""
    newest = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest
    assert newest[1] == omo.__version__


def test_the_marketplace_offers_this_plugin() -> None:
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8"))
    (entry,) = market["plugins"]
    assert (market["name"], entry["name"], entry["source"]) == ("omo", "omo", "./")


def test_the_environment_is_checked_for_every_package_it_is_to_hold() -> None:
    from omo.cli.doctor import MODULES

    script = (ROOT / "hooks" / "environment.sh").read_text(encoding="utf-8")
    assert f"MODULES='{' '.join(MODULES)}'" in script
