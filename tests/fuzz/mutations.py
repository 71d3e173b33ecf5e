"""Spoiled files, made from good ones: the same seed and number give the same spoiled file.

Bytes are flipped, cut out, repeated and mixed with what is often wrong; in JSON a value at any
depth is replaced, in XML a tag, in a table a field.
"""

import json
import random
import re
from collections.abc import Callable
from typing import Any

PIECES = [
    *(
        b"\0",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\n",
        b"\r",
        b"\t",
        b"  ",
        b'"',
        b"\\",
    ),
    *(b"{", b"[", b"]", b"}", b"<", b">", b"&", b"&#0;", b"&alpha;", b"]]>", b"<!--", b"</p>"),
    *(
        b"NaN",
        b"Infinity",
        b"-1",
        b"1e999",
        b"9" * 30,
        b"9" * 5000,
        b"null",
        b"\\ud800",
        b"\\u0000",
    ),
    *(b"[1]", b"(Smith, 2004)", b"et al.", b"[" * 2000, b"(" * 300, b"A " * 300, b". " * 300),
    *(b'{"a":' * 1500, b"$", b"\\cite{", b"\\begin{", b"\\input{", b"---\n", b"[@", b"{{cite:"),
    *("\u2028 \u0085 \ufeff \U000f0000 \u202e".encode(), "é".encode() * 40, b"1, " * 200),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 7, 2**31, 2**63, 10**30, 1e400, -1e400, float("nan"), 1.5),
    *("", " ", "a b", "\0", "\ud800", "\u2028", "x\ny", "../../x", "/etc", "0000", "99999", "12"),
    *([], {}, [[]], [None], [[1]], {"": None}, {"text": None}, {"id": []}, [{}], ["\ud800"]),
    *("It is so [1]. " * 200, "(" * 2000, "a" * 20_000, "2020", 99999, -5, "[CITATION]", "NaN"),
]
_TAG = re.compile(rb"<[^<>]*>")
_QUOTED = re.compile(rb'"[^"<>]*"')


def mutate(data: bytes, rng: random.Random, name: str) -> bytes:
    """Return a spoiled copy of a file's bytes.

    :param name: its name, whose ending says what may be replaced as a whole.
    """
    kinds: list[Callable[[bytes, random.Random], bytes]] = [_spoil_bytes]
    if name.endswith((".json", ".jsonl")):
        kinds += [_spoil_json] * 3
    elif name.endswith((".xml", ".nxml")):
        kinds += [_spoil_xml] * 3
    else:
        kinds += [_spoil_words] * 2
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(kinds)(data, rng)
    return data


def _spoil_bytes(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((0, 1, 1, 2, 8, 100, 2000)))
    kind = rng.randrange(6)
    if kind == 0 and data:
        place = min(start, len(data) - 1)
        return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]
    if kind == 1:
        return data[:start]  # cut off
    if kind == 2:
        return data[:start] + data[end:]
    if kind == 3:
        return data[:end] + data[start:end] * rng.choice((1, 2, 30)) + data[end:]
    return data[:start] + rng.choice(PIECES) + data[start if kind == 4 else end :]


def _spoil_words(data: bytes, rng: random.Random) -> bytes:
    words = re.split(rb"([ \t\n,;]+)", data)
    word = str(rng.choice(VALUES)).encode("utf-8", "surrogatepass")
    words[rng.randrange(len(words))] = rng.choice((word, rng.choice(words)))
    return b"".join(words)


def _spoil_xml(data: bytes, rng: random.Random) -> bytes:
    pattern = rng.choice((_TAG, _TAG, _QUOTED))
    found = list(pattern.finditer(data))
    if not found:
        return _spoil_bytes(data, rng)
    match, other = rng.choice(found), rng.choice(found)
    if pattern is _QUOTED:
        value = str(rng.choice(VALUES)).encode("utf-8", "replace").replace(b"<", b"")
        return data[: match.start()] + b'"' + value.replace(b'"', b"") + b'"' + data[match.end() :]
    kind = rng.randrange(3)
    if kind == 0:  # an element becomes empty, or goes with all that is in it
        closing = data.find(b"</" + match[0][1:].split(b" ")[0].rstrip(b">") + b">", match.end())
        return data[: match.end()] + data[closing:] if closing > 0 else data
    if kind == 1:
        return data[: match.start()] + other[0] + data[match.end() :]
    deep = rng.choice((1, 3, 100, 500))
    return data[: match.start()] + b"<p>" * deep + b"</p>" * deep + data[match.start() :]


def _spoil_json(data: bytes, rng: random.Random) -> bytes:
    """Replace values of one record: a line, or the whole file where it is one."""
    try:
        records, is_whole = [json.loads(data)], True
    except (ValueError, RecursionError):
        is_whole, records = False, data.splitlines()
    if not records:
        return _spoil_bytes(data, rng)
    place = rng.randrange(len(records))
    try:
        record = records[place] if is_whole else json.loads(records[place])
        for _ in range(rng.choice((1, 1, 2, 5))):
            record = _replaced(record, rng)
        text = json.dumps(record, ensure_ascii=rng.random() < 0.5)
    except (ValueError, RecursionError):
        return _spoil_bytes(data, rng)
    changed = text.encode("utf-8", "surrogatepass")
    if is_whole:
        return changed
    if rng.random() < 0.2:  # a second record of the same id
        records.insert(place, records[place])
    records[place] = changed
    return b"\n".join(records) + b"\n"


def _replaced(value: Any, rng: random.Random) -> Any:
    """Return a copy of a JSON value, something in it replaced, left out, repeated or renamed."""
    inside = isinstance(value, (dict, list)) and len(value) > 0
    if not inside or rng.random() < 0.12:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        key = rng.choice(list(value))
        copy = dict(value)
        if rng.random() < 0.1:
            del copy[key]
        elif rng.random() < 0.05:
            copy[str(rng.choice(VALUES))] = copy.pop(key)
        else:
            copy[key] = _replaced(value[key], rng)
        return copy
    place = rng.randrange(len(value))
    items = list(value)
    if rng.random() < 0.1:
        items.insert(place, rng.choice(items))
    elif rng.random() < 0.05:
        del items[place]
    else:
        items[place] = _replaced(items[place], rng)
    return items
