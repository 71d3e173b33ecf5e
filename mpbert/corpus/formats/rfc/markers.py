"""How RFCs cite one another in the text: bracketed tags, and names such as "STD 13".

A paper id is ``RFC`` and the number without leading zeros. Everything that names an RFC, a series
or a draft is a marker; only what can be resolved to RFC numbers cites something.
"""

import itertools
import re

from mpbert.citations.records import Marker, RawSentence
from mpbert.corpus.formats.rfc.references import RFC, SERIES, RfcReferences, normalise_tag
from mpbert.corpus.text import cut_markers

_NUMBER = r"0*\d{1,5}(?:bis|ter)?"
_MENTION = re.compile(
    r"(?P<url>(?:https?|ftp)://[^\s>)\]]*(?:(?i:rfc|bcp|std)-?\d+|draft-[\w-]+)[^\s>)\]]*)"
    r"|(?P<bracket>\[[^\[\]]{1,60}\])"
    r"|(?P<draft>(?:(?i:the )?(?i:Internet[- ]Drafts?),? )?"
    r"\bdraft-[a-z\d]+(?:-[\w<>+]+)+(?:\.txt)?)"
    rf"|(?P<rfc>(?:(?<![A-Za-z])(?:STD|BCP|FYI)[ :#-]{{0,3}}\d+,? (?:\()?)?(?<![A-Za-z])(?i:RFC)"
    rf"(?P<plural>s)?[\s:#_-]{{0,3}}{_NUMBER}(?!\d)"
    rf"(?:(?: ?\[[^\[\]]{{1,30}}\]| ?\((?:STD|BCP|FYI) ?\d+\))?"
    rf"(?:, ?(?:and |or )?| ?/ ?| ?- ?| and | or | & | through | to |, RFCs? ?)"
    rf"(?:RFC[ -]?)?\d{{3,5}}(?:bis)?(?!\d|[.%-]\w| ?(?:bytes|octets|bits|ms)))*)"
    r"|(?P<bare>\b(?P<number>\d{3,5})(?= ?\[RFC ?(?P=number)\]))"  # "1905 [RFC1905]"
    r"|(?P<series>(?<!IEEE )(?<![A-Za-z])(?:STD|BCP|FYI|IEN)s?[\s:#-]{0,3}\d+)"
)
_MAY_MENTION = re.compile(r"\d|\[|draft-")  # most sentences have none of these: a fast first look
_INSIDE_OR_NUMBER = re.compile(r"\[[^\]]*\]|\([^)]*\)|\d+")
_TAG_PART = re.compile(r"\s*(?:,|;|/|&|\band\b|\bor\b)\s*")
_TAG_PLACE = re.compile(
    r"(?i)^(?:sec(?:tion|tions|t|\.)?|§|ch(?:apter)?\.?|app(?:endix)?\.?|pp?\.|page|fig(?:ure)?\.?|"
    r"table|see|rule)?\s*[\dA-Z](?:[\d.]*)$"
)
_TAG_WITH_SECTION = re.compile(r"(?i)\s*[A-Z][\w.-]*, (?:section|appendix)s? [\dA-Z]")
_CITATION_LIKE = re.compile(
    r"(?i)^(?:RFCs?[\s:#_-]*\d+\w*|(?:STD|BCP|FYI|IEN)[\s:#-]*\d+|\d{1,3}|I-?D[.:-].*|draft-.*)$"
)


def mark(text: str, references: RfcReferences) -> RawSentence:
    """Return the sentence with a marker for everything that names an RFC, a series or a draft."""
    if not _MAY_MENTION.search(text):
        return RawSentence(text)
    markers = []
    place = 0
    while match := _MENTION.search(text, place):
        place = _end_of_list(match, references) if match["rfc"] else match.end()
        ids = _cited_ids(match, text[match.start() : place], references)
        if ids is not None:
            if match["rfc"] and "(" in match.group() and text[place : place + 1] == ")":
                place += 1  # "STD 13 (RFC 1034)"
            markers.append(Marker(match.start(), place, ids))
    return RawSentence(text, tuple(markers))


def _end_of_list(match: re.Match[str], references: RfcReferences) -> int:
    """End of "RFCs 3411, 3412 and 3418"; after a single "RFC" only listed numbers continue it."""
    found = match["rfc"]
    numbers = [m for m in _INSIDE_OR_NUMBER.finditer(found) if m.group().isdigit()]
    for previous, number in itertools.pairwise(numbers):
        between = _INSIDE_OR_NUMBER.sub("", found[previous.end() : number.start()])
        is_bare = re.search(r",|and|or|&", between) and "RFC" not in between
        if is_bare and not match["plural"] and f"RFC{number.group()}" not in references.paper_ids:
            return match.start() + previous.end()
    return match.end()


def without_mentions(text: str, references: RfcReferences) -> str:
    """Return a title or heading with everything that names an RFC removed."""
    return cut_markers(text, mark(text, references).markers)


def _cited_ids(
    match: re.Match[str], found: str, references: RfcReferences
) -> tuple[str, ...] | None:
    if match["bracket"]:
        is_index = re.fullmatch(r"\w\[\d+\]", match.string[match.start() - 1 : match.end()])
        if is_index and normalise_tag(found[1:-1]) not in references.tags:  # "table[1]"
            return None
        return _ids_of_bracket(found[1:-1], references)
    if match["rfc"] or match["bare"]:
        return _ids_of_mention(found)
    if match["series"]:
        name, number = re.match(r"([A-Z]+)s?\D*(\d+)", found).groups()
        return references.of_series(name, int(number))
    if match["url"]:
        return tuple(dict.fromkeys(f"RFC{n}" for n in RFC.findall(found)))
    return ()


def _ids_of_mention(found: str) -> tuple[str, ...]:
    found = re.sub(r"\[[^\]]*\]|(?:STD|BCP|FYI)\D{0,3}\d+", "", found)
    numbers = [int(number) for number in re.findall(r"\d+", found)]
    if re.search(r"\d ?(?:-|through|to) ?(?:RFC ?)?\d", found) and len(numbers) == 2:
        first, last = numbers
        if first < last <= first + 20:
            numbers = list(range(first, last + 1))
    return tuple(dict.fromkeys(f"RFC{number}" for number in numbers))


def _ids_of_bracket(tag: str, references: RfcReferences) -> tuple[str, ...] | None:
    """Ids of a bracketed tag or list of tags; None where it is no citation but other syntax."""
    ids = _ids_of_tags(tag, references)
    if ids is None and _TAG_WITH_SECTION.match(tag):
        return ()
    if ids is None and RFC.search(tag):  # "[RFC-1700 et seq.]"
        return _ids_of_mention(" ".join(f"RFC {number}" for number in RFC.findall(tag)))
    return ids


def _ids_of_tags(tag: str, references: RfcReferences) -> tuple[str, ...] | None:
    tag = re.sub(r"- ", "-", tag.strip())
    known = references.tags.get(normalise_tag(tag))
    if known is not None:
        return known
    if span := re.fullmatch(r"(\d{1,3}) ?[-–] ?(\d{1,3})", tag):
        parts = [str(n) for n in range(int(span[1]), min(int(span[2]), int(span[1]) + 20) + 1)]
    else:
        parts = [part for part in _TAG_PART.split(tag) if part]
    ids: list[str] = []
    is_citation = False
    for part in parts:
        part = re.sub(r"(?i)^(?:see|ref\.?|cf\.|e\.g\.,?|i\.e\.,?) +", "", part)
        whole = re.split(r"(?i)[,:]? +(?=(?:sec|§|ch|app|p\.|pp\.|page|fig|table|\d+\.))", part)[0]
        listed = references.tags.get(normalise_tag(whole))
        if listed is not None:
            ids += listed
            is_citation = True
        elif _CITATION_LIKE.match(whole):
            is_citation = True
            if RFC.match(whole):
                ids += _ids_of_mention(whole)
            elif series := SERIES.match(whole):
                ids += references.of_series(series[1], int(series[2]))
        elif not (is_citation and _TAG_PLACE.match(part)):
            return None
    return tuple(dict.fromkeys(ids)) if is_citation else None
