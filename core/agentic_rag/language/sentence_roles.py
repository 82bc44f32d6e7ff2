"""What a sentence does in a text that reports a study or a decision: its aim, its method, what was found.

Told by section labels first, then by what the sentence says of itself. English only.
"""

from __future__ import annotations

import enum
import re


class SentenceRole(enum.Enum):
    """What a sentence is for."""

    AIM = "aim"
    """Why it was done: background, objective, question."""
    METHOD = "method"
    RESULT = "result"
    CONCLUSION = "conclusion"


_LABELS: tuple[tuple[SentenceRole, str], ...] = (
    (SentenceRole.CONCLUSION, r"conclusions?|decisions?|summary of findings|implications?|recommendations?|outcome"),
    (SentenceRole.RESULT, r"results?|findings?|main results?|outcomes"),
    (SentenceRole.METHOD, r"(?:materials? and |patients and |subjects and )?methods?|methodology|(?:study )?design|"
                          r"setting|participants|patients|procedure"),
    (SentenceRole.AIM, r"backgrounds?|introduction|objectives?|aims?|purpose|goals?|rationale|context|hypothes[ie]s"),
)  # fmt: skip
_LABEL = tuple(
    (role, re.compile(rf"^(?:[\d.]+ )?(?:{words})(?: (?:and|of) .{{2,40}})?$", re.I)) for role, words in _LABELS
)
_OPENER = tuple((role, re.compile(rf"^(?:{words}) ?[:–—-] ", re.I)) for role, words in _LABELS)
_WORK = (
    r"(?:study|studies|paper|article|work|trial|review|survey|investigation|analysis|project|research|experiments?|"
    r"evaluation|report|authors?)"
)
_CUES: tuple[tuple[SentenceRole, re.Pattern[str]], ...] = (
    (
        SentenceRole.CONCLUSION,
        re.compile(
            r"\b(?:in conclusion|we conclude|it (?:is|was) concluded|in summary|overall,|taken together)\b|"
            r"\b(?:these|our|the|present) (?:\w+ )?(?:results|findings|data|observations|evidence) (?:\w+ )?"
            r"(?:suggest|indicat|support|show|demonstrat|confirm|provide|reveal)|\bsuggest(?:s|ed|ing)? that\b|"
            r"\bit was decided\b|\bwe recommend\b",
            re.IGNORECASE,
        ),
    ),
    (
        SentenceRole.AIM,
        re.compile(
            rf"\b(?:aims?|purpose|objectives?|goal|intention) (?:of|was|is|were|are)\b|"
            r"\b(?:we|authors) (?:therefore |thus |also )?(?:aim|sought|set out|wanted|wished|hypothesi[sz]e|attempt|"
            r"investigate[sd]?|examine[sd]?|evaluate[sd]?|assess(?:ed)?|explore[sd]?|tested|studied|asked|ask)\w*\b|"
            r"\b(?:to|will) (?:determine|evaluate|assess|investigate|examine|explore|identify|analy[sz]e|describe|"
            r"clarify|establish|find out|elucidate|ascertain|verify|test) (?:whether|if|how|the|what|which|our)\b|"
            rf"\b(?:this|the present|the current|our) {_WORK} (?:\w+ )?(?:aim|seek|investigat|examin|evaluat|assess|"
            r"explor|address|analy[sz]|compar|describ|present|determin|test|was (?:designed|undertaken|conducted|"
            r"performed|carried))|\bhypothes[ie]s\b|\b(?:remains?|is|are) (?:\w+ )?(?:unclear|unknown|controversial|"
            r"debated|uncertain|not (?:well |fully )?(?:known|understood|established))\b|\blittle is known\b",
            re.IGNORECASE,
        ),
    ),
    (
        SentenceRole.RESULT,
        re.compile(
            r"\bp ?[<=>≤≥]|\b(?:95 ?% ?)?CI\b|\b(?:odds|hazard|risk) ratios?\b|\bsignificant(?:ly)?\b|"
            r"\b(?:was|were|is|are) (?:\w+ )?(?:higher|lower|greater|smaller|better|worse|associated|correlated|"
            r"related|similar|comparable|observed|found|seen|detected|improved|reduced|increased|decreased|identical)\b|"
            r"\bno (?:\w+ )?(?:difference|association|correlation|effect|evidence|change|relationship)s?\b|"
            r"\b(?:we|they) (?:\w+ )?(?:found|observed|identified|detected)\b|\b(?:results?|analys[ie]s) (?:showed|"
            r"revealed|demonstrated)\b|\b(?:showed|revealed|demonstrated|experienced|occurred|achieved)\b",
            re.IGNORECASE,
        ),
    ),
    (
        SentenceRole.METHOD,
        re.compile(
            r"\b(?:was|were) (?:\w+ )?(?:included|enrolled|recruited|randomi[sz]ed|reviewed|analy[sz]ed|measured|"
            r"performed|obtained|collected|assigned|evaluated|assessed|interviewed|examined|used|compared|divided|"
            r"studied|selected|recorded|invited|administered|calculated|determined|identified)\b|"
            r"\b(?:retrospective|prospective|cross-sectional|questionnaires?|database)\b",
            re.IGNORECASE,
        ),
    ),
)


def role_of_label(heading: str) -> SentenceRole | None:
    """The role of what stands under a heading; None where the heading does not say."""
    told = heading.strip("#: \t")
    return next((role for role, pattern in _LABEL if pattern.match(told)), None)


def role_of(sentence: str) -> SentenceRole | None:
    """The role that a sentence gives itself, by its label or its words; None without a sign."""
    for role, pattern in (*_OPENER, *_CUES):
        if pattern.search(sentence):
            return role
    return None
