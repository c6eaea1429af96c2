"""The grammar: tree-sitter and its bash, loaded in two milliseconds instead of forty."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tree_sitter import Node


class _StandIn(type(sys)):  # type: ignore[misc]  # the type of a module
    """For a module the binding looks into while it is loaded: `re` for queries, `enum` for logs. We use neither."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_: int


def parse(text: str) -> Node:
    parser, grammar = (compiled(name) for name in ("tree_sitter", "tree_sitter_bash"))
    tree = parser.Parser(parser.Language(grammar.language())).parse(text.encode("utf-8", "replace"))
    root: Node = tree.root_node
    return root


def compiled(package: str) -> Any:
    """The compiled half of a package. The other half imports typing and importlib.resources: 35 ms a hook can save."""
    import importlib

    name = package + "._binding"
    if name in sys.modules or package in sys.modules:
        return importlib.import_module(name)
    bare = type(sys)(package)
    bare.__path__ = [os.path.join(directory, package) for directory in sys.path]
    stand_ins = [one for one in ("re", "enum") if one not in sys.modules]  # 18 ms more
    sys.modules.update({package: bare, **{one: _StandIn(one) for one in stand_ins}})
    try:
        return importlib.import_module(name)
    finally:
        for one in (package, *stand_ins):
            del sys.modules[one]  # whoever wants the whole package imports it as ever
