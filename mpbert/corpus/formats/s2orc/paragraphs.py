"""Paragraphs, references and names as S2ORC of 2020 and s2orc-doc2json write them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mpbert.citations.records import RawSentence
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.linkage import Linker
from mpbert.corpus.raw.spans import mark_paragraph, sections_of
from mpbert.corpus.raw.values import id_of, text_of
from mpbert.corpus.records import RawSection

Paragraphs = Sequence[Mapping[str, Any]]


def identifiers_of(entry: Mapping[str, Any]) -> Identifiers:
    """Return what a reference says of the paper it means; ``other_ids`` holds lists by kind."""
    others = {key.lower(): value for key, value in (entry.get("other_ids") or {}).items()}

    def first(*kinds: str) -> str:
        found = [value for kind in kinds if (value := others.get(kind))]
        value = found[0] if found else ""
        return str(value[0] if isinstance(value, list) else value)

    link = entry.get("link")
    if link is None and entry.get("links"):
        link = entry["links"][0] if isinstance(entry["links"], list) else entry["links"]
    return Identifiers(
        corpus_id=id_of(link),
        doi=first("doi"),
        arxiv=first("arxiv", "arxiv_id"),
        pubmed=first("pmid", "pubmed", "pubmed_id"),
        pmc=first("pmcid", "pmc", "pmc_id"),
        title=text_of(entry.get("title")),
    )


def resolve_entries(
    entries: Mapping[str, Mapping[str, Any]], linker: Linker, counts: Counter[str]
) -> dict[str, str]:
    """Return the paper id of each ``BIBREF`` that means a paper of the corpus."""
    found = {
        key: linker.resolve(identifiers_of(entry or {}), counts) for key, entry in entries.items()
    }
    return {key: paper_id for key, paper_id in found.items() if paper_id}


def marked(
    paragraphs: Paragraphs, resolved: Mapping[str, str], counts: Counter[str]
) -> list[tuple[str, list[RawSentence]]]:
    """Return heading and marked sentences of each paragraph.

    :param resolved: paper id of each ``BIBREF``.
    :param counts: receives what :func:`mark_paragraph` counts and
        ``citation_spans_without_a_reference``.
    """
    found = []
    for paragraph in paragraphs:
        spans = []
        for span in paragraph.get("cite_spans") or ():
            ref_id = span.get("ref_id")
            counts["citation_spans_without_a_reference"] += not ref_id
            cited = (resolved[ref_id],) if ref_id in resolved else ()
            spans.append((span.get("start"), span.get("end"), cited))
        text = paragraph.get("text") or ""
        found.append((text_of(paragraph.get("section")), mark_paragraph(text, spans, counts)))
    return found


def read_parse(
    parse: Mapping[str, Any], linker: Linker, counts: Counter[str]
) -> tuple[tuple[RawSentence, ...], tuple[RawSection, ...], tuple[str, ...]]:
    """Return abstract, sections and the papers that the references of a parse mean."""
    resolved = resolve_entries(parse.get("bib_entries") or {}, linker, counts)
    abstract = parse.get("abstract") or ()
    if isinstance(abstract, str):
        abstract = ({"text": abstract},)
    sentences = [s for _, found in marked(abstract, resolved, counts) for s in found]
    body = marked(parse.get("body_text") or (), resolved, counts)
    return tuple(sentences), sections_of(body), tuple(dict.fromkeys(resolved.values()))
