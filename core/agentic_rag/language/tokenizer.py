"""The tokenizer of the lexical arm: it defines what a term is.

Terms are NFKC-normalised and case-folded. Compound names (paths, dotted and snake_case names, camelCase, hyphens) yield
their parts and the whole; a word that the end of a line parts yields both of its spellings. Scripts written without
spaces yield character bigrams. "1,234" equals "1234", and "12.5" stays whole.

A text in a language with a word table yields the stems of that language as well, and one in Chinese or Japanese its
ideographs; a question in such a language is searched by them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType

import numpy as np

from agentic_rag.language.english import FUNCTION_WORDS, stem
from agentic_rag.language.parted_words import spell_parted_words
from agentic_rag.language.stemming import stem_of
from agentic_rag.language.term_counts import TermCounts, count_terms
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import TABLE_BY_CODE, table_of

TERMS_VERSION = 3
"""Of what a text's postings are. A change raises it: a worker then makes the postings of every workspace again."""

_CACHED_TOKENS = 32_768
"""12 MB when full. Twice as many did not make tokenising faster; hostile text fills the whole cache."""
_CACHED_PARTS = 4_096
"""For lookups that happen only when a token is not cached."""
_LONGEST_CACHED = 48
"""Longer tokens (hashes, URLs) rarely recur and would only fill the cache."""

_CACHED_QUESTIONS = 256
_LONGEST_QUESTION = 1_000
"""Characters. Each stage that reads a question tokenises it; a longer text is unlikely to recur. 1 MB when full."""

_LONGEST_WHOLE = 64

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts written (nearly) without spaces: Thai, Lao, Myanmar, Khmer, Han, kana, Hangul."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
)
"""Combining marks that belong to a word but are not letters to `re`, and the Indic blocks that need them."""

_NUMBER = r"\d{1,3}(?:,\d{3})++(?:\.\d++)?(?![\d,])"
_JOINT = r"(?:_++|[./\\@#&+'’\-‐‑–−]|:{1,2}/{0,2}|->)"


_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"
_RUN = r"(?:[./\\@#&+'’\-‐‑–−:,]{1,4}+"
_ASCII_RUN = re.compile(rf"[A-Za-z0-9_]{{1,256}}+{_RUN}[A-Za-z0-9_]{{1,64}}+){{0,15}}+(?:\+\+|#)?")
_UNICODE_RUN = re.compile(rf"[\w{_MARKS}]{{1,256}}+{_RUN}[\w{_MARKS}]{{1,64}}+){{0,15}}+(?:\+\+|#)?")
"""Coarse runs, found fast. `_TOKEN` splits a run only if its split is not cached."""

_TOKEN = re.compile(
    rf"{_NUMBER}|[{_UNSPACED}]{{1,256}}+"
    rf"|(?:__)?{_LETTER}{{1,64}}+(?:{_JOINT}{_LETTER}{{1,64}}+){{0,15}}+(?:__|\+\+|#)?"
)
_IDEOGRAPHS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]{2,}")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_SEPARATOR = re.compile(r"[\W_]+")
_CAMEL_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W_A-Z]+|[A-Z]+")
_PLURAL_ACRONYM = re.compile(r"[A-Z]{2,}s")
_DECIMAL = re.compile(r"\d+\.\d+")
_CLITICS = frozenset({"s", "t", "re", "ve", "ll", "d", "m"})
_DASHES = str.maketrans({"‐": "-", "‑": "-", "–": "-", "−": "-", "’": "'"})
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


def normalise(text: str) -> str:
    """NFKC without soft hyphens and zero-width characters. Case is kept because names are split by it."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def _runs(text: str) -> list[str]:
    text = spell_parted_words(normalise(text))
    return (_ASCII_RUN if text.isascii() else _UNICODE_RUN).findall(text)


def _word(part: str, stemmed: bool) -> str:
    folded = part.casefold()
    return stem(folded) if stemmed and folded.isascii() and folded.isalpha() else folded


def _bigrams(run: str) -> tuple[str, ...]:
    return (run,) if len(run) == 1 else tuple(run[index : index + 2] for index in range(len(run) - 1))


def _is_plain(token: str) -> bool:
    """One word, one case: nothing to split."""
    return token.isalnum() and (
        token.islower()
        or token.isupper()
        or token.istitle()
        or token.isdigit()
        or _PLURAL_ACRONYM.fullmatch(token) is not None
    )


def _without_clitics(pieces: list[str]) -> list[str]:
    """ "Smith's" → Smith, "don't" → do; "n't" alone stays whole."""
    if pieces[-1].casefold() == "t" and pieces[0].casefold().endswith("n"):
        return [pieces[0][:-1]] if len(pieces[0]) > 1 else []
    return [piece for index, piece in enumerate(pieces) if not index or piece.casefold() not in _CLITICS]


def _keeps_whole(token: str, parts: int) -> bool:
    """Whether a compound token is also indexed whole as a name: not "Smith's", "don't" or "and/or"."""
    if len(token) > _LONGEST_WHOLE:
        return False
    marks = set(_SEPARATOR.findall(token))
    if marks <= {"'", "’"}:
        return parts > len(_SEPARATOR.split(token))
    return not (marks == {"/"} and parts == 2 and token.replace("/", "").isalpha())


def _split(run: str, stemmed: bool) -> tuple[str, ...]:
    """The terms of one run."""
    if len(run) <= _LONGEST_WHOLE and run.isascii() and _is_plain(run):
        return (_word(run, stemmed),)
    return tuple(term for token in _TOKEN.findall(run) for term in _token_terms(token, stemmed))


def _token_terms(token: str, stemmed: bool) -> tuple[str, ...]:
    if _UNSPACED_START.match(token):
        return _bigrams(token.casefold())
    if _is_plain(token):
        return (_word(token, stemmed),)
    if "," in token:
        return (token.replace(",", ""),)
    if _DECIMAL.fullmatch(token):
        return (token,)
    pieces = [piece for piece in _SEPARATOR.split(token) if piece]
    if len(pieces) > 1 and ("'" in token or "’" in token):
        pieces = _without_clitics(pieces)
    parts = [part for piece in pieces for part in (_CAMEL_PART.findall(piece) or [piece])]
    words = [_word(part, stemmed) for part in parts if len(part) > 1 or part.isdigit() or len(parts) == 1]
    if parts != [token] and (_keeps_whole(token, len(parts)) or not words):
        words.append(token.translate(_DASHES).casefold())
    return tuple(words)


@lru_cache(_CACHED_PARTS)
def _split_with_cache(token: str, stemmed: bool) -> tuple[str, ...]:
    return _split(token, stemmed)


def tokenize(text: str, *, stemmed: bool = True) -> list[str]:
    """The terms of a text in reading order; a name's parts come before the whole. `stemmed`: light English stemming."""
    found: list[str] = []
    for token in _runs(text):
        found.extend(_split_with_cache(token, stemmed) if len(token) <= _LONGEST_CACHED else _split(token, stemmed))
    return found


def query_terms(text: str, *, stemmed: bool = True) -> Mapping[str, int]:
    """The terms of a question with their counts, tokenised like a passage. Function words are left out unless the
    question has no other terms.

    A function word in capitals is kept unless the whole question is in capitals: "IT", "US", "WHO" are names. Leaving
    function words out gained 0.0–1.8 points of R@10 on five of six dev sets, lost 1.3 on the sixth, and avoids reading
    the longest postings.
    """
    if len(text) <= _LONGEST_QUESTION:
        return _question_terms_with_cache(text, stemmed)
    return _question_terms(text, stemmed)


def _question_terms(text: str, stemmed: bool) -> Mapping[str, int]:
    table = table_of(text)
    known = FUNCTION_WORDS if table is None else FUNCTION_WORDS | table.function_words
    found = _count_content(text, known, lambda run: _split(run, stemmed))
    return MappingProxyType(found or Counter(tokenize(text, stemmed=stemmed)))


def _count_content(text: str, known: Collection[str], split: Callable[[str], Iterable[str]]) -> Counter[str]:
    """The terms of a text's runs without function words."""
    shouted = text.isupper()
    found: Counter[str] = Counter()
    for run in _runs(text):
        if not shouted and run.isupper() and len(run) > 1:
            found.update(split(run))
        elif run.casefold() not in known:
            found.update(term for term in split(run) if term not in known)
    return found


@lru_cache(_CACHED_QUESTIONS)
def _question_terms_with_cache(text: str, stemmed: bool) -> Mapping[str, int]:
    return _question_terms(text, stemmed)


def search_terms(question: str) -> Mapping[str, int]:
    """The terms by which postings are searched for a question, with their counts: `query_terms`; in a language whose
    stems are indexed, those of its words.
    """
    table = _indexed_table(question)
    if table is None:
        return query_terms(question)
    # A pair of characters that reaches into a function word stands in no passage.
    content = table.unspaced_function_words.pattern.sub(" ", question)
    found = _count_content(content, table.function_words, lambda run: _split_by_table(run, table))
    return MappingProxyType(found) if found else query_terms(question)


def _indexed_table(text: str) -> WordTable | None:
    """The table of a text's language where it says what is indexed beside the terms."""
    table = table_of(text)
    return table if table is not None and (table.stemmer or table.has_ideographs) else None


def _split_by_table(run: str, table: WordTable) -> list[str]:
    """The terms of a run with the stems of its language instead of English ones."""
    terms = [_form(term, table) for term in _split(run, stemmed=False)]
    return terms + _ideographs(run) if table.has_ideographs else terms


def _form(word: str, table: WordTable) -> str:
    return stem_of(word, table.stemmer) if table.stemmer and word.isalpha() else word


def _ideographs(run: str) -> list[str]:
    """The ideographs of a run in which they are not terms already."""
    return [sign for signs in _IDEOGRAPHS.findall(run) for sign in signs]


def content_terms(question: Iterable[str]) -> frozenset[str]:
    """The terms of a question without function and question words; all terms if nothing else is left.

    Single letters and digits are kept: "plan B", "step 3".
    """
    every = frozenset(question)
    return frozenset(term for term in every if term not in FUNCTION_WORDS) or every


def term_key(term: str) -> int:
    """64-bit key of a term: the first eight bytes of BLAKE2b, little-endian.

    Two of n distinct terms share a key with probability about n²/2⁶⁵: 3·10⁻⁸ for a workspace of a million terms. A
    collision would only merge two document frequencies.
    """
    return int.from_bytes(key_bytes(term), "little")


@lru_cache(_CACHED_PARTS)
def key_bytes(term: str) -> bytes:
    """`term_key` as eight little-endian bytes."""
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _token_keys(token: str, stemmed: bool) -> bytes:
    return b"".join(map(key_bytes, _split(token, stemmed)))


@lru_cache(_CACHED_TOKENS)
def _token_keys_with_cache(token: str, stemmed: bool) -> bytes:
    return _token_keys(token, stemmed)


@lru_cache(_CACHED_PARTS)
def _further_keys(token: str, code: str) -> bytes:
    """The keys of the forms of a token that its language indexes beside its terms."""
    table = TABLE_BY_CODE[code]
    if table.has_ideographs:
        return b"".join(map(key_bytes, _ideographs(token)))
    pairs = zip(_split(token, stemmed=True), _split(token, stemmed=False), strict=True)
    return b"".join(key_bytes(form) for term, word in pairs if (form := _form(word, table)) != term)


def term_counts(text: str, *, stemmed: bool = True) -> TermCounts:
    """A passage's postings: the counts of `tokenize(text)` by `term_key`, and those of the stems or ideographs of its
    language, which do not add to its length.
    """
    runs = _runs(text)
    keys = b"".join(
        [
            _token_keys_with_cache(token, stemmed) if len(token) <= _LONGEST_CACHED else _token_keys(token, stemmed)
            for token in runs
        ]
    )
    table = _indexed_table(text) if stemmed else None
    further = b"" if table is None else b"".join([_further_keys(token, table.code) for token in runs])
    return count_terms(np.frombuffer(keys, "<u8"), np.frombuffer(further, "<u8"))
