"""How the source reads, in numbers: sizes by package, functions, density of expressions, names, the import graph.

    python3 bench/shape.py [--src DIRECTORY]        of this checkout, or of another one's src

The numbers are for comparing two states of the source. None of them is a bound: a page that reads well beats them all.
"""

from __future__ import annotations

import argparse
import ast
import statistics
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VAGUE = {"one", "found", "told", "said", "seen", "at"}


@dataclass
class Shape:
    """What was counted in some modules."""

    files: int = 0
    lines: int = 0
    statements: int = 0
    conditional: int = 0
    comprehensions: int = 0
    comments: int = 0
    assigned: int = 0
    vague: int = 0
    functions: list[int] = field(default_factory=list)
    private: dict[str, int] = field(default_factory=dict)

    def add(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        self.files += 1
        self.lines += len(text.splitlines())
        self.comments += sum(line.lstrip().startswith("#") for line in text.splitlines())
        tree = ast.parse(text)
        used: dict[str, int] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt):
                self.statements += 1
            if isinstance(node, ast.IfExp):
                self.conditional += 1
            elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                self.comprehensions += 1
            elif isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Store):
                    self.assigned += 1
                    self.vague += node.id in VAGUE
                else:
                    used[node.id] = used.get(node.id, 0) + 1
            elif isinstance(node, ast.Attribute):
                used[node.attr] = used.get(node.attr, 0) + 1
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions.append((node.end_lineno or node.lineno) - node.lineno + 1)
                if node.name.startswith("_") and not node.name.startswith("__"):
                    self.private[f"{path}:{node.name}"] = 0
        for name in [key for key in self.private if key.startswith(f"{path}:")]:
            self.private[name] = used.get(name.rpartition(":")[2], 0)

    @property
    def called_once(self) -> float:
        if not self.private:
            return 0.0
        return 100 * sum(count == 1 for count in self.private.values()) / len(self.private)

    def per_statement(self, count: int) -> float:
        return 100 * count / max(1, self.statements)


def modules(src: Path) -> list[Path]:
    return sorted((src / "omo").rglob("*.py"))


def longest_chain(src: Path) -> list[str]:
    """The longest way down through imports at the top of modules."""
    names = {}
    for path in modules(src):
        parts = path.relative_to(src).with_suffix("").parts
        names[".".join(parts).removesuffix(".__init__")] = path
    below: dict[str, list[str]] = {}
    for name, path in names.items():
        below[name] = sorted(_imported(path, names) - {name})
    known: dict[str, list[str]] = {}

    def chain(name: str, above: tuple[str, ...]) -> list[str]:
        if name in above:
            return []
        if name not in known:
            ways = [chain(other, (*above, name)) for other in below[name]]
            known[name] = [name, *max(ways, key=len, default=[])]
        return known[name]

    return max((chain(name, ()) for name in names), key=len)


def _imported(path: Path, names: dict[str, Path]) -> set[str]:
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return {name for name in found if name in names}


OBJECTS = {"dict", "Mapping", "MutableMapping", "Dict"}
ANYTHING = {"Any", "object"}


def untyped(src: Path) -> int:
    """How often a type says no more than "an object of JSON": `dict[str, Any]` under whatever name."""
    aliases = {"Json", "Row"}
    for path in modules(src):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and _is_untyped(node.value) and isinstance(node.targets[0], ast.Name):
                aliases.add(node.targets[0].id)
    uses = 0
    for path in modules(src):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_named = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in aliases
            is_quoted = isinstance(node, ast.Attribute) and node.attr in aliases
            uses += is_named or is_quoted or _is_untyped(node)
    return uses


def _is_untyped(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or node.value.id not in OBJECTS:
        return False
    inner = node.slice
    if not isinstance(inner, ast.Tuple) or len(inner.elts) != 2:
        return False
    key, value = inner.elts
    return ast.unparse(key) == "str" and ast.unparse(value) in ANYTHING


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--src", type=Path, default=ROOT / "src")
    src = parser.parse_args().src
    whole = Shape()
    packages: dict[str, Shape] = {}
    for path in modules(src):
        relative = path.relative_to(src / "omo")
        package = relative.parts[0] if len(relative.parts) > 1 else "(top)"
        if package == "workflows" and len(relative.parts) > 2:
            package = f"workflows/{relative.parts[1]}"
        packages.setdefault(package, Shape()).add(path)
        whole.add(path)
    head = f"{'package':22}{'files':>6}{'lines':>8}{'functions':>11}{'median':>8}{'p90':>5}{'max':>5}"
    print(head + f"{'if-exp':>8}{'compr.':>8}{'vague %':>9}{'once %':>8}")
    for name, shape in [*sorted(packages.items(), key=lambda item: -item[1].lines), ("all", whole)]:
        lengths = sorted(shape.functions) or [0]
        row = f"{name:22}{shape.files:>6}{shape.lines:>8}{len(shape.functions):>11}"
        row += f"{statistics.median(lengths):>8.0f}{lengths[int(len(lengths) * 0.9)]:>5}{lengths[-1]:>5}"
        row += f"{shape.per_statement(shape.conditional):>8.1f}{shape.per_statement(shape.comprehensions):>8.1f}"
        print(row + f"{100 * shape.vague / max(1, shape.assigned):>9.1f}{shape.called_once:>8.0f}")
    chain = longest_chain(src)
    print(f"\nlongest import chain: {len(chain)}: {' → '.join(name.removeprefix('omo.') for name in chain)}")
    print(f"comments per 100 lines: {100 * whole.comments / whole.lines:.1f}")
    print(f"objects of JSON without a type: {untyped(src)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
