"""Mutants of Python, found with `ast`, whose columns are bytes of UTF-8 whatever the file is written in."""

from __future__ import annotations

import ast
import codecs
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Collection

from omo.mutants.edits import Edit, Lines, Mutant, NoMutants, apart, mutants_from
from omo.mutants.programs import Tools

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
# Moved, these say the contrary: a condition that is nothing else needs no second mutant.
NEGATED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
}
# With one of these `+` joins, `*` repeats and `/` is a path: another operator is a TypeError, not a mistake.
NO_NUMBERS = (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp)
# A type checker reads the one, a person starts the other.
NOT_TESTED = re.compile(r"(\w+\.)*TYPE_CHECKING|__name__ == '__main__'|'__main__' == __name__")
BETWEEN = r"(?:[\s()\\]|#[^\r\n]*)*"


def mutants_of(path: str, content: bytes, lines: Collection[int], tools: Tools) -> list[Mutant] | NoMutants:
    version = "Python {}.{}".format(*sys.version_info)
    try:
        source = _Source(content, lines)
        found = _Finder(source)
        found.visit(source.tree)
    except SyntaxError as error:
        return NoMutants(path, f"{version} cannot read line {error.lineno or 1}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return NoMutants(path, f"{version} cannot read it: {error or type(error).__name__}")
    return mutants_from(path, content, lines, found.edits, source.encoding)


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


class _Source:
    """A module as text, as UTF-8, and as it lies in the file."""

    def __init__(self, content: bytes, lines: Collection[int]) -> None:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        self.bom = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
        self.encoding = "utf-8" if self.bom else encoding
        text = content[self.bom :].decode(self.encoding)
        self.tree = _parse(text)
        self.utf8 = text.encode()
        self.lines = Lines(self.utf8)
        self.ranges = self.lines.ranges(lines)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        starts = self.lines.starts
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column

    def text(self, start: int, end: int) -> str:
        return self.utf8[start:end].decode()

    def is_changed(self, start: int, end: int) -> bool:
        return any(start < to and end > since for since, to in self.ranges)

    def in_file(self, edit: Edit) -> Edit:
        """Return the edit of UTF-8 as one of the file."""
        if self.encoding == "utf-8":
            return edit._replace(start=edit.start + self.bom, end=edit.end + self.bom)
        start, end = (len(self.utf8[:place].decode().encode(self.encoding)) for place in edit[:2])
        return Edit(start, end, edit.text.decode().encode(self.encoding), edit.kind)


class _Finder(ast.NodeVisitor):
    """Collects the edits of changed lines. What is not visited gets none: annotations, patterns, text, asserts."""

    def __init__(self, source: _Source) -> None:
        self.source = source
        self.edits: list[Edit] = []
        self.top = (0, 0)  # the statement of the module around it, which must parse again

    def edit(self, kind: str, start: int, end: int, text: str) -> None:
        source = self.source
        if not source.is_changed(start, end):
            return
        edit = apart(source.utf8, Edit(start, end, text.encode(), kind))
        begin, finish = self.top
        try:
            _parse((source.utf8[begin:start] + edit.text + source.utf8[end:finish]).decode())
        except (SyntaxError, ValueError):
            return
        self.edits.append(source.in_file(edit))

    def operator(self, kind: str, left: ast.expr, right: ast.expr, moved: tuple[str, str]) -> None:
        """Replace the operator between two operands; beside it are only blanks, comments and parentheses."""
        operator, other = moved
        start, end = self.source.span(left)[1], self.source.span(right)[0]
        words = BETWEEN.join(map(re.escape, operator.split()))
        found = re.compile(f"{BETWEEN}({words})").match(self.source.text(start, end))
        if found:
            begin = start + len(found.string[: found.start(1)].encode())
            self.edit(kind, begin, begin + len(found[1].encode()), other)

    def condition(self, test: ast.expr) -> None:
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], NEGATED):
            return
        start, end = self.source.span(test)
        self.edit("condition", start, end, f"not ({self.source.text(start, end)})")

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body:
            start, end = self.source.span(statement)
            decorators = getattr(statement, "decorator_list", [])
            if decorators:
                start = self.source.lines.starts[decorators[0].lineno - 1]
            self.top = (start, end)
            self.visit(statement)

    def visit_If(self, node: ast.If) -> None:
        test = ast.unparse(node.test)
        if NOT_TESTED.fullmatch(test):
            self.visit_all(node.orelse)
            return
        self.visit_test(node)

    def visit_test(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self.condition(node.test)
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_test

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.condition(test)
        self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> None:
        if node.guard is not None:
            self.condition(node.guard)
            self.visit(node.guard)
        self.visit_all(node.body)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            self.operator("comparison", left, right, COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        moved = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.operator("boolean", left, right, moved)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        moved = ARITHMETIC.get(type(node.op))
        if moved and not _is_no_number(node):
            self.operator("arithmetic", node.left, node.right, moved)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        moved = ARITHMETIC.get(type(node.op))
        if moved and not _is_no_number(node.value):
            operator, other = moved
            self.operator("arithmetic", node.target, node.value, (f"{operator}=", f"{other}="))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call):
            if ast.unparse(call.func).startswith("__all__."):
                return
            self.edit("call", *self.source.span(node), "pass")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            changed = _other_value(node.value)
            if changed:
                self.edit("return", *self.source.span(node.value), changed)
            self.visit(node.value)

    def visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.visit_all([*node.decorator_list, node.args, *node.body])

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_nothing(self, node: ast.AST) -> None:
        pass

    visit_arg = visit_Assert = visit_JoinedStr = visit_TemplateStr = visit_nothing
    visit_TypeAlias = visit_TypeVar = visit_TypeVarTuple = visit_ParamSpec = visit_nothing

    def visit_all(self, nodes: Collection[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def _is_no_number(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_no_number(node.left) or _is_no_number(node.right)
    return isinstance(node, NO_NUMBERS) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


def _other_value(value: ast.expr) -> str | None:
    """Return what to return instead, or None if it already returns nothing."""
    try:
        constant = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return "None"
    if constant is None:
        return None
    if isinstance(constant, bool):
        return str(not constant)
    if isinstance(constant, int):
        return str(constant + 1)
    if isinstance(constant, float) and constant + 1 != constant:
        return repr(constant + 1)
    return "None"
