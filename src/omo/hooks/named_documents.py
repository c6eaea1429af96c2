"""Which documents a prompt names as what to do, by the words beside their names.

"ulw do what TASK.md says" hands over a task; in "ulw fix the typos in README.md" the document is what is worked on.
A mention that the words below do not tell is ordinary work, of which nothing is kept.
"""

from __future__ import annotations

import os

from omo import safe_open
from omo.digest import sha256
from omo.hooks.wordlists import unaccented, words
from omo.state import paths
from omo.text import block, clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.state.ledger_rows import NamedFile

LARGEST = 1_000_000
LONGEST_KEPT = 24_000  # characters of a document
MOST_KEPT = 3

DOCUMENT_ENDS = (".md", ".markdown", ".txt", ".rst", ".adoc")
# What has such an end and is read by a tool.
OF_TOOLS = ("requirements", "constraints", "cmakelists")
# What a project says about itself. It is worked on, or read for its rules, unless it is called the task outright.
OF_PROJECT = (
    *("readme", "changelog", "changes", "history", "news", "contribut", "license", "licence", "copying", "notice"),
    *("authors", "security", "code_of_conduct", "agents"),
)
MOST_WORDS = 2000
MARKS = "\"'`()[]{}<>,;:!?…*“”„«»‚‘’"
ENDS_CLAUSE = (",", ";", ":", ".", "!", "?", "…")
JOINS = words("and then but or und dann aber et puis mais y luego pero e и")

# Right before the name: "implement TASK.md", "according to TASK.md".
DOES = words("""do implement follow execute complete finish solve resolve tackle address realize realise read see
    erledige implementiere befolge setze arbeite lies siehe löse fais suis implémente réalise exécute termine
    voir lis haz sigue implementa ejecuta completa lee resuelve faça siga implemente leia сделай выполни реализуй
    прочитай""")
ACCORDING = words("per laut gemäß selon d'après según segundo conforme согласно")
TWO_WORDS = {
    "through": words("work working go get"),
    "off": words("work"),
    "out": words("carry"),
    "from": words("work"),
}
# Of a list or a text of things to do: "all items in TASK.md".
WANTED = words("""task tasks item items todo todos step steps plan list checklist spec specification requirement
    requirements instruction instructions issue issues story stories ticket tickets wish wishes point points feature
    features goal goals bullet bullets box boxes everything all rest aufgabe aufgaben punkte schritte anforderungen
    alles tâche tâches étapes tout tarea tareas pasos todo tarefa tarefas tudo задачи задачу пункты всё все""")
INSIDE = words("in of from at inside aus von dans de du en em из в")
# Before INSIDE: "as described in TASK.md", "what is in TASK.md".
WRITTEN = words("""described specified listed written outlined defined explained given stated laid set spelled planned
    requested proposed is are stands what's there's say says beschrieben aufgeführt genannt steht stehen wie was décrit
    décrite écrit écrite listé descrito descrita escrito dice описано написано указано""")
OUT = words("out down up exactly")
# Before the name and behind it: "what TASK.md says".
WHAT = words("what whatever everything all that as exactly how like was wie alles que qué lo o что как")
SAYS = words("""says say describes asks lists wants demands requires specifies defines tells explains states outlines
    contains needs sagt verlangt beschreibt steht fordert dit demande décrit dice pide describe diz pede descreve
    говорит требует""")
# Behind the name: "TASK.md says what to do", "TASK.md has the task".
HOLDS = SAYS | words("has holds is contient tiene hat enthält")
TASKS = words("what task tasks work job assignment was aufgabe tâche tarea tarefa")

# A verb of editing in the same clause: then the document is worked on. The first are said of texts alone.
EDITS_TEXT = words("""edit update rewrite reword rephrase shorten trim polish proofread reformat reflow translate
    document append tidy restructure reorganize summarize summarise spellcheck prettify lint übersetze kürze
    überarbeite aktualisiere traduis raccourcis actualise traduce acorta actualiza""")
EDITS = EDITS_TEXT | words("""fix change write improve correct clean cleanup format remove delete drop move rename merge
    split sort extend expand add insert put describe explain note record mention list log save store create generate
    make draft check simplify revise replace touch modify adjust convert sync bump mark tick ignore skip korrigiere
    ergänze schreibe entferne ändere corrige ajoute écris supprime añade escribe borra corrija исправь добавь напиши
    удали""")
PARTS_OF_TEXT = words("""typo typos wording grammar spelling link links section sections sentence sentences paragraph
    paragraphs heading headings table tables chapter chapters title formatting usage example examples line lines
    tippfehler rechtschreibung abschnitt fautes erratas""")
BESIDE = words("""the this that a an our my your whole entire file document attached open remaining next first der die
    das den le la les el los""")
DESTINATIONS = words("to into onto zu à a")
PRONOUNS = words("it that them all everything these es alles das ce tout lo todo")
FIRST_OF_ALL = words("please now all completely until first only bitte")
FOR_MANNERS = words("for how why")  # "see TASK.md for the style"

# In scripts without spaces: what stands right behind the name, or right before it.
UNSPACED_BEHIND = tuple(
    words("""の通り のとおり に書 に従 に沿 の内容を実 を実行 を実装 を読んで のタスク の項目 中的 里的 裡的 上写 说的
        里写 에 를구현 을구현 대로 의내용""")
)
UNSPACED_BEFORE = tuple(words("按照 按 根据 根據 执行 執行 完成 实现 實現 阅读"))


class Mention:
    """One file name in a prompt, with the words of its line."""

    def __init__(self, name: str, place: int, line: Sequence[str], *, is_first: bool, is_alone: bool) -> None:
        self.name = name
        self.plain = [plain(word) for word in line]
        self.raw = line
        self.place = place
        self.is_first = is_first  # of the prompt
        self.is_alone = is_alone  # in the prompt

    @property
    def clause(self) -> list[str]:
        """The words before the name, from where its clause begins."""
        begin = self.place
        while begin > 0:
            word = self.raw[begin - 1]
            if word.endswith(ENDS_CLAUSE) or self.plain[begin - 1] in JOINS:
                break
            begin -= 1
        return self.plain[begin : self.place]

    @property
    def behind(self) -> list[str]:
        return self.plain[self.place + 1 :]

    @property
    def is_at(self) -> bool:
        return self.raw[self.place].lstrip(MARKS).startswith("@")

    @property
    def is_of_project(self) -> bool:
        return self.name.rpartition("/")[2].lower().startswith(OF_PROJECT)


def kept(event: Event, world: World, prompt: str) -> list[NamedFile]:
    """Return the documents of the project that a prompt names as what to do, as they are now."""
    names = documents_to_do(prompt)
    if not names:
        return []
    root = os.path.realpath(world.root)
    directory = os.path.join(root, paths.session_directory(world.environ, event.project))
    found: dict[str, NamedFile] = {}
    for name in names:
        place = os.path.realpath(os.path.join(directory, name))
        path = os.path.relpath(place, root)
        is_inside = not path.startswith("..") and not path.startswith((".git/", ".sisyphus/"))
        if len(found) == MOST_KEPT or "\0" in name or not is_inside or not os.path.isfile(place):
            continue
        content, _ = safe_open.read_start(place, LARGEST)
        text = block(content.decode("utf-8", "replace"), LONGEST_KEPT)
        found[path] = {"name": clip(name, 200), "path": path, "digest": sha256(content), "text": text}
    return list(found.values())


def documents_to_do(prompt: str) -> list[str]:
    """Return the documents that the prompt, without the keyword, names as what to do: as typed, without @."""
    named: list[str] = []
    last: Mention | None = None  # that is a task
    for mention in mentions(prompt):
        if not is_task(mention) and not (last and _is_joined(last, mention)):
            continue
        last = mention
        if mention.name not in named:
            named.append(mention.name)
    return named


def _is_joined(first: Mention, second: Mention) -> bool:
    """TASK.md and issue.md."""
    between = first.plain[first.place + 1 : second.place]
    return first.raw is second.raw and JOINS.issuperset(between) and not second.is_of_project


def is_document(path: str) -> bool:
    """Return whether a file of this name is a text for people, as TASK.md, notes.txt or TODO."""
    name = path.rpartition("/")[2]
    if name.lower().startswith(OF_TOOLS):
        return False
    return name.lower().endswith(DOCUMENT_ENDS) or (name.isupper() and name.isalpha())


def mentions(prompt: str) -> list[Mention]:
    lines = [_words_of(line) for line in prompt.splitlines()]
    count = sum(map(len, lines))
    if count > MOST_WORDS:
        return []
    found = []
    for number, line in enumerate(lines):
        for place, word in enumerate(line):
            name = _name_of(word)
            if name:
                is_first = place == 0 and not any(lines[:number])
                found.append(Mention(name, place, line, is_first=is_first, is_alone=count == 1))
    return found


def plain(word: str) -> str:
    return unaccented(word.lower()).lstrip(MARKS).rstrip(f"{MARKS}.")


def _words_of(line: str) -> list[str]:
    """The words of a line. Between a name and letters of a script without spaces a word ends too."""
    found = []
    for word in line.split():
        if word.isascii() or not any(letter >= "\u3000" for letter in word):
            found.append(word)
            continue
        part = ""
        for letter in word:
            if part and (letter >= "\u3000") != (part[-1] >= "\u3000"):
                found.append(part)
                part = ""
            part += letter
        found.append(part)
    return [word for word in found if plain(word) or word.startswith("@")]


def _name_of(word: str) -> str:
    name = word.lstrip(MARKS).rstrip(f"{MARKS}.").removeprefix("@").removesuffix("'s")
    return name if is_document(name) else ""


def is_task(mention: Mention) -> bool:
    """Return whether the words beside a document call it what to do."""
    before, behind = mention.clause, mention.behind
    if mention.is_alone or _says_what(before, behind):
        return True
    if mention.is_of_project:
        return False
    if _is_written_in(before):
        return True
    if before and before[-1] in DESTINATIONS:
        return False
    if _is_edited(mention, before) or _is_edited_behind(behind):
        return False
    if mention.is_at or _is_first(mention) or _is_unspaced(mention):
        return True
    return _is_done(before, behind) or _is_taken_up(behind)


def _says_what(before: Sequence[str], behind: Sequence[str]) -> bool:
    """what TASK.md says; what is in TASK.md; ce que dit TASK.md; TASK.md says what to do."""
    left = _without(before, BESIDE)
    while behind and (behind[0] in JOINS or is_document(behind[0])):  # what TASK.md and issue.md say
        behind = behind[1:]
    if left and left[-1] in WHAT and behind and behind[0] in SAYS:
        return True
    if len(left) > 1 and left[-1] in SAYS and left[-2] in WHAT:
        return True
    if len(left) > 1 and left[-1] in INSIDE and left[-2] in WHAT and behind and behind[0] in WRITTEN:
        return True  # was in TASK.md steht
    if len(left) > 2 and left[-1] in INSIDE and left[-2] in WRITTEN and left[-3] in WHAT:
        return True
    if left[-2:-1] == ["what's"] and left[-1] in INSIDE:
        return True
    return bool(behind) and behind[0] in HOLDS and not TASKS.isdisjoint(behind[1:4])


def _is_written_in(before: Sequence[str]) -> bool:
    """As described in TASK.md, according to the file TASK.md; the spec is in TASK.md."""
    left = _without(before, BESIDE)
    if left[-2:] == ["according", "to"] or (left and left[-1] in ACCORDING):
        return True
    if not left or left[-1] not in INSIDE:
        return False
    left = _without(left[:-1], OUT)
    if not left or left[-1] not in WRITTEN:
        return False
    return left[-1] not in ("is", "are") or not WANTED.isdisjoint(left)


def _is_edited(mention: Mention, before: Sequence[str]) -> bool:
    """Whether a verb of editing governs the document. After an @ the verbs that are said of code too must be said of
    the document itself: "fix the bug in @issue.md" names what to do."""
    verbs = set()
    for place, word in enumerate(before):
        is_noun = place > 0 and before[place - 1] in BESIDE  # "the list", "a note"
        if not is_noun:
            verbs.add(word)
    if not mention.is_at:
        return not EDITS.isdisjoint(verbs)
    if not EDITS_TEXT.isdisjoint(verbs):
        return True
    left = _without(before, BESIDE)
    is_object = bool(left) and left[-1] in EDITS and left[-1] != "fix"
    return is_object or (not EDITS.isdisjoint(verbs) and not PARTS_OF_TEXT.isdisjoint(before))


def _is_edited_behind(behind: Sequence[str]) -> bool:
    """Read TASK.md and shorten it."""
    for place, word in enumerate(behind):
        if word == "it" and place > 0 and behind[place - 1] in EDITS - {"fix", "make"}:
            return True
    return False


def _is_first(mention: Mention) -> bool:
    """TASK.md: all of it; TASK.md, please."""
    if not mention.is_first:
        return False
    behind = mention.behind
    return not behind or mention.raw[0].endswith((":", ",", ";", ".")) or behind[0] in FIRST_OF_ALL


def _is_done(before: Sequence[str], behind: Sequence[str]) -> bool:
    """Implement TASK.md; work through the list in TASK.md; the task: TASK.md."""
    left = _without(before, BESIDE)
    if not left:
        return False
    last = left[-1]
    if last in TWO_WORDS and left[-2:-1] and left[-2] in TWO_WORDS[last]:
        return True
    if last in DOES:
        return not (behind and behind[0] in FOR_MANNERS)
    if last in ("is", "see"):
        return len(left) > 1 and left[-2] in WANTED
    if last not in INSIDE:
        return False
    inner = _without(left[:-1], BESIDE)
    return bool(inner) and inner[-1] in WANTED


def _is_taken_up(behind: Sequence[str]) -> bool:
    """Open TASK.md and do it."""
    for place, word in enumerate(behind[:5]):
        if word in PRONOUNS and place > 0 and behind[place - 1] in DOES:
            return True
    return False


def _is_unspaced(mention: Mention) -> bool:
    behind = mention.raw[mention.place + 1 : mention.place + 2]
    before = mention.raw[max(0, mention.place - 1) : mention.place]
    return any(word.startswith(UNSPACED_BEHIND) for word in behind) or any(
        word.endswith(UNSPACED_BEFORE) for word in before
    )


def _without(left: Sequence[str], skipped: frozenset[str]) -> list[str]:
    """The words without those of `skipped` at their end."""
    kept = list(left)
    while kept and kept[-1] in skipped:
        kept.pop()
    return kept
