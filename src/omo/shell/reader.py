"""A shell text taken apart: the calls in the order they run, what feeds them, where they run, what `>` writes.

It knows as much of the language as this takes: words and quotes, expansions, here-documents, pipes, subshells. Compound
commands are only looked through. A text that it does not understand is kept in `unread`, read up to there.
"""

from __future__ import annotations

import os

from omo.shell import programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 256 * 1024  # Linux starts no program with a single argument of more than half of this
# Texts in texts: sh -c "sh -c '…'"; test_shells_inside_shells_are_opened_only_so_far in tests/test_shell.py.
DEEPEST = 4
# Blocks and expansions in each other, each of which costs some frames of our own stack:
# test_what_is_no_shell_text_is_survived in tests/test_shell.py.
MOST_NESTED = 20
MOST_INNER = 20

ENDS_WORD = frozenset(" \t\n;&|()<>")
SPECIAL = ENDS_WORD | frozenset("'\"\\$`")
PROCESSES = ("<(", ">(")
REDIRECTIONS = ("&>>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "&>", "<", ">")
KEYWORDS = ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "{", "}", "!", "function")


class Unknown(str):
    """A word as written, because of something in it that only the running shell resolves."""

    @property
    def known_start(self) -> str:
        """What stands before the first expansion."""
        return self[: min((self.find(sign) for sign in ("$", "`", *PROCESSES) if sign in self), default=len(self))]


class SimpleCommand:
    """One simple command. `directory` is None where nobody knows it.

    `piped_from` is the index among the calls where the pipe into it begins, None without one. `fed` are here-documents
    and here-strings, `inner` the commands whose output is among its words.
    """

    def __init__(self, words: list[str], piped_from: int | None = None) -> None:
        self.words = words
        self.directory: str | None = None
        self.piped_from = piped_from
        self.fed: list[str] = []
        self.inner: list[list[str]] = []
        self.has_variables = False


class Script:
    """`redirects` are the files a shell opens for writing, each with the directory it is relative to.

    `unread` is text that is not shell throughout, too long or too deep.
    """

    def __init__(self) -> None:
        self.calls: list[SimpleCommand] = []
        self.functions: list[str] = []
        self.redirects: list[tuple[str, str | None]] = []
        self.unread: list[str] = []


def read(text: str, known: Mapping[str, str] | None = None, directory: str = "") -> Script:
    """`known` is what expansions stand for, by how they are written: `$HOME`, `$(pwd)`.

    `directory` is where the text runs, and what a `cd` in it is relative to.
    """
    script = Script()
    _read_text(script, text, known or {}, directory, DEEPEST)
    return script


def _read_text(script: Script, text: str, known: Mapping[str, str], directory: str | None, depth: int) -> None:
    if not depth or len(text) > LONGEST:
        script.unread.append(text)
        return
    try:
        _Reader(script, text, known, directory, depth).block()
    except _Unreadable:
        script.unread.append(text)


class _Unreadable(Exception):
    pass


class _Reader:
    def __init__(self, script: Script, text: str, known: Mapping[str, str], directory: str | None, depth: int) -> None:
        self.script = script
        self.text = text
        self.known = known
        self.directory = directory
        self.depth = depth
        self.position = 0
        self.nested = 0
        self.open_cases = 0  # in a case, a lone parenthesis ends a pattern
        self.call = SimpleCommand([])
        # Those whose text begins on the next line: call, delimiter, is it expanded, are tabs stripped.
        self.heredocs: list[tuple[SimpleCommand, str, bool, bool]] = []

    def block(self, *, is_inner: bool = False) -> None:
        """A list of commands, up to the `)` that closes it or to the end of the text."""
        block_pipe = self.call.piped_from  # where the pipe into the whole block begins
        self.call = SimpleCommand([], block_pipe)
        pipeline = len(self.script.calls) if block_pipe is None else block_pipe  # where the current one begins
        while char := self._skip_blanks():
            if char == ")":
                self.position += 1
                self._end_command(block_pipe)
                if not self.open_cases:
                    if is_inner:
                        return
                    raise _Unreadable
            elif char == "(":
                self._open_parenthesis()
            elif self._ahead(2) in PROCESSES:
                self._read_word(block_pipe)
            elif char in "<>" or self._ahead(2) == "&>":
                self._redirect()
            elif char in ";&|\n":
                is_pipe = char == "|" and self._ahead(2) != "||"
                self.position += 1
                if self._ahead() in ("|", "&", ";"):
                    self.position += 1
                self._end_command(pipeline if is_pipe else block_pipe)
                if not is_pipe and block_pipe is None:
                    pipeline = len(self.script.calls)
                if char == "\n":
                    self._read_heredocs()
            else:
                self._read_word(block_pipe)
        self._end_command(block_pipe)
        if is_inner:
            raise _Unreadable

    def _end_command(self, piped_from: int | None) -> None:
        """Note the call, the texts that it runs, and where a cd leads. The next call is `piped_from` there."""
        call, self.call = self.call, SimpleCommand([], piped_from)
        if not call.words:
            return
        call.directory = self.directory
        self.script.calls.append(call)
        texts = []
        for stage in programs.stages(call.words):
            texts += programs.texts(stage)
        if programs.runs_what_it_is_fed(call.words):
            texts += call.fed
        for text in texts:
            self._read_inner(text)
        words = programs.program(call.words)
        if programs.name(words) in ("cd", "pushd", "popd"):
            self._change_directory(words)
        elif programs.name(words) == "case":
            self.open_cases += 1

    def _change_directory(self, words: list[str]) -> None:
        operands = [word for word in words[1:] if word == "-" or not word.startswith("-")]
        target = operands[0] if operands else "~"
        if words[0] == "popd" or target == "-" or isinstance(target, Unknown):
            self.directory = None
        elif target.startswith("~"):
            self.directory = target
        elif self.directory is not None or target.startswith("/"):
            self.directory = os.path.join(self.directory or "", target)

    def _read_inner(self, text: str) -> None:
        _read_text(self.script, text, self.known, self.directory, self.depth - 1)

    def _open_parenthesis(self) -> None:
        """A subshell, arithmetic, or the parentheses of a function's name."""
        words, start = self.call.words, self.position
        if self._ahead(2) == "((" and self._skip_arithmetic():
            return
        self.position += 1
        if len(words) == 1 and self._skip_blanks() == ")":
            self.position += 1
            self.script.functions += words
            self.call.words = []
        elif not words or self.open_cases or words[-1] == "time" or words[-1].endswith("="):
            self.position = start
            self._parenthesised()
        elif words[0] != "case":  # which may have one before its pattern
            raise _Unreadable

    def _parenthesised(self) -> None:
        """A block in parentheses: what it changes of its directory ends with it."""
        call, directory, cases = self.call, self.directory, self.open_cases
        self._nest()
        self.position += 1
        self.open_cases = 0
        self.block(is_inner=True)
        self.nested -= 1
        self.call, self.directory, self.open_cases = call, directory, cases

    def _nest(self) -> None:
        self.nested += 1
        if self.nested > MOST_NESTED:
            raise _Unreadable

    def _skip_arithmetic(self) -> bool:
        """To the end of `((…))`. False, and nothing read, where it is none, as in `((a); b)`."""
        level, end = 1, self.position + 2
        while level and end < len(self.text):
            level += (self.text[end] == "(") - (self.text[end] == ")")
            end += 1
        is_arithmetic = self.text[end : end + 1] == ")"
        if is_arithmetic:
            self.position = end + 1
        return is_arithmetic

    def _redirect(self) -> None:
        operator = next(sign for sign in REDIRECTIONS if self.text.startswith(sign, self.position))
        self.position += len(operator)
        self._skip_blanks()
        is_process = self._ahead(2) in PROCESSES
        word, is_quoted = self._word()
        if not word and not is_quoted:
            raise _Unreadable
        if operator in ("<<", "<<-"):
            self.heredocs.append((self.call, word, not is_quoted, operator == "<<-"))
        elif operator == "<<<":
            self.call.fed.append(word)
        elif ">" in operator and not is_process:
            is_descriptor = operator == ">&" and (word == "-" or word.rstrip("-").isdigit())
            if not is_descriptor:
                self.script.redirects.append((word, self.directory))

    def _read_heredocs(self) -> None:
        pending, self.heredocs = self.heredocs, []
        for call, delimiter, is_expanded, is_stripped in pending:
            start = end = self.position
            line = None
            while self.position < len(self.text) and line != delimiter:
                end = self.position
                self.position = self.text.find("\n", end) + 1 or len(self.text)
                line = self.text[end : self.position].removesuffix("\n")
                if is_stripped:
                    line = line.lstrip("\t")
            body, after = self.text[start:end], self.position
            call.fed.append(body)
            if is_expanded:
                current, self.call = self.call, call
                self.position = start
                self._expand(end)
                self.call = current
            self.position = after
            if programs.runs_what_it_is_fed(call.words):
                self._read_inner(body)

    # Words.

    def _ahead(self, count: int = 1) -> str:
        return self.text[self.position : self.position + count]

    def _end_of(self, sign: str, start: int) -> int:
        """Where that sign stands next without a backslash before it."""
        while self.text[start : start + 1] != sign:
            if start >= len(self.text):
                raise _Unreadable
            start += 2 if self.text[start] == "\\" else 1
        return start

    def _skip_blanks(self) -> str:
        """The character after the blanks. Comments are blank too, and a backslash at the end of a line."""
        while True:
            char = self._ahead()
            if char in (" ", "\t"):
                self.position += 1
            elif self._ahead(2) == "\\\n":
                self.position += 2
            elif char == "#":
                end = self.text.find("\n", self.position)
                self.position = end if end >= 0 else len(self.text)
            else:
                return char

    def _read_word(self, block_pipe: int | None) -> None:
        """Add the next word to the command. An assignment before its program is none, and what it sets is not kept."""
        words, start = self.call.words, self.position
        word, is_quoted = self._word()
        name_ends = self._end_of_name(start)
        is_assignment = name_ends > start and self.text.startswith(("=", "+="), name_ends)
        if is_assignment and not words:
            return
        if is_quoted:
            words.append(word)
        elif word.isdigit() and self._ahead() in ("<", ">"):
            return  # the number of a descriptor
        elif word == "[[" and not words:
            self.position = self.text.find("]]", self.position) + 2
            if self.position < 2:
                raise _Unreadable
        elif word in KEYWORDS and (not words or word == "{"):
            if words:
                self._end_command(block_pipe)  # time { …; }, function f { …; }
            self.open_cases -= word == "esac"
        else:
            words.append(word)

    def _end_of_name(self, end: int) -> int:
        while self.text[end : end + 1].isalnum() or self.text[end : end + 1] == "_":
            end += 1
        return end

    def _word(self) -> tuple[str, bool]:
        """The word up to the next blank or operator, empty if there is none, and whether quotes were in it."""
        pieces: list[str] = []
        is_quoted = False
        while char := self._ahead():
            start = self.position
            if self._ahead(2) in PROCESSES and not pieces:
                self.position += 1
                self._substitute()
                pieces.append(Unknown(self.text[start : self.position]))
            elif char in ENDS_WORD:
                break
            elif char in "'\"\\" or self._ahead(2) in ("$'", '$"'):
                pieces += self._quoted()
                is_quoted = True
            elif char in "$`":
                pieces.append(self._expansion())
            else:
                while self.position < len(self.text) and self.text[self.position] not in SPECIAL:
                    self.position += 1
                pieces.append(self.text[start : self.position])
        is_unknown = any(isinstance(piece, Unknown) for piece in pieces)
        word = "".join(pieces)
        return Unknown(word) if is_unknown else word, is_quoted

    def _quoted(self) -> list[str]:
        """The pieces in quotes, or after a backslash; at least one, as `''` is a word too."""
        start = self.position
        if self._ahead() == "\\":
            self.position += 2
            return [self.text[start + 1 : self.position].removeprefix("\n")]
        if self._ahead() == "'":
            end = self.text.find("'", start + 1)
            if end < 0:
                raise _Unreadable
            self.position = end + 1
            return [self.text[start + 1 : end]]
        if self._ahead(2) == "$'":
            self.position = self._end_of("'", start + 2) + 1
            return [Unknown(self.text[start : self.position])]
        self.position = self.text.index('"', start) + 1
        return ["", *self._expand(len(self.text), '"')]

    def _expand(self, end: int, closer: str = "") -> list[str]:
        """The pieces of a text in which `$` and backquotes count, as in double quotes, up to `closer` or `end`."""
        pieces = []
        while self.position < end and self._ahead() != closer:
            start, char = self.position, self._ahead()
            if char in "$`":
                pieces.append(self._expansion())
            elif char == "\\":
                escaped = self.text[start + 1 : start + 2]
                self.position += 2
                if escaped != "\n":
                    pieces.append(escaped if escaped in '$`"\\' else char + escaped)
            else:
                while self.position < end and self._ahead() not in ("$", "`", "\\", closer):
                    self.position += 1
                pieces.append(self.text[start : self.position])
        if closer and self.position >= end:
            raise _Unreadable
        self.position += bool(closer)
        return pieces

    def _expansion(self) -> str:
        """What `$…` or a backquoted command stands for where that is known, else itself as written."""
        start = self.position
        if self._ahead() == "`":
            end = self._end_of("`", start + 1)
            first = len(self.script.calls)
            self._read_inner(self.text[start + 1 : end].replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\"))
            self._note_inner(first)
            self.position = end + 1
        elif self._ahead(2) == "$(":
            self.position += 1
            if self._ahead(2) != "((" or not self._skip_arithmetic():
                self._substitute()
        elif self._ahead(2) == "${":
            self._nest()
            self.position += 2
            self._expand(len(self.text), "}")
            self.nested -= 1
        else:
            self.position = self._end_of_name(start + 1)
            if self.position == start + 1 and self._ahead() in ("@", "*", "#", "?", "$", "!", "-"):
                self.position += 1
            if self.position == start + 1:
                return "$"
        written = self.text[start : self.position]
        if written[0] == "$" and written[1] != "(":
            self.call.has_variables = True
        plain = written.replace("${", "$").removesuffix("}") if written.startswith("${") else written
        return self.known.get(plain) or Unknown(written)

    def _substitute(self) -> None:
        first = len(self.script.calls)
        self._parenthesised()
        self._note_inner(first)

    def _note_inner(self, first: int) -> None:
        for inner in self.script.calls[first : first + MOST_INNER]:
            self.call.inner.append(inner.words)
            self.call.has_variables = self.call.has_variables or inner.has_variables
