"""Folded words that an entry is found by: without case, accents and signs."""

import unicodedata

#: Characters of the words of one entry (the column `search`), and of those that are looked for.
LONGEST = 250
_LONGEST_QUERY = 100
_MOST_WORDS = 8


def fold_words(text: str) -> list[str]:
    """Split a text into folded words: `Café «La Ñ»` gives cafe, la, n."""
    bare = unicodedata.normalize("NFKD", text).casefold()
    kept = "".join(c if c.isalnum() else "" if unicodedata.combining(c) else " " for c in bare)
    return kept.split()


def search_text(*texts: str | None) -> str:
    """Return the words of the texts, each after a blank; the first text decides the order of a list."""
    words = [word for text in texts if text for word in fold_words(text)]
    return ("".join(f" {word}" for word in words) or " ")[:LONGEST]


def query_words(text: str) -> list[str]:
    """Return the beginnings of words that are looked for; none where nothing is."""
    return fold_words(text[:_LONGEST_QUERY])[:_MOST_WORDS]
