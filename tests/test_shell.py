"""Which commands a shell text runs. Each case is the text and the words omo would be started with, if at all."""

from __future__ import annotations

import pytest

from omo import shell
from omo.shell import reader
from tests.tables import read

PAUSE = ["omo", "goal", "pause"]
PAUSES = read(__file__, "shell_calls.txt")["omo goal pause"]


def started(text: str) -> list[list[str]]:
    return [shell.program(words)[:3] for words in shell.commands(text)]


def test_a_call_is_found_however_it_is_written() -> None:
    assert [text for text in PAUSES["called"] if PAUSE not in started(text)] == []


def test_a_mention_is_not_a_call() -> None:
    assert [text for text in ["", *PAUSES["mentioned"]] if PAUSE in started(text)] == []


def test_every_command_in_order_with_its_words_as_the_program_gets_them() -> None:
    text = 'cd \'a b\' && A=1 omo goal pause --reason "no \\"key\\" $X" 5 > out; ls -l *.py ~/x "\\.d"'
    assert shell.commands(text) == [
        ["cd", "a b"],
        ["omo", "goal", "pause", "--reason", 'no "key" $X', "5"],
        ["ls", "-l", "*.py", "~/x", "\\.d"],
    ]


def test_words_that_only_the_shell_knows_stay_as_written() -> None:
    assert shell.commands('$OMO goal "$(which verb)" ${X:-y}z') == [
        ["which", "verb"],
        ["$OMO", "goal", "$(which verb)", "${X:-y}z"],
    ]


def test_a_program_is_named_without_its_directory() -> None:
    assert shell.name(shell.program(["sh", "/opt/my plugins/omo/bin/omo", "goal"])) == "omo"
    assert shell.name([]) == ""


@pytest.mark.parametrize("words", [["env"], ["timeout", "5"], ["sudo", "-u"], ["xargs", "-n"], []])
def test_a_wrapper_around_nothing_runs_nothing(words: list[str]) -> None:
    assert shell.program(words) == []


@pytest.mark.parametrize(
    "text",
    [
        "omo goal pause " + "x" * reader.LONGEST,
        "$(" * 20_000 + "omo goal pause",
        "if true; then omo goal pause",
        "omo 'goal pause",
        "\0\ud800omo goal pause))",
        "echo )( omo goal pause",
        "ls; [[ omo goal pause",
        "((omo goal pause",
    ],
    ids=["too long", "too deep", "no end", "open quote", "binary", "nonsense", "open test", "open arithmetic"],
)
def test_what_is_no_shell_text_is_survived(text: str) -> None:
    assert all(isinstance(word, str) for words in shell.commands(text) for word in words)


def test_shells_inside_shells_are_opened_only_so_far() -> None:
    text = "omo goal pause"
    for _ in range(reader.DEEPEST - 1):
        text = f"eval {text}"
    assert PAUSE in started(text)
    assert PAUSE not in started(f"eval {text}")


# Redirections, pipes and directories.


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("a > b", ["b"]),
        ("a >> 'b c' 2>&1", ["b c"]),
        ("a &> b; c >| d; e >& f", ["b", "d", "f"]),
        ("a 2> b > c < d", ["b", "c"]),
        ("> b", ["b"]),
        ("(a; b) > c", ["c"]),
        ("for x in y; do a; done > b", ["b"]),
        ("cat <<END > b\ntext > no\nEND", ["b"]),
        ("cat <<-END\ntext > no\n\tEND\na > b", ["b"]),
        ("bash -c 'a > b'", ["b"]),
        ("a > $X", ["$X"]),
        ("a >&2 2>&1 3>&-", []),
        ("a > >(b > c)", ["c"]),
        ("echo 'a > b' \"> c\" \\> d", []),
        ("[[ a > b ]]", []),
    ],
)
def test_every_file_a_text_is_redirected_into(text: str, targets: list[str]) -> None:
    assert [target for target, _ in shell.read(text).redirects] == targets


@pytest.mark.parametrize(
    ("text", "directories"),
    [
        ("cd a && b", ["/p", "/p/a"]),
        ("cd a; cd ../b; c", ["/p", "/p/a", "/p/a/../b"]),
        ("(cd a; b); c", ["/p", "/p/a", "/p"]),
        ("echo $(cd a; b); c", ["/p", "/p/a", "/p", "/p"]),
        ("cd; a", ["/p", "~"]),
        ("cd /x && sh -c 'cd y; a'; b", ["/p", "/x", "/x", "/x/y", "/x"]),
        ('cd "$X"; a; cd /y; b', ["/p", None, None, "/y"]),
        ("cd -; a", ["/p", None]),
        ("pushd a; popd; b", ["/p", "/p/a", None]),
    ],
)
def test_where_each_command_runs(text: str, directories: list[str | None]) -> None:
    assert [call.directory for call in shell.read(text, directory="/p").calls] == directories


@pytest.mark.parametrize(
    ("text", "feeds"),
    [
        ("a | b | c", [["a"], ["a", "b"]]),
        ("x; a | (b; c)", [["a"], ["a", "b"]]),
        ("cat <<END | b\nEND", [["cat"]]),
        ("a | b >c 2>&1", [["a"]]),
        ("a; b && c", []),
    ],
)
def test_what_is_piped_into_what(text: str, feeds: list[list[str]]) -> None:
    calls = shell.read(text).calls
    found = []
    for index, call in enumerate(calls):
        if call.piped_from is not None:
            found.append([source.words[0] for source in calls[call.piped_from : index]])
    assert found == feeds


def test_words_the_grammar_counts_to_a_redirection_are_the_commands() -> None:
    assert shell.commands("rm >log -r x") == [["rm", "-r", "x"]]
    assert shell.commands("rm <<END -r x\nEND") == [["rm", "-r", "x"]]


@pytest.mark.parametrize("text", ["\\r\\m", "'r'\"m\"", 'r""m'])
def test_a_name_is_the_same_however_it_is_written(text: str) -> None:
    assert shell.commands(f"{text} x") == [["rm", "x"]]


def test_only_what_it_is_told_is_known_of_expansions() -> None:
    script = shell.read('A=x; c $A ${Z} "$Z/y" $(pwd)', {"$Z": "z", "$(pwd)": "/p"})
    assert script.calls[-1].words == ["c", "$A", "z", "z/y", "/p"]


def test_a_text_that_could_not_be_read_throughout_is_kept_whole() -> None:
    assert shell.read("ls\necho )( a").unread == ["ls\necho )( a"]
    assert shell.read("ls; echo 'fine'").unread == []
