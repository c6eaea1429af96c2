"""How what is typed after `omo` is read: the parser of every command, and the options that several of them share."""

from __future__ import annotations

import argparse
from functools import partial

from omo.errors import BadInput
from omo.progress import columns
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping
    from typing import Any

    from omo.context import Context
    from omo.result import Result

    Run = Callable[[argparse.Namespace, Context], Result]


LONGEST_LIST = 60


class Parser(argparse.ArgumentParser):
    """Usage errors take the same road as every other error, and name what may have been meant.

    Help is as wide as the terminal; argparse makes a formatter for every option, and would load shutil to ask for that.
    """

    def __init__(self, **options: Any) -> None:
        formatter = partial(argparse.HelpFormatter, width=columns() - 2)
        super().__init__(formatter_class=formatter, allow_abbrev=False, **options)

    @property
    def _fix(self) -> str:
        """The form that its description ends with, if any: nobody finds out from --help that `--` is missing."""
        _, _, form = (self.description or "").partition(": omo ")
        return f"omo {form}" if form else f"{self.prog} --help"

    def error(self, message: str) -> Any:
        raise BadInput(message, fix=self._fix)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if not isinstance(action, argparse._SubParsersAction) or value in action.choices:
            super()._check_value(action, value)
            return
        meant = _nearest(str(value), list(action.choices))
        instead = meant or "|".join(action.choices)
        if len(instead) > LONGEST_LIST:
            instead = "--help"
        where = "there is" if self.prog == "omo" else f"{self.prog} has"
        raise BadInput(f"{where} no command {value}{_question(meant)}", fix=f"{self.prog} {instead}")

    def parse_known_args(self, *arguments: Any, **more: Any) -> Any:
        """The innermost parser, which knows its own options, says what it does not take; one with a default `unknown`
        leaves that to its command."""
        namespace, unknown = super().parse_known_args(*arguments, **more)
        if unknown and self.get_default("unknown") is not None:
            namespace.unknown = " ".join(unknown)
        elif unknown:
            option = str(unknown[0]).partition("=")[0]
            question = _question(_nearest(option, list(self._option_string_actions)))
            raise BadInput(f"{self.prog} does not take {option}{question}", fix=self._fix)
        return namespace, []


class Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The commands of `omo`, or the verbs of one. Of a word that was not typed only its name and its line of help are
    made: the options of all the others take longer than most commands do."""

    typed: Container[str] | None = None  # all of them
    about: Mapping[str, str] = {}  # what each is for, where the table of commands says so
    show_session: Run  # of a workflow's verb that shows its session: the views are the command line's

    def add_parser(self, name: str, **options: Any) -> Any:
        if self.typed is None or name in self.typed:
            return super().add_parser(name, **options)
        if "help" in options:
            self._choices_actions.append(self._ChoicesPseudoAction(name, (), options["help"]))
        self._name_parser_map[name] = NotTyped()
        return self._name_parser_map[name]


class NotTyped:
    """Stands for a parser that is not made, and for whatever is added to it."""

    def __getattr__(self, name: str) -> Callable[..., NotTyped]:
        return lambda *_, **__: self


def commands_of(parser: argparse.ArgumentParser, typed: Container[str] | None, **options: Any) -> Commands:
    commands: Commands = parser.add_subparsers(action=Commands, required=True, **options)  # type: ignore[assignment]
    commands.typed = typed
    return commands


def _nearest(word: str, words: list[str]) -> str:
    import difflib

    return "".join(difflib.get_close_matches(word, words, n=1, cutoff=0.75))  # --json is not meant by --reason


def _question(meant: str) -> str:
    return f"; did you mean {meant}?" if meant else ""


def group(commands: Commands, name: str, about: str = "") -> Commands:
    """`omo NAME VERB …`"""
    about = about or commands.about.get(name, "")
    parser = commands.add_parser(name, help=about, description=about)
    return commands_of(parser, commands.typed, dest="verb", metavar="VERB")


def top_command(commands: Commands, name: str, run: Run, *, session: bool = True) -> argparse.ArgumentParser:
    """`omo NAME …`"""
    return command(commands, name, commands.about.get(name, ""), run, session=session)


def command(commands: Commands, name: str, about: str, run: Run, *, session: bool = True) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    if session:
        parser.add_argument("--session", "--session-id", metavar="ID", help="another session than this one")
    return parser


def as_setting(parse: Callable[[object], Any]) -> Callable[[str], Any]:
    """For `type=`: reads a value as the setting is read, and refuses it in the same words."""

    def read(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{clip(text, 40)!r} {error}") from None

    return read


def add_exit_code(parser: argparse.ArgumentParser) -> None:
    about = "0 proven or judged, 3 not, 4 nobody knows: of the newest run, or of --session, on the files as they are"
    parser.add_argument("--exit-code", action="store_true", help=about)
