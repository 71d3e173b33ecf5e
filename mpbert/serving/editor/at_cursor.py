r"""The citation that is being typed at the cursor, such as ``\cite{old, smi|``, in each form."""

import re
from dataclasses import dataclass

from mpbert.recommending.manuscripts.citation_commands import ALL_COMMANDS
from mpbert.recommending.manuscripts.marks import CROSS_REFERENCE
from mpbert.recommending.manuscripts.sites import ORG, PANDOC, PANDOC_KEY, RST, TEX, TYPST, Style

_LONGEST = 1500  # characters of a citation before the cursor
_ALL = "|".join(sorted(ALL_COMMANDS | {"nocite"}, key=len, reverse=True))
_NOTES = (
    r"(?:\s{0,3}(?:\[[^\[\]{}]{0,200}\]|\([^(){}]{0,200}\)|<[^<>{}]{0,200}>|\{[^{}]{0,500}\}))*"
)
_TEX = re.compile(
    rf"\\(?:(?:{_ALL})|[a-z]{{0,12}}[Cc]ite[a-z]{{0,12}})\*?{_NOTES}\s{{0,3}}\{{([^{{}}\\]*)\Z"
)
_KEY = r"[\w:.#$%&+?<>~/-]*"
_AT = re.compile(rf"(?<![\w@\\/.])-?@\{{?({_KEY})\Z")
_GROUP = re.compile(r"\[[^\[\]\n]*\Z")
_ORG = re.compile(r"(?<!\[)\[cite(?:/[\w/-]{1,20})?:([^\[\]]*)\Z")
_ORG_REF = re.compile(r"(?<![\w\[])\[?\[?(?:\w{0,8}cite[a-z]{0,8}):([^\s\[\]]*)\Z")
_RST = re.compile(r":(?:foot)?cite[a-z]{0,12}(?::[a-z]{1,12})?:`([^`<>]*)\Z")
_MYST = re.compile(r"\{cite(?::[a-z]{1,12})?\}`([^`<>]*)\Z")
_TYPST_CITE = re.compile(r"#cite[pt]?\((?:[^()<>]*,)?\s*<([^<>]*)\Z")
_BRACED = Style("", "", "")
_BY_LABEL = Style("#cite(<", ",", ">)")
_COMMENT = {"tex": re.compile(r"(?<!\\)(?:\\\\)*%"), "typst": re.compile(r"(?<![:\w])//")}


@dataclass(frozen=True)
class Typing:
    """A citation that is being typed.

    :param start: of the citation, in characters of the text; it ends at ``end``.
    :param key_start: of the key at the cursor, without a sign such as ``@``; what is chosen
        replaces it up to ``key_end``.
    :param typed: of the key, before the cursor.
    :param keys: others of the citation.
    :param style: how a key is written; ``sign`` is what stands in front of it already.
    """

    start: int
    end: int
    key_start: int
    key_end: int
    typed: str
    keys: tuple[str, ...]
    style: Style
    sign: str = ""

    def written(self, key: str) -> tuple[int, str]:
        """Return from where on a key replaces the text, and how it is written."""
        said = self.style.of_key(key)
        if said.startswith(self.sign):
            return self.key_start, said.removeprefix(self.sign)
        return self.key_start - len(self.sign), said


def typing_at(text: str, form: str, cursor: int) -> Typing | None:
    """Return the citation that is being typed; None: the cursor stands in no key of one."""
    begin = max(text.rfind("\n\n", 0, cursor) + 1, cursor - _LONGEST, 0)
    before = text[begin:cursor]
    line = before[before.rfind("\n") + 1 :]
    if form in _COMMENT and _COMMENT[form].search(line):
        return None
    for pattern, style, between, closing in _PATTERNS[form]:
        if found := pattern.search(before):
            return _listed(text, cursor, begin, found, style, between, closing)
    found = _AT.search(before) if form != "tex" and form != "rst" else None
    if found is None or CROSS_REFERENCE.match(found[1]):
        return None
    return _signed(text, cursor, begin, found, TYPST if form == "typst" else PANDOC)


def _listed(
    text: str,
    cursor: int,
    begin: int,
    found: re.Match[str],
    style: Style,
    between: str,
    closing: str,
) -> Typing:
    r"""Return a citation with a list of keys, such as ``\cite{a, b``."""
    typed = re.split(f"[{between}]", found[1])[-1]
    sign = "@" if style is ORG else ""
    typed = typed.rpartition(sign)[2] if sign in typed and sign else typed.lstrip()
    has_sign = sign != "" and text[: cursor - len(typed)].endswith(sign)
    rest = re.compile(rf"([^{{}}\[\]`<>()\n\\]*){closing}").match(text, cursor)
    end = cursor if rest is None else rest.end()
    left = "" if rest is None else re.match(rf"[^\s{between}]*", rest[1])[0]
    listed = found[1][: len(found[1]) - len(typed)] + (rest[1][len(left) :] if rest else "")
    keys = (key.strip() for key in re.split(f"[{between}]", listed))
    if style is ORG:
        keys = (key[1] or key[2] for key in PANDOC_KEY.finditer(listed))
    return Typing(
        *(begin + found.start(), end, cursor - len(typed), cursor + len(left), typed),
        *(tuple(filter(None, keys)), style, sign if has_sign else ""),
    )


def _signed(text: str, cursor: int, begin: int, found: re.Match[str], style: Style) -> Typing:
    """Return a citation of ``@key``, alone or among others in brackets."""
    at = begin + found.start()
    group = _GROUP.search(text, begin, at)
    rest = re.compile(r"[^\[\]\n]*\]").match(text, cursor) if group else None
    left = len(re.compile(_KEY).match(text, cursor)[0]) if rest else 0
    start, end = (group.start() if group else at), (rest.end() if rest else cursor)
    around = text[start:at] + " " + text[cursor + left : end]
    keys = tuple(key[1] or key[2] for key in PANDOC_KEY.finditer(around))
    typed, is_braced = found[1], found[0].endswith("{" + found[1])
    style, sign = (_BRACED, "") if is_braced else (style, "@")
    return Typing(start, end, cursor - len(typed), cursor + left, typed, keys, style, sign)


_Form = tuple[re.Pattern[str], Style, str, str]
_IN_TEX: _Form = (_TEX, TEX, ",", r"\}")
_PATTERNS: dict[str, tuple[_Form, ...]] = {
    "tex": (_IN_TEX,),
    "markdown": (_IN_TEX, (_MYST, RST, ",", "`")),
    "org": ((_ORG, ORG, ";", r"\]"), _IN_TEX, (_ORG_REF, TEX, ",;&", "(?!)")),
    "rst": ((_RST, RST, ",", "`"), _IN_TEX),
    "typst": ((_TYPST_CITE, _BY_LABEL, ",", r">[^()]*\)"),),
}
