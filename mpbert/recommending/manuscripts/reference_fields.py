"""Fields of reference managers in documents of word processors: whom they cite."""

import json
import re
from typing import Any

_XML = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}
ENTITY = re.compile(r"&(?:#x?[0-9a-fA-F]{1,8}|\w{1,8});|.", re.DOTALL)
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")
_ENDNOTE = re.compile(r"<Cite\b.*?</Cite>", re.DOTALL)


def unescaped_all(text: str) -> str:
    """Return XML without tags as text."""
    return "".join(map(of_entity, ENTITY.findall(text)))


def of_entity(text: str) -> str:
    """Return an entity of XML, or a character, as text."""
    number = re.fullmatch(r"&#(x?)([0-9a-fA-F]{1,8});", text)
    if number:
        code = int(number[2], 16 if number[1] else 10)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
    return _XML.get(text, text)


def field_references(code: str) -> tuple[dict[str, str], str] | None:
    """Return the references of a field's code, and whose it is; None: it cites nothing.

    Read are those of Zotero and Mendeley (CSL), of EndNote, and of Word.
    """
    if "CSL_CITATION" in code:
        start = code.find("{")
        return csl_references(code[start:]), "Zotero" if "ZOTERO" in code else "Mendeley"
    if "EN.CITE" in code:
        found = {}
        for cite in _ENDNOTE.findall(code):
            said = {
                name: match[1]
                for name in ("Author", "Year", "title")
                if (match := re.search(rf"<{name}>(?:<style[^>]*>)?([^<]*)", cite))
            }
            key = _NO_WORD.sub("", said.get("Author", "") + said.get("Year", "")) or "EndNote"
            found[key] = " ".join(said.values())
        return found or {"EndNote": ""}, "EndNote"
    if word := re.match(r"\s*CITATION\s+(\S+)", code):
        more = re.findall(r"\\m\s+(\S+)", code)
        return dict.fromkeys((word[1], *more), ""), "Word"
    return None


def csl_references(text: str) -> dict[str, str]:
    """Return key -> reference, as text, of the JSON of a citation by CSL."""
    try:
        items = json.JSONDecoder().raw_decode(text)[0]["citationItems"]
        return dict(_of_item(item) for item in items) or {"unknown-reference": ""}
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return {"unknown-reference": ""}


def _of_item(item: dict[str, Any]) -> tuple[str, str]:
    about = item.get("itemData") or {}
    authors = [one.get("family") or one.get("literal") or "" for one in about.get("author") or []]
    dates = (about.get("issued") or {}).get("date-parts") or [[""]]
    year = str(dates[0][0])
    key = about.get("citation-key") or _NO_WORD.sub("", "".join(authors[:1]) + year)
    said = [*authors, about.get("title") or "", year, about.get("DOI") or ""]
    return str(key or item.get("id") or "item"), ". ".join(map(str, filter(None, said)))
