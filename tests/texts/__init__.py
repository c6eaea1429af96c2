"""Every message of omo's that the suite prints, by its situation: README.md in this directory."""

from __future__ import annotations

from tests.texts.rows import BETWEEN_SENTENCES, Table, plain, table


def situations(text: str) -> set[str]:
    """Return the situations that a text tells."""
    return {told.row.name for line in text.splitlines() for told in table().told(line)[0]}


def says(text: str, situation: str, /, **values: object) -> bool:
    """Return whether a text tells this situation, with these values in its placeholders."""
    return says_by(table(), text, situation, **values)


def says_by(rows: Table, text: str, situation: str, /, **values: object) -> bool:
    row = rows.named(situation)
    if unknown := values.keys() - set(row.parts[1::2]):
        raise LookupError(f"{situation} has no placeholder {', '.join(sorted(unknown))}: {row.text}")
    for line in text.splitlines():
        sentences = BETWEEN_SENTENCES.split(line)
        for start in range(len(sentences)):
            for end in range(start + 1, len(sentences) + 1):
                found = row.values_in(plain(" ".join(sentences[start:end])))
                if found is not None and all(plain(found[name]) == plain(str(value)) for name, value in values.items()):
                    return True
    return False
