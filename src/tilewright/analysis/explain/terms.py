"""The words of sentences about accesses that other languages have their own for: operations, memories, teams of work-items."""

from ...core.language import Sentence

_WORDS = (
    Sentence("load"),
    Sentence("store"),
    Sentence("read"),
    Sentence("write"),
    Sentence("atomic"),
    Sentence("atomic update"),
    Sentence("atomic load"),
    Sentence("global"),
    Sentence("local"),
    Sentence("constant"),
    Sentence("private"),
    Sentence("image"),
    Sentence("group"),
    Sentence("sub-group"),
    Sentence("cluster"),
    Sentence("barrier"),
    Sentence("async copy"),
    Sentence("wait for an async copy"),
)
_TERMS = {str(each): each for each in _WORDS}


def term(word: str) -> str:
    """A word that is said in the chosen language where it is shown. The names of functions stay as they are."""
    return _TERMS.get(word, word)
