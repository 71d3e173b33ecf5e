"""Tools for an assistant, asked by the SDK's own client through a process."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from mpbert.cli import main

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def asked(index, use):
    """Start the command, connect a client, and return what a coroutine function of it returns."""

    async def talk():
        words = ["-m", "mpbert", "mcp", str(index)]
        started = StdioServerParameters(command=sys.executable, args=words, env=ENVIRONMENT)
        async with Client(started, read_timeout_seconds=300) as client:
            return await use(client)

    return asyncio.run(talk())


def test_an_assistant_finds_papers_titles_and_bibtex(library_index, mail):
    async def use(client):
        async def call(name, **arguments):
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, answer.content
            return answer.structured_content or answer.content[0].text

        tools = (await client.list_tools()).tools
        text = "Servers resolve names [CITATION]. Unrelated words."
        found = await call("recommend_papers", text=text, top=1)
        at_end = await call("recommend_papers", text="Routers drop packets")
        whole = await call("recommend_for_paper", title="Routers", abstract="They drop.", top=1)
        claim = "Mail is old [1]. It has been shown that routers drop packets. We thank all of you."
        missing = await call("missing_citations", text=claim, sentences=1)
        entries = "@misc{a, title={Routers}, year=2001}"
        checked = await call("check_citations", text="Mail \\cite{a, b}.", bibtex=entries)
        titles = await call("search_titles", query="rout")
        entries = await call("bibtex", paper_ids=["routers", "names"])
        assert await asyncio.to_thread(main, ["add", str(library_index), mail]) == 0
        later = await call("recommend_papers", text="Hosts relay mail [CITATION].")
        return tools, found, at_end, whole, missing, checked, titles, entries, later

    tools, found, at_end, whole, missing, checked, titles, entries, later = asked(
        library_index, use
    )
    names = {"recommend_papers", "recommend_for_paper", "search_titles", "bibtex"}
    assert {tool.name for tool in tools} == names | {"missing_citations", "check_citations"}
    assert all(tool.description and tool.annotations.read_only_hint for tool in tools)
    (names,) = found["papers"]
    assert names.pop("score") > 0 and 0 < names.pop("probability") < 1
    assert 0 < found["holds"] < 1 and found["fits"] in (True, False)
    about = {"paper_id": "names", "title": "Names", "authors": [], "year": 2003, "doi": None}
    assert names == {**about, "abstract": "Servers resolve names.", "citing": []} | {
        "evidence": names["evidence"]
    }
    assert names["evidence"]["text"] == "Servers resolve names."
    assert [paper["paper_id"] for paper in at_end["papers"]] == ["routers"]
    assert [paper["paper_id"] for paper in whole["papers"]] == ["routers"]
    assert [(one["kind"], one["key"]) for one in checked["findings"]] == [("undefined-key", "b")]
    assert checked["unchecked"] == ["a", "b"]  # a short title tells no paper
    (lacking,) = missing["sentences"]
    assert lacking["sentence"] == "It has been shown that routers drop packets."
    assert [paper["paper_id"] for paper in lacking["papers"]] == ["routers"]
    assert [paper["title"] for paper in titles["papers"]] == ["Routers"]
    assert entries.startswith("@misc{routers,") and "\n\n@misc{names," in entries
    assert [paper["paper_id"] for paper in later["papers"]] == ["mail"]


def test_wrong_questions_of_an_assistant_are_told_in_one_line(library_index):
    async def use(client):
        twice = {"text": "a [CITATION] b [CITATION]"}
        wrong = [
            await client.call_tool("bibtex", {"paper_ids": ["none"]}),
            await client.call_tool("recommend_papers", twice),
            await client.call_tool("recommend_papers", {"text": "..."}),
            await client.call_tool("recommend_for_paper", {"title": " "}),
            await client.call_tool("recommend_papers", {"text": "Names", "top": 0}),
            await client.call_tool("recommend_papers", {}),
        ]
        assert all(answer.is_error for answer in wrong)
        right = await client.call_tool("bibtex", {"paper_ids": ["names"]})
        assert not right.is_error
        return [answer.content[0].text for answer in wrong]

    unknown, twice, empty, no_paper, top, no_text = asked(library_index, use)
    assert "no paper 'none' among the 2 of the index" in unknown and "\n" not in unknown
    assert "found 2 times [CITATION]; expected one" in twice
    assert "\n" not in empty
    assert "expected a title, an abstract, or both" in no_paper and "\n" not in no_paper
    assert top == ("recommend_papers: top: Input should be greater than or equal to 1; found 0")
    assert no_text == "recommend_papers: text: Field required"


def test_papers_are_resources(library_index):
    async def use(client):
        (template,) = (await client.list_resource_templates()).resource_templates
        (content,) = (await client.read_resource("paper://names")).contents
        with pytest.raises(MCPError, match="no paper 'none' among the 2 of the index"):
            await client.read_resource("paper://none")
        return template.uri_template, json.loads(content.text)

    template, paper = asked(library_index, use)
    assert template == "paper://{paper_id}"
    assert (paper["title"], paper["abstract"]) == ("Names", "Servers resolve names.")


@pytest.mark.parametrize("name", ["mcp", "lsp"])
def test_what_is_no_index_is_refused_in_one_line(name, tmp_path):
    command = [sys.executable, "-m", "mpbert", name, str(tmp_path)]
    found = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=ENVIRONMENT
    )
    assert (found.returncode, found.stdout) == (2, "")
    (line,) = found.stderr.splitlines()
    assert line.startswith(f"mpbert {name}: ") and "expected an index" in line
