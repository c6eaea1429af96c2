"""A shell text taken apart: the calls in the order they run, what feeds them, where they run, what `>` writes.

It knows as much of the language as this takes: words and quotes, expansions, here-documents, pipes, subshells. Compound
commands are only looked through. What it does not understand is kept in `unread`, and the next line is read on.
"""

from __future__ import annotations

import os

from omo.shell import programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 256 * 1024  # Linux starts no program with a single argument of more than half of this
DEEPEST = 4  # texts in texts: sh -c "sh -c '…'"
MOST_NESTED = 20  # blocks and expansions in each other: each costs some frames of our own stack
MOST_INNER = 20

ENDS_WORD = frozenset(" \t\n;&|()<>")
SPECIAL = ENDS_WORD | frozenset("'\"\\$`")
PROCESSES = ("<(", ">(")
REDIRECTIONS = ("&>>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "&>", "<", ">")
KEYWORDS = ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "{", "}", "!", "function")
DECLARES = ("export", "declare", "local", "readonly", "typeset")


class Unknown(str):
    """A word as written, because of something in it that only the running shell resolves."""

    __slots__ = ()

    @property
    def known_start(self) -> str:
        """What stands before the first expansion."""
        return self[: min((self.find(sign) for sign in ("$", "`", *PROCESSES) if sign in self), default=len(self))]


class Call:
    """One simple command. `directory` is None where nobody knows it.

    `piped_from` is the index among the calls where the pipe into it begins, None without one. `fed` are here-documents
    and here-strings, `inner` the commands whose output is among its words.
    """

    __slots__ = ("directory", "fed", "has_variables", "inner", "piped_from", "words")

    def __init__(self, words: list[str], directory: str | None = None, piped_from: int | None = None) -> None:
        self.words = words
        self.directory = directory
        self.piped_from = piped_from
        self.fed: list[str] = []
        self.inner: list[list[str]] = []
        self.has_variables = False


class Script:
    """`redirects` are the files a shell opens for writing, each with the directory it is relative to.

    `unread` is text that is not shell throughout, too long or too deep.
    """

    __slots__ = ("calls", "functions", "redirects", "unread")

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.functions: list[str] = []
        self.redirects: list[tuple[str, str | None]] = []
        self.unread: list[str] = []


def read(text: str, variables: Mapping[str, str] | None = None, directory: str = "") -> Script:
    """`variables`: what is known of names (`HOME`), and of whole expansions as written (`$(pwd)`).

    `directory` is where the text runs, and what a `cd` in it is relative to.
    """
    script = Script()
    _read_text(script, text, dict(variables or {}), directory, DEEPEST)
    return script


def _read_text(script: Script, text: str, variables: dict[str, str], directory: str | None, depth: int) -> None:
    if not depth or len(text) > LONGEST:
        script.unread.append(text)
        return
    block = _Block(script, text, variables, directory, depth)
    while block.position < len(text):
        try:
            block.run()
        except _Unreadable as error:
            if script.unread[-1:] != [text]:
                script.unread.append(text)
            block = _Block(script, text, variables, directory, depth)
            block.position = text.find("\n", error.position) + 1 or len(text)


class _Unreadable(Exception):
    def __init__(self, position: int) -> None:
        super().__init__()
        self.position = position


class _Block:
    """A list of commands, up to the `)` that closes it or to the end of the text."""

    def __init__(self, script: Script, text: str, variables: dict[str, str], directory: str | None, depth: int) -> None:
        self.script = script
        self.text = text
        self.variables = variables
        self.directory = directory
        self.depth = depth
        self.nested = 0
        self.position = 0
        self.is_inner = False  # closed by a parenthesis
        self.open_cases = 0  # in a case, a lone parenthesis ends a pattern
        self.outer_pipe: int | None = None  # what the whole block reads from
        self.begins = len(script.calls)  # the first call of the pipeline
        self.call = Call([])
        self.assigned: list[tuple[str, str]] = []
        self.heredocs: list[tuple[Call, str, bool, bool]] = []  # call, delimiter, is it quoted, are tabs stripped

    def run(self) -> None:
        while char := self._skip_blanks():
            if self._ahead(2) in PROCESSES:
                self._read_word()
            elif char == "(":
                self._open_parenthesis()
            elif char == ")":
                self.position += 1
                self._end_command()
                if not self.open_cases:
                    if self.is_inner:
                        return
                    raise _Unreadable(self.position)
            elif char in "<>" or self._ahead(2) == "&>":
                self._redirect()
            elif char in ";&|\n":
                self._operator(char)
            else:
                self._read_word()
        self._end_command()
        if self.is_inner:
            raise _Unreadable(self.position)

    def _operator(self, char: str) -> None:
        is_pipe = char == "|" and self._ahead(2) != "||"
        self.position += 1
        if self._ahead() in ("|", "&", ";"):
            self.position += 1
        self._end_command()
        if is_pipe:
            self.call.piped_from = self.begins
        else:
            self._begin_pipeline()
        if char == "\n":
            self._read_heredocs()

    def _begin_pipeline(self) -> None:
        self.call.piped_from = self.outer_pipe
        self.begins = len(self.script.calls) if self.outer_pipe is None else self.outer_pipe

    def _end_command(self) -> None:
        call, self.call = self.call, Call([], None, self.outer_pipe)
        for variable, value in self.assigned:
            if not call.words:
                self._assign(variable, value)
        self.assigned = []
        if call.words:
            call.directory = self.directory
            self.script.calls.append(call)
            self._follow(call)

    def _follow(self, call: Call) -> None:
        """The texts that a call runs in its turn, the variables it sets, and where it leads."""
        for stage in programs.stages(call.words):
            for text in programs.texts(stage):
                self._read_inner(text)
        if programs.runs_what_it_is_fed(call.words):
            for text in call.fed:
                self._read_inner(text)
        words = programs.program(call.words)
        if programs.name(words) in ("cd", "pushd", "popd"):
            self._change_directory(words)
        elif programs.name(words) in DECLARES:
            for word in words[1:]:
                self._assign(word.partition("=")[0], "" if isinstance(word, Unknown) else word.partition("=")[2])
        elif programs.name(words) in ("for", "select"):
            self._assign("".join(words[1:2]), "")
        elif programs.name(words) == "case":
            self.open_cases += 1

    def _change_directory(self, words: list[str]) -> None:
        target = [*(word for word in words[1:] if word == "-" or not word.startswith("-")), "~"][0]
        if words[0] == "popd" or target == "-" or isinstance(target, Unknown):
            self.directory = None
        elif target.startswith("~"):
            self.directory = target
        elif self.directory is not None or target.startswith("/"):
            self.directory = os.path.join(self.directory or "", target)

    def _assign(self, variable: str, value: str) -> None:
        self.variables.pop(variable, None)
        if value:  # one that is emptied is most often filled in a place that is not read in order
            self.variables[variable] = value

    def _read_inner(self, text: str) -> None:
        _read_text(self.script, text, self.variables, self.directory, self.depth - 1)

    def _open_parenthesis(self) -> None:
        """A subshell, arithmetic, or the parentheses of a function's name."""
        words, start = self.call.words, self.position
        if self._ahead(2) == "((" and self._read_arithmetic():
            return
        self.position += 1
        if len(words) == 1 and self._skip_blanks() == ")":
            self.position += 1
            self.script.functions += words
            self.call.words = []
        elif words and not self.open_cases:
            if words[0] != "case":  # which may have one before its pattern
                raise _Unreadable(start)
        else:
            self.position = start
            self._run_parenthesised()

    def _run_parenthesised(self) -> None:
        block = _Block(self.script, self.text, self.variables, self.directory, self.depth)
        block.position = self.position + 1
        block.is_inner = True
        block.nested = self.nested
        block.outer_pipe = block.call.piped_from = self.call.piped_from
        if self.call.piped_from is not None:
            block.begins = self.call.piped_from
        block.nest()
        block.run()
        self.position = block.position

    def nest(self) -> None:
        self.nested += 1
        if self.nested > MOST_NESTED:
            raise _Unreadable(self.position)

    # Redirections.

    def _redirect(self) -> None:
        operator = next(sign for sign in REDIRECTIONS if self.text.startswith(sign, self.position))
        self.position += len(operator)
        self._skip_blanks()
        is_process = self._ahead(2) in PROCESSES
        word, is_quoted = self._word()
        if word is None:
            raise _Unreadable(self.position)
        if operator in ("<<", "<<-"):
            self.heredocs.append((self.call, word, is_quoted, operator == "<<-"))
        elif operator == "<<<":
            self.call.fed.append(word)
        elif ">" in operator and not is_process:
            is_descriptor = operator == ">&" and (word == "-" or word.rstrip("-").isdigit())
            if not is_descriptor:
                self.script.redirects.append((word, self.directory))

    def _read_heredocs(self) -> None:
        pending, self.heredocs = self.heredocs, []
        for call, delimiter, is_quoted, is_stripped in pending:
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
            if not is_quoted:
                current, self.call = self.call, call
                self.position = start
                self._run_expansions(end)
                self.call = current
            self.position = after
            if programs.runs_what_it_is_fed(call.words):
                self._read_inner(body)

    # Words.

    def _ahead(self, count: int = 1) -> str:
        return self.text[self.position : self.position + count]

    def _find(self, sign: str, start: int) -> int:
        end = self.text.find(sign, start)
        if end < 0:
            raise _Unreadable(start)
        return end

    def _skip_blanks(self) -> str:
        """What comes behind them; comments are blank too, and the end of a line that goes on in the next."""
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

    def _read_word(self) -> None:
        words = self.call.words
        if not words and self._read_assignment():
            return
        word, is_quoted = self._word()
        if word is None:
            return
        if is_quoted:
            words.append(word)
        elif word.isdigit() and self._ahead() in ("<", ">"):
            return  # the number of a descriptor
        elif not words and word == "[[":
            end = self._find("]]", self.position)
            self._run_expansions(end)
            self.position = end + 2
        elif word in KEYWORDS and (not words or word == "{"):
            if words:
                self._end_command()  # time { …; }, function f { …; }
            self.open_cases -= word == "esac"
        else:
            words += word.split() if isinstance(word, _Split) else [word]

    def _read_assignment(self) -> bool:
        end = self._end_of_name(self.position)
        variable = self.text[self.position : end]
        is_added = self.text.startswith("+=", end)
        if not variable.isidentifier() or not (is_added or self.text.startswith("=", end)):
            return False
        self.position = end + 1 + is_added
        value: str | None = None
        if self._ahead() == "(":
            self._run_parenthesised()  # a list: its words are most often run later
        else:
            value, _ = self._word()
        self.assigned.append((variable, "" if isinstance(value, Unknown) or is_added else value or ""))
        return True

    def _end_of_name(self, end: int) -> int:
        while self.text[end : end + 1].isalnum() or self.text[end : end + 1] == "_":
            end += 1
        return end

    def _word(self) -> tuple[str | None, bool]:
        """The word up to the next blank or operator, None if there is none, and whether quotes were in it."""
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
                piece = self._expansion()
                pieces.append(piece if isinstance(piece, Unknown) else _Split(piece))
            else:
                while self.position < len(self.text) and self.text[self.position] not in SPECIAL:
                    self.position += 1
                pieces.append(self.text[start : self.position])
        return (_join(pieces), is_quoted) if pieces else (None, False)

    def _quoted(self) -> list[str]:
        """What stands in quotes, or behind a backslash; at least one piece, as `''` is a word too."""
        start = self.position
        if self._ahead() == "\\":
            self.position += 2
            return [self.text[start + 1 : self.position].removeprefix("\n")]
        if self._ahead() == "'":
            self.position = self._find("'", start + 1) + 1
            return [self.text[start + 1 : self.position - 1]]
        if self._ahead(2) == "$'":
            self.position = self._end_of_quote("'", start + 2) + 1
            return [Unknown(self.text[start : self.position])]
        self.position = self.text.index('"', start) + 1
        return ["", *self._run_expansions(len(self.text), '"')]

    def _end_of_quote(self, sign: str, end: int) -> int:
        while self.text[end : end + 1] != sign:
            if end >= len(self.text):
                raise _Unreadable(end)
            end += 2 if self.text[end] == "\\" else 1
        return end

    def _run_expansions(self, end: int, closer: str = "") -> list[str]:
        """The pieces of a double-quoted text up to what closes it, or up to an end."""
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
        if closer:
            if self.position >= end:
                raise _Unreadable(self.position)
            self.position += 1
        return pieces

    def _expansion(self) -> str:
        """What `$…` or a backquoted command stands for where that is known, else itself as written."""
        start = self.position
        if self._ahead() == "`":
            end = self._end_of_quote("`", start + 1)
            inner = self.text[start + 1 : end].replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\")
            first = len(self.script.calls)
            self._read_inner(inner)
            self._note_inner(first)
            self.position = end + 1
        elif self._ahead(2) == "$(":
            self.position += 1
            if self._ahead(2) != "((" or not self._read_arithmetic():
                self._substitute()
        elif self._ahead(2) == "${":
            self.nest()
            self.position += 2
            self._run_expansions(len(self.text), "}")
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
        variable = written[1:].strip("{}")
        return self.variables.get(variable if variable.isidentifier() else written) or Unknown(written)

    def _substitute(self) -> None:
        first = len(self.script.calls)
        self._run_parenthesised()
        self._note_inner(first)

    def _note_inner(self, first: int) -> None:
        for inner in self.script.calls[first : first + MOST_INNER]:
            self.call.inner.append(inner.words)
            self.call.has_variables = self.call.has_variables or inner.has_variables

    def _read_arithmetic(self) -> bool:
        """`((…))` to its end, with what it runs. False, and nothing read, where it is none, as in `((a); b)`."""
        level, end = 1, self.position + 2
        while level and end < len(self.text):
            level += (self.text[end] == "(") - (self.text[end] == ")")
            end += 1
        if level or self.text[end : end + 1] != ")":
            return False
        self.nest()
        self._run_expansions(end)
        self.position = end + 1
        self.nested -= 1
        return True


class _Split(str):
    """A piece, or a word with one, that the shell splits at its blanks: a variable without quotes."""

    __slots__ = ()


def _join(pieces: list[str]) -> str:
    joined = "".join(pieces)
    for kind in (Unknown, _Split):
        if any(isinstance(piece, kind) for piece in pieces):
            return kind(joined)
    return joined
