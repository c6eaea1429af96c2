"""Messages of compilers, loaders and shells: that no test was reached, what is missing, and those that say little."""

from __future__ import annotations

import re
from collections.abc import Iterable

# A build, an import, a collection, a configuration or a resolution that failed: tests were not reached.
_BROKE = (
    # Python
    r"\berrors? during collection\b",
    r"^ERROR: usage: ",
    r"^ERROR: (?:file or directory )?not found: ",
    r"^INTERNALERROR>",
    r"^ImportError while loading conftest ",
    r"^(?:\w+\.)*UsageError: ",
    r"^[\w.]+: error: (?:unrecognized arguments|argument |the following arguments)",
    r"^(?:# )?(?:ModuleNotFoundError|ImportError|SyntaxError|IndentationError|TabError): ",
    r": No module named \S+$",
    # JavaScript and TypeScript
    r"^ +● Test suite failed to run$",
    r"^● Validation Error",
    r"^[^\w\n]*Failed Suites \d+\b",
    r"^ ?Exception during run: ",
    r"^(?:Uncaught )?(?:Error: Cannot find (?:module|package)|Error \[ERR_MODULE_NOT_FOUND\])",
    r"^failed to load config from ",
    r"^npm (?:ERR!|error) (?:Missing script|missing script|code E[A-KM-Z]|could not )",  # not ELIFECYCLE
    # Rust and Go
    r"^error(?:\[E\d+\])?: could not (?:compile|find|parse|load)",
    r"^error: (?:no matching package|failed to )",
    r"\[(?:build|setup) failed\]",
    r"^go: ",
    # Java
    r"^\[ERROR\] COMPILATION ERROR",
    r"\bcould not be resolved: ",
    r"^Execution failed for task ':\S*compile",
    r"^> Could not resolve ",
    # Ruby, Elixir, PHP, and whatever is compiled by a compiler that names a line and a column
    r"\berrors? occurred outside of examples\b",
    r"^== Compilation error in file ",
    r"^(?:PHP )?(?:Fatal|Parse) error: ",
    r"^\S+\.(?:c|cc|cpp|cxx|h|hpp|m|mm|swift|kt|java|cs|zig|hs)[:(]\d+[:,)][^\n]*\berror\b",
    r"\bundefined reference to ",
    # programs
    r": command not found$",
    r"^\S*sh: (?:.*: )?\S+: not found$",
    r"^\S+: \d+: \S+: not found$",
    r"is not recognized as ",
    r"^g?make\S*: \*\*\* No (?:rule to make target|targets) ",
)

# Groups are what is missing. Where a thing is missing from another, both are meant.
_MISSING = (
    # Python
    r"No module named '?([\w.]+)",
    r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'",
    r"module '([\w.]+)' has no attribute '(\w+)'",
    r"type object '(\w+)' has no attribute '(\w+)'",
    r"object has no attribute '(\w+)'",
    r"name '(\w+)' is not defined",
    r"fixture '(\w+)' not found",
    r"No such file or directory: '([^'\n]+)'",
    r"file or directory not found: (\S+)",
    r"module named \"([\w.]+)\"",
    r"Module \"([\w.]+)\" has no attribute \"(\w+)\"",
    r"Name \"(\w+)\" is not defined",
    # JavaScript and TypeScript
    r"Cannot find (?:module|package) '([^'\n]+)'",
    r"Failed to resolve import \"([^\"\n]+)\"",
    r"requested module '([^'\n]+)' does not provide an export named '(\w+)'",
    r"ReferenceError: (\w+) is not defined",
    r"TypeError: (?:\(0 , )?(?:\w+\.)*(\w+)\)? is not a (?:function|constructor)",
    r"Module '\"([^\"\n]+)\"' has no exported member (?:named )?'(\w+)'",
    r"Cannot find name '(\w+)'",
    r"Property '(\w+)' does not exist on type",
    r"[Mm]issing script: \"([^\"\n]+)\"",
    # Go
    r": undefined: ([\w.]+)",
    r": (?:\w+\.)*(\w+) undefined \(",
    r"no required module provides package ([^\s;]+)",
    r"package (\S+) is not in ",
    r"cannot find (?:module providing )?package \"?([^\s\";]+)",
    # Rust
    r"unresolved imports? `([\w:]+)`",
    r"[Cc]ould not find `(\w+)` in `([\w:]+)`",
    r"no `(\w+)` in (?:the root|`([\w:]+)`)",
    r"cannot find [\w ,]+ `(\w+)` in",
    r"no [\w ,]+ named `(\w+)` found",
    r"unlinked crate `(\w+)`",
    r"undeclared \w+ `(\w+)`",
    r"no field `(\w+)` on type",
    r"file not found for module `(\w+)`",
    r"can't find crate for `(\w+)`",
    r"no matching package named `([\w-]+)` found",
    # Java, Ruby, PHP, Elixir, C
    r"symbol: +\w+ (\w+)",
    r"package ([\w.]+) does not exist",
    r"cannot load such file -- (\S+)",
    r"uninitialized constant ([\w:]+)",
    r"undefined (?:local variable or )?method [`'](\w+[?!]?)'",
    r"Class \"([\w\\]+)\" not found",
    r"Call to undefined (?:function|method) ([\w\\:]+)\(",
    r"module ([\w.]+) is not available",
    r"function ([\w.]+[?!]?)/\d+ is undefined",
    r"fatal error: (\S+): No such file",
    r"undefined reference to [`']([^'\n]+)'",
    r"'(\w+)' was not declared",
    r"use of undeclared identifier '(\w+)'",
    # programs
    r"sh: (?:line \d+: |\d+: )?([\w./@-]+): (?:command )?not found$",
    r"No rule to make target '([^'\n]+)'",
)

_SAYS_WRONG = (
    r"\b(?:errors?|fail|failed|failures?|fatal|exception|panic|assert\w*|cannot|not found|missing|expected)\b",
    r"\w(?:error|exception)\b",
)

# Frames, farewells, the echo of a command, `make: *** Error 1`: they only pass on that something is wrong.
_SAYS_LITTLE = (
    r"^\s*(?:at \S|File \"|in \S+:\d|#\d+ |\d+: 0x|goroutine \d|created by |from \S+:\d)",
    r"^\s*[\^~]+$",
    r"^[-=*_ .]+$",
    r"^\s*\d* *\|",
    r"^(?:FAIL|PASS|OK|ok)$",
    r"^\[… ",
    r"^(?:npm|pnpm|yarn) (?:ERR!|error|warn)\b.*(?:A complete log|code ELIFECYCLE|errno \d|Lifecycle|Test failed\.)",
    r"^(?:npm|pnpm|yarn) (?:ERR!|error|warn)\b.*(?:Exit status|workspace|at location|command (?:failed|sh)|path /)",
    r"^npm warn ",
    r"^npm (?:ERR!|error)$",
    r"^ ?ELIFECYCLE\b",
    r"^error Command failed with exit code",
    r"^info Visit ",
    r"^Node\.js v",
    r"^note: ",
    r"^\s*= note",
    r"^For more information about",
    r"^Some errors have detailed",
    r"^g?make\S*: ",
    r"^ERROR: usage: ",
    r"^\[ERROR\] (?:\[Help|To see|Re-run|For more|Please refer|After correcting|-> )",
    r"^\[(?:INFO|ERROR)\]\s*$",
    r"^\[\w+\] -+",
    r"^nox > ",
    r"^ +evaluation failed",
    r"^ +\w+: (?:OK|FAIL)",
    r"^Randomized with seed",
    r"^.*\[(?:build|setup) failed\]",
)

_TIMES = (
    r"[;,]? ?(?:finished )?(?:in|after) \d+(?:\.\d+)? ?(?:m?s|sec(?:ond)?s?)\b(?: \([\d:]+\))?",
    r" \(\d+(?:\.\d+)? ?m?s\)",
    r" \[ *\d+\.\d+m?s\]",
)


def _any(patterns: Iterable[str], flags: re.RegexFlag = re.MULTILINE) -> re.Pattern[str]:
    return re.compile("|".join(patterns), flags)


BROKE = _any(_BROKE)
MISSING = _any(_MISSING)
SAYS_WRONG = _any(_SAYS_WRONG, re.IGNORECASE)
SAYS_LITTLE = _any(_SAYS_LITTLE)
NAMES_PLACE = re.compile(r"\S+\.go:\d+:\d+: ")  # Go's compiler and vet, which do not say that it is an error
TIMES = _any(_TIMES)
