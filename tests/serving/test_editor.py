"""The language server, asked over the protocol by a client of pygls through a process."""

import asyncio
import json
import re
import subprocess
import sys

import pytest
from lsprotocol import types as lsp

from mpbert.cli import main
from tests.serving.editing import ENTRY, ENVIRONMENT, NAMES, Editor, edited, make_index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("papers"))


def text_and_cursor(marked):
    return marked.replace("|", "", 1), marked.index("|")


FORMS = {
    "a.tex": (
        "\\documentclass{article}\\begin{document}\\bibliography{refs}\n"
        "Servers resolve names of hosts~\\cite{|}. More words.\n\\end{document}\n",
        f"hosts~\\cite{{{NAMES}}}. More",
    ),
    "b.tex": (
        "\\addbibresource{refs.bib}\nServers resolve names \\parencite[see][p. 3]{%\n  old, |}.\n",
        f"[p. 3]{{%\n  old, {NAMES}}}.",
    ),
    "c.md": (
        "---\nbibliography: refs.bib\n---\n\nServers resolve names [see @|; @old]. More.\n",
        f"[see @{NAMES}; @old]. More",
    ),
    "d.qmd": (
        "---\nbibliography: [refs.bib]\n---\n\n```{r}\nx@y\n```\n\nServers resolve names, as @|\n",
        f"as @{NAMES}\n",
    ),
    "e.Rmd": (
        "---\nbibliography: refs.bib\n---\nServers resolve names of hosts \\cite{nam|}.\n",
        f"hosts \\cite{{{NAMES}}}.",
    ),
    "f.rst": (
        "Servers resolve names of hosts :cite:p:`|`. More.\n\n.. bibliography:: refs.bib\n",
        f"hosts :cite:p:`{NAMES}`. More",
    ),
    "g.org": (
        "#+bibliography: refs.bib\n\nServers resolve names of hosts [cite:|]. More.\n",
        f"hosts [cite:@{NAMES}]. More",
    ),
    "h.typ": (
        '#bibliography("refs.bib")\nServers resolve names of hosts #cite(<|>). More.\n',
        f"hosts #cite(<{NAMES}>). More",
    ),
    "i.typ": (
        '#bibliography("refs.bib")\nServers resolve names of hosts @nam|. More.\n',
        f"hosts @{NAMES}. More",
    ),
}  # fmt: skip


def test_a_citation_is_completed_in_each_form_and_its_entry_added_once(index, tmp_path):
    (tmp_path / "refs.bib").write_text("@misc{old,\n  title = {Old},\n}\n")

    async def use(editor):
        bib = (tmp_path / "refs.bib").as_uri()
        for name, (marked, expected) in FORMS.items():
            text, cursor = text_and_cursor(marked)
            (tmp_path / name).write_text("not saved yet")
            uri = editor.open(tmp_path / name, text, "plaintext")
            best, *others = await editor.complete(uri, cursor)
            assert best.label == "Names of hosts" and best.data == NAMES, name
            assert re.fullmatch(rf"{NAMES} · Lovelace and Roe, 2003 · \d+ %", best.detail)
            assert "Ada Lovelace, Cy Roe" in best.documentation.value
            assert "Servers resolve names." in best.documentation.value
            assert (best.command is None) == (name != "a.tex"), name  # it has its entry then
            assert NAMES not in {item.data for item in others}
            await editor.choose(uri, best)
            assert expected in editor.texts[uri] and len(editor.texts[uri]) - len(text) < 40, name
            assert editor.texts[bib] == f"@misc{{old,\n  title = {{Old}},\n}}\n\n{ENTRY}"
        assert (tmp_path / "refs.bib").read_text() == "@misc{old,\n  title = {Old},\n}\n"

    edited(index, use)


def test_what_is_typed_filters_by_author_title_or_year_among_all_papers(index, tmp_path):
    async def use(editor):
        uri = editor.open(tmp_path / "a.tex", "")
        found = {}
        for typed in ["", "lovelace", "Élan", "elan 2002", "lovelace2001", "Clock", "2004", "xyz"]:
            text = f"Servers resolve names of hosts \\cite{{{typed}}}."
            editor.write(uri, text)
            items = await editor.complete(uri, text.index("}"))
            assert all(item.filter_text.startswith(typed) for item in items)
            found[typed] = [item.data for item in items]
        outside = await editor.complete(uri, 3)
        return found, outside

    found, outside = edited(index, use)
    assert found.pop("")[0] == NAMES
    assert found == {
        "lovelace": [NAMES, "routers2001"],
        "Élan": ["mail2002"],
        "elan 2002": ["mail2002"],
        "lovelace2001": ["routers2001"],
        "Clock": ["clocks2004"],
        "2004": ["clocks2004"],
        "xyz": [],
    }
    assert outside == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_are_counted_in_the_units_that_were_agreed_on(index, tmp_path, encoding):
    marked = (
        "First.\x0c Form\u2028 feeds.\n😀 «Ünï» servers resolve names \\cite{a😀, nam|es}. 😀\n"
    )
    text, cursor = text_and_cursor(marked)

    async def use(editor):
        uri = editor.open(tmp_path / "a.tex", text)
        best, *_ = await editor.complete(uri, cursor)
        await editor.choose(uri, best)
        hover = await editor.client.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(uri), editor.position(uri, cursor))
        )
        return editor.texts[uri], hover

    after, hover = edited(index, use, encoding)
    assert after == text.replace("names}", f"{NAMES}}}")
    unit = {"utf-8": 4, "utf-16": 2, "utf-32": 1}[encoding]
    width = hover.range.end.character - hover.range.start.character
    assert (width, unit > 0) == (len(NAMES), True)
    assert hover.contents.value.startswith("Names of hosts\nAda Lovelace, Cy Roe\n2003")


def test_without_a_bibliography_the_key_stands_alone_and_a_line_says_why(index, tmp_path):
    async def use(editor):
        text, cursor = text_and_cursor("Servers resolve names \\cite{|}.")
        uri = editor.open(tmp_path / "a.tex", text)
        await editor.choose(uri, (await editor.complete(uri, cursor))[0])
        while not editor.messages:
            await asyncio.sleep(0.05)
        return list(editor.texts.values()), editor.messages

    texts, messages = edited(index, use)
    assert texts == [f"Servers resolve names \\cite{{{NAMES}}}."]
    assert len(messages) == 1 and messages[0].startswith("a.tex: names no .bib, so names2003")


def test_a_bibliography_that_is_named_and_not_there_is_made(index, tmp_path):
    async def use(editor):
        text, cursor = text_and_cursor("\\bibliography{new}Servers resolve names \\cite{|}.")
        uri = editor.open(tmp_path / "a.tex", text)
        await editor.choose(uri, (await editor.complete(uri, cursor))[0])
        return editor.texts[(tmp_path / "new.bib").as_uri()]

    assert edited(index, use) == ENTRY


def test_entries_of_an_unsaved_buffer_and_changes_outside_count(index, tmp_path):
    bib, main_file = tmp_path / "refs.bib", tmp_path / "a.tex"
    bib.write_text("")
    text, cursor = text_and_cursor("\\bibliography{refs}Servers resolve names \\cite{|}.")

    async def keys(editor, uri):
        items = await editor.complete(uri, cursor)
        return {item.data: item.text_edit.new_text for item in items if item.command is None}

    async def use(editor):
        uri = editor.open(main_file, text)
        found = [await keys(editor, uri)]
        bib.write_bytes(b'@string{n = "Names of"}\r\n@misc{other, title = n # { hosts}}\r\n')
        found.append(await keys(editor, uri))
        buffer = editor.open(bib, "@misc{mine, title={Clocks that drift}}\r\n", "bibtex")
        found.append(await keys(editor, uri))
        await editor.choose(uri, (await editor.complete(uri, cursor))[0])
        return found, editor.texts[buffer]

    found, buffer = edited(index, use)
    assert found == [{}, {NAMES: "other"}, {"clocks2004": "mine"}]
    entry = ENTRY.replace("\n", "\r\n")
    assert buffer == f"@misc{{mine, title={{Clocks that drift}}}}\r\n\r\n{entry}"


THESIS = {
    "main.tex": "\\documentclass{book}\\addbibresource{bib/refs.bib}\\begin{document}"
    "\\input{parts/one}\\include{parts/two}\\end{document}",
    "other.tex": "\\documentclass{book}\\bibliography{more}\\begin{document}"
    "\\input{parts/one}\\end{document}",
    "parts/one.tex": "Names \\citep{a}.\n% \\cite{mine}\n\\input{parts/three}",
    "parts/two.tex": "Clocks \\cite{x,mine} drift.",
    "parts/three.tex": "Again \\citet[p.~2]{mine}.",
    "bib/refs.bib": "@misc{mine,\n  title = {Clocks that drift},\n  year = 2004\n}\n",
    "more.bib": "@misc{names, title={Names of hosts}}\n",
}


def test_a_key_is_told_and_followed_through_all_files_of_all_roots(index, tmp_path):
    for name, text in THESIS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    async def use(editor):
        async def ask(method, uri, part, kind, **more):
            place = editor.position(uri, editor.texts[uri].index(part) + 1)
            about = {"text_document": lsp.TextDocumentIdentifier(uri), "position": place}
            return await getattr(editor.client, method)(kind(**about, **more))

        three = editor.open(tmp_path / "parts" / "three.tex")
        two = editor.open(
            tmp_path / "parts" / "two.tex", "Unsaved.\n\nClocks \\cite{x,mine} drift."
        )
        hover = await ask("text_document_hover_async", three, "mine", lsp.HoverParams)
        entry = await ask("text_document_definition_async", three, "mine", lsp.DefinitionParams)
        context = {"context": lsp.ReferenceContext(True)}
        uses = await ask(
            "text_document_references_async", two, "mine", lsp.ReferenceParams, **context
        )
        unknown = await ask("text_document_hover_async", two, "x,", lsp.HoverParams)
        nothing = await ask("text_document_hover_async", two, "Clocks", lsp.HoverParams)
        one = editor.open(tmp_path / "parts" / "one.tex", "Servers resolve names \\cite{}.")
        known = {
            item.data: item.text_edit.new_text
            for item in await editor.complete(one, len("Servers resolve names \\cite{"))
        }
        return hover, entry, uses, unknown, nothing, known

    hover, entry, uses, unknown, nothing, known = edited(index, use)
    told = hover.contents.value
    assert told.startswith("Clocks that drift\nDee Poe\n2004\n\nServers set clocks.")
    assert told.endswith("Also cited at:\n- two.tex:3: Clocks \\cite{x,mine} drift.")
    assert entry.uri == (tmp_path / "bib" / "refs.bib").as_uri()
    assert entry.range == lsp.Range(lsp.Position(0, 6), lsp.Position(0, 10))
    found = {(use.uri.rpartition("/")[2], use.range.start.line) for use in uses}
    assert found == {("two.tex", 2), ("three.tex", 0)}
    assert "x: neither in a bibliography nor in the index." in unknown.contents.value
    assert nothing is None
    assert known[NAMES] == "names"  # of the other root's bibliography


def test_no_buffer_and_no_request_ends_the_server(index, tmp_path):
    texts = [
        "\\cite{" * 3000,
        "\\begin{verbatim}\\cite{",
        "{" * 5000 + "\\cite{",
        "\0\x1a\U000f0000 \\cite{\U000f0001",
        "---\n: [\n---\n@",
        "\\newcommand{\\a}{\\a\\a}\\a \\cite{",
        "@misc{a, title={\\cite{",
        "\\cite{\r\r\n",
    ]

    async def use(editor):
        for number, text in enumerate(texts):
            for suffix in (".tex", ".md", ".org", ".rst", ".typ", ".bib", ".unknown", ""):
                uri = editor.open(tmp_path / f"{number}{suffix}", text, "latex")
                document = lsp.TextDocumentIdentifier(uri)
                for place in (lsp.Position(0, 6), lsp.Position(10**9, 0), lsp.Position(0, 10**9)):
                    try:
                        await editor.client.text_document_completion_async(
                            lsp.CompletionParams(document, place)
                        )
                    except Exception as error:
                        raise AssertionError((text[:30], suffix, place)) from error
        document = lsp.TextDocumentIdentifier("file:///none/at/all.tex")
        place = lsp.Position(0, 0)
        client = editor.client
        assert await client.text_document_hover_async(lsp.HoverParams(document, place)) is None
        wrong = lsp.ExecuteCommandParams("mpbert.addEntry", [uri, "no such paper", "key"])
        await client.workspace_execute_command_async(wrong)
        uri = editor.open(tmp_path / "last.tex", "Servers resolve names \\cite{}.")
        asked = [asyncio.ensure_future(editor.complete(uri, 28)) for _ in range(20)]
        for number in range(1, 19):
            client.cancel_request(lsp.CancelParams(client.protocol.msg_id or number))
        editor.write(uri, "Changed: routers drop packets \\cite{}.")
        await asyncio.gather(*asked, return_exceptions=True)
        return (await editor.complete(uri, len("Changed: routers drop packets \\cite{")))[0].data

    assert edited(index, use) == "routers2001"


def test_an_index_that_changes_meanwhile_answers_as_it_is_then(index, tmp_path):
    new = {"paper_id": "zebra", "title": "Zebras", "abstract": ["Zebras run."], "year": 2010}
    (tmp_path / "new.jsonl").write_text(json.dumps(new))

    async def use(editor):
        uri = editor.open(tmp_path / "a.tex", "Servers resolve names \\cite{zebra}.")
        before = await editor.complete(uri, len("Servers resolve names \\cite{zebra"))
        words = ["add", str(index), str(tmp_path / "new.jsonl")]
        assert await asyncio.to_thread(main, words) == 0
        after = await editor.complete(uri, len("Servers resolve names \\cite{zebra"))
        return before, [item.label for item in after]

    assert edited(index, use) == ([], ["Zebras"])
    assert main(["remove", str(index), "zebra"]) == 0


MANUSCRIPT = (
    "\\documentclass{article}\\bibliography{refs}\\begin{document}\n"
    "Servers resolve names of hosts [CITATION]. Routers drop packets~\\cite{todo, mine} (REF).\n"
    "% \\cite{hidden} [CITATION]\n"
    "Clocks drift \\cite{clocks2004} and \\citep{nowhere,child}.\n"
    "It has been shown in many studies that hosts relay mail between several networks.\n"
    "\\end{document}\n"
)
BIB = (
    "@misc{mine, title={Other}}\n@misc{idle, title={Idle}}\n@misc{parent, title={All}}\n"
    "@misc{child, title={Part}, crossref={parent}, ids={also}}\n"
)


async def until(found, seconds=60):
    """Wait until a function returns something."""
    for _ in range(seconds * 20):
        if value := found():
            return value
        await asyncio.sleep(0.05)
    raise AssertionError("nothing came")


def test_remarks_are_of_low_severity_and_can_be_switched_off(index, tmp_path):
    (tmp_path / "refs.bib").write_text(BIB)

    def told(editor, uri):
        text = editor.texts[uri].split("\n")
        return [
            (d.code, text[d.range.start.line][d.range.start.character : d.range.end.character])
            for d in editor.diagnostics.get(uri, [])
        ]

    async def use(editor):
        uri = editor.open(tmp_path / "a.tex", MANUSCRIPT)
        bib = editor.open(tmp_path / "refs.bib", language="bibtex")
        await until(lambda: "unmarked" in dict(told(editor, uri)) and told(editor, bib))
        found, unused = told(editor, uri), told(editor, bib)
        assert {d.severity for d in editor.diagnostics[uri]} == {3, 4}
        cited = MANUSCRIPT.replace("(REF).", "\\cite{idle}.").replace("drift", "drift a lot")
        editor.write(uri, cited.replace("between several networks", "in networks \\cite{also}"))
        await until(lambda: bib in editor.diagnostics and not editor.diagnostics[bib])
        after = told(editor, uri)
        settings = {"mpbert": {"unmarked": 0, "open_places": False, "undefined_keys": False}}
        change = lsp.DidChangeConfigurationParams(settings)
        editor.client.workspace_did_change_configuration(change)
        await until(lambda: not editor.diagnostics[uri])
        wrong = lsp.DidChangeConfigurationParams({"mpbert": {"unmarked": "many"}})
        editor.client.workspace_did_change_configuration(wrong)
        await until(lambda: editor.messages)
        return found, unused, after, editor.messages

    found, unused, after, messages = edited(index, use)
    sentence = "It has been shown in many studies that hosts relay mail between several networks"
    assert found == [
        ("open-place", "[CITATION]"),
        ("open-place", "\\cite{todo, mine}"),
        ("open-place", "(REF)"),
        ("undefined-key", "clocks2004"),
        ("undefined-key", "nowhere"),
        ("unmarked", sentence),
    ]
    assert unused == [("unused-entry", "idle")]
    assert after == [each for each in found if each[1] not in ("(REF)", sentence)]
    expected = "setting mpbert.unmarked is 'many'; expected a number of sentences, 0 for none"
    assert messages == [expected]


def test_a_label_of_another_file_of_typst_is_no_undefined_key(index, tmp_path):
    (tmp_path / "refs.bib").write_text(BIB)
    (tmp_path / "b.typ").write_text("= Head <sec-b>\nOaks.")

    async def use(editor):
        text = '#bibliography("refs.bib")\n#include "b.typ"\nAs @sec-b says, trees @gone.'
        uri = editor.open(tmp_path / "a.typ", text)
        await until(lambda: editor.diagnostics.get(uri))
        return [each.message for each in editor.diagnostics[uri]]

    assert edited(index, use) == ["'gone' is defined in no bibliography"]


def test_actions_cite_one_of_the_papers_of_a_place_and_add_what_is_missing(index, tmp_path):
    (tmp_path / "refs.bib").write_text(BIB)

    async def use(editor):
        uri = editor.open(tmp_path / "a.tex", MANUSCRIPT)
        bib = (tmp_path / "refs.bib").as_uri()
        diagnostics = await until(
            lambda: (
                [d for d in editor.diagnostics.get(uri, []) if d.code == "unmarked"]
                and editor.diagnostics[uri]
            )
        )
        found = {}
        for each in diagnostics:
            editor.write(uri, MANUSCRIPT)
            editor.texts[bib] = BIB
            context = lsp.CodeActionContext([each])
            document = lsp.TextDocumentIdentifier(uri)
            params = lsp.CodeActionParams(document, each.range, context)
            actions = await editor.client.text_document_code_action_async(params)
            if actions:
                assert actions[0].is_preferred and [*actions[0].diagnostics] == [each]
                editor.make(actions[0].edit)
                text = MANUSCRIPT.split("\n")[each.range.start.line]
                now = editor.texts[uri].split("\n")[each.range.start.line]
                found[each.code, text] = actions[0].title, now, editor.texts[bib][len(BIB) :]
        return list(found.values())

    place, key, sentence = edited(index, use)
    assert place[0] == "Cite Lovelace, 2001: Routers drop packets"  # the last of the line
    assert place[1].endswith("\\cite{todo, mine} \\cite{routers2001}.")
    assert key[0] == "Add the entry of Poe, 2004: Clocks that drift"
    assert key[1] == "Clocks drift \\cite{clocks2004} and \\citep{nowhere,child}."
    assert key[2].startswith("\n@misc{clocks2004,\n  title = {{Clocks that drift}},")
    assert sentence[1].endswith("between several networks~\\cite{mail2002}.")
    assert sentence[2].startswith("\n@misc{mail2002,")


def test_two_editors_of_the_same_files_lose_nothing(index, tmp_path):
    (tmp_path / "refs.bib").write_text("")
    text, cursor = text_and_cursor("\\bibliography{refs}Servers resolve names \\cite{|}.")
    (tmp_path / "a.tex").write_text(text)

    async def use(first):
        second = await Editor().start(index)
        uris = [editor.open(tmp_path / "a.tex") for editor in (first, second)]
        (best, *_), _ = [
            await editor.complete(uri, cursor)
            for editor, uri in zip((first, second), uris, strict=True)
        ]
        await first.choose(uris[0], best)
        (tmp_path / "refs.bib").write_text(first.texts[(tmp_path / "refs.bib").as_uri()])
        again = (await second.complete(uris[1], cursor))[0]
        await second.choose(uris[1], again)
        await second.stop()
        return again.command, list(second.texts)

    command, opened = edited(index, use)
    assert command is None and opened == [(tmp_path / "a.tex").as_uri()]
    assert (tmp_path / "refs.bib").read_text() == ENTRY


def test_the_server_ends_when_it_is_told_to_and_when_its_editor_is_gone(index):
    def message(method, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, **more}).encode()
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    begin = message("initialize", id=1, params={"capabilities": {}, "processId": None})
    command = [sys.executable, "-m", "mpbert", "lsp", str(index)]
    for said, code in [
        (message("shutdown", id=2) + message("exit"), 0),
        (message("exit"), 1),
        (None, 0),
    ]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
        server = subprocess.Popen(command, env=ENVIRONMENT, **pipes)
        server.stdin.write(begin + (said or b""))
        server.stdin.flush()
        if said is None:
            server.stdin.close()
        assert server.wait(60) == code  # although its standard input is open
        server.stdin.close()


CLOCK = "Clocks of hosts are synchronised by the precision time protocol PTP of IEEE 1588"
CIPHER = "The advanced encryption standard is the cipher algorithm of the user security model"


def test_a_citation_that_does_not_fit_is_told_and_found_again(rfc_archive, tmp_path):
    words = ["index", str(rfc_archive), str(tmp_path / "index"), "--reader", "rfc"]
    assert main(words) == 0
    pause = "This was said. We now turn to something else. It is said as follows."
    text = f"{CLOCK} \\cite{{RFC3826}}.\n{pause}\n{CIPHER} \\cite{{RFC3826}}."

    async def use(editor):
        def doubts():
            told = editor.diagnostics.get(uri, ())
            return [each for each in told if each.code == "doubtful-citation"]

        uri = editor.open(tmp_path / "a.tex", text)
        (doubt,) = await until(doubts)
        editor.write(uri, f"More.\n\n{text}")
        moved = await until(lambda: [each for each in doubts() if each.range.start.line])
        return doubt, moved

    doubt, moved = edited(tmp_path / "index", use)
    assert doubt.severity == 3 and " does not fit this sentence: rank " in doubt.message
    assert "Precision Time Protocol" in doubt.message.partition("; ")[2]  # which fits better
    start = text.index("RFC3826")
    assert doubt.range == lsp.Range(lsp.Position(0, start), lsp.Position(0, start + 7))
    assert [each.range.start for each in moved] == [lsp.Position(2, start)]
