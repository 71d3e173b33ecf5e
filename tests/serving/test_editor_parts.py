"""Parts of the language server: places, citations that are typed, keys, and what is dropped."""

import asyncio
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, TextDocumentItem

from mpbert.recommending.manuscripts.forms import citations_in, key_spans
from mpbert.recommending.manuscripts.source_text import SourceText
from mpbert.serving.editor.at_cursor import typing_at
from mpbert.serving.editor.desk import Desk
from mpbert.serving.editor.positions import Lines
from mpbert.serving.live import LiveIndex
from tests.serving.editing import make_index


@given(st.text(st.sampled_from("a\u00e9\u2028\x0c\U0001f600\r\n"), max_size=12), st.data())
def test_a_place_comes_back_from_its_position(text, data):
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n" and offset:
        return  # no position lies within the end of a line
    encoding = data.draw(st.sampled_from(["utf-8", "utf-16", "utf-32"]))
    lines = Lines(text, encoding)
    position = lines.position(offset)
    assert lines.offset(position) == offset
    expected = text[:offset].replace("\r\n", "\n").replace("\r", "\n").rpartition("\n")
    assert position.line == expected[0].count("\n") + len(expected[1])
    assert position.character == len(expected[2].encode(f"{encoding}-le".replace("8-le", "8"))) // {
        "utf-8": 1, "utf-16": 2, "utf-32": 4
    }[encoding]  # fmt: skip


def test_a_position_outside_of_a_text_is_the_nearest_place():
    lines = Lines("ab\ncd")
    assert [lines.offset(Position(*place)) for place in ((0, 99), (1, 99), (9, 0))] == [2, 5, 5]


@pytest.mark.parametrize(
    ("form", "marked", "citation", "typed", "keys", "written"),
    [
        ("tex", "A \\cite{|} b", "\\cite{}", "", (), "\\cite{k/1}"),
        ("tex", "\\citep[see][p. 3]{a, sm|i, b}", None, "sm", ("a", "b"), "{a, k/1, b}"),
        ("tex", "A \\cite{smi 20| and more", "\\cite{smi 20", "smi 20", (), "\\cite{k/1 and"),
        ("tex", "\\autocites[1]{a}{|}", None, "", (), "{a}{k/1}"),
        ("tex", "\\sidecite{x|", None, "x", (), "{k/1"),
        ("markdown", "A [see @a; @sm|i, p. 3] b", "[see @a; @smi, p. 3]", "sm", ("a",), "@k/1, p"),
        ("markdown", "As @smi| says", "@smi", "smi", (), "@k/1 says"),
        ("markdown", "A [-@{sm|", "[-@{sm", "sm", (), "-@{k/1"),
        ("markdown", "A {cite:p}`a,b|`", "{cite:p}`a,b`", "b", ("a",), "`a,k/1`"),
        ("markdown", "A \\citet{|}", "\\citet{}", "", (), "{k/1}"),
        ("org", "A [cite:@a;see @sm|] b", "[cite:@a;see @sm]", "sm", ("a",), "see @k/1]"),
        ("org", "A [cite/t:sm|]", "[cite/t:sm]", "sm", (), "t:@k/1]"),
        ("org", "A cite:sm|", "cite:sm", "sm", (), "cite:k/1"),
        ("rst", "A :cite:p:`a,sm|` b", ":cite:p:`a,sm`", "sm", ("a",), "a,k/1`"),
        ("typst", 'A #cite(<sm|>, form: "x")', '#cite(<sm>, form: "x")', "sm", (), "<k/1>"),
        ("typst", 'A #cite(form: "x", <sm|>)', '#cite(form: "x", <sm>)', "sm", (), ", <k/1>"),
        ("typst", "A @sm| b", "@sm", "sm", (), 'A #cite(label("k/1")) b'),
    ],
)
def test_a_citation_that_is_typed_is_found(form, marked, citation, typed, keys, written):
    cursor, text = marked.index("|"), marked.replace("|", "", 1)
    found = typing_at(text, form, cursor)
    assert citation is None or text[found.start : found.end] == citation
    assert (found.typed, found.keys) == (typed, keys)
    start, key = found.written("k/1")
    assert written in text[:start] + key + text[found.key_end :]


@pytest.mark.parametrize(
    ("form", "marked"),
    [
        ("tex", "% \\cite{|"),
        ("tex", "\\emph{|}"),
        ("tex", "\\cite{a} |"),
        ("markdown", "a@b|"),
        ("markdown", "see @fig-x|"),
        ("rst", "@a|"),
        ("typst", "// @a|"),
    ],
)
def test_elsewhere_nothing_is_typed(form, marked):
    assert typing_at(marked.replace("|", ""), form, marked.index("|")) is None


@pytest.mark.parametrize(
    ("form", "text", "keys"),
    [
        ("tex", "\\cite{c} \\citep[p]{a,%x\n b} \\mycite{d} % \\cite{e}\n\\cite{#1}", "c a b d"),
        ("markdown", "---\na: '@x'\n---\n[@p, p. 3; @q] `@code` @r says {cite}`s`", "p q r s"),
        ("org", "[cite:see @a p. 3;@b] =@code= cite:c,d [[cite:&e;&f]]", "a b c d e f"),
        ("rst", ":cite:p:`p,a` [Key]_ ``:cite:`code```", "p a Key"),
        ("typst", '#cite(<form>, form: "prose") @a.b. `@code`', "form a.b"),
        (
            "typst",
            '#import "@preview/x:1.0"\n= H <h>\nSo.@a:b@c-d @h #cite(form: "x", <e>)',
            "a:b c-d e",
        ),
    ],
)
def test_each_key_is_found_where_it_stands(form, text, keys):
    source = SourceText(Path("a"), text)
    spans = [span for found, _ in citations_in(source, form) for span in key_spans(source, found)]
    assert [key for _, _, key in spans] == keys.split()
    assert all(text[start:end] == key for start, end, key in spans)


def test_what_was_cancelled_or_is_stale_is_never_begun(tmp_path):
    begun, may_go_on, is_busy = [], threading.Event(), threading.Event()
    live = LiveIndex.open(make_index(tmp_path))

    def wait(state):
        is_busy.set()
        assert may_go_on.wait(60)
        return "first"

    def act(name):
        return lambda state: begun.append(name) or name

    async def use():
        desk = Desk(live)
        for name in ("a", "b"):
            item = TextDocumentItem(f"file:///none/{name}.tex", "latex", 1, "Text.")
            desk.open(item)
        a, b = desk.manuscripts
        first = asyncio.create_task(desk.answer(a, wait))
        await asyncio.to_thread(is_busy.wait, 60)
        cancelled = asyncio.create_task(desk.answer(a, act("cancelled")))
        stale = asyncio.create_task(desk.answer(b, act("stale")))
        kept = asyncio.create_task(desk.answer(b, act("kept"), at_any_rate=True))
        last = asyncio.create_task(desk.answer(a, act("last")))
        await asyncio.sleep(0.1)  # all wait for the thread
        cancelled.cancel()
        await asyncio.wait([cancelled])  # the thread is told of it before it goes on
        desk.change(b, "Changed.", 2)
        may_go_on.set()
        return await asyncio.gather(first, cancelled, stale, kept, last, return_exceptions=True)

    first, cancelled, stale, kept, last = asyncio.run(use())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert (first, stale, kept, last) == ("first", None, "kept", "last")
    assert begun == ["kept", "last"]
