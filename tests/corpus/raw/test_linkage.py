from collections import Counter

import pytest

from mpbert.corpus.raw.identifiers import (
    Identifiers,
    normal_arxiv,
    normal_doi,
    normal_number,
    normal_title,
)
from mpbert.corpus.raw.linkage import Linker


@pytest.mark.parametrize(
    ("function", "text", "expected"),
    [
        (normal_doi, "10.17487/RFC2119", "10.17487/rfc2119"),
        (normal_doi, "https://doi.org/10.17487/RFC2119.", "10.17487/rfc2119"),
        (
            normal_doi,
            "doi: 10.1002/(SICI)1(19)5:5<1::AID>3.0.CO;2-",
            "10.1002/(sici)1(19)5:5<1::aid>3.0.co;2-",
        ),
        (normal_doi, "DOI 10.48550/arXiv.2005.00512", None),
        (normal_doi, "RFC 2119", None),
        (normal_arxiv, "2005.00512", "2005.00512"),
        (normal_arxiv, "arXiv:2005.00512v12", "2005.00512"),
        (normal_arxiv, "arXiv: 0704.0001 [hep-ph]", "0704.0001"),
        (normal_arxiv, "http://arxiv.org/abs/math.GT/0309136v2", "math/0309136"),
        (normal_arxiv, "https://arxiv.org/pdf/2005.00512v1.pdf", "2005.00512"),
        (normal_arxiv, "hep-th/9901001", "hep-th/9901001"),
        (normal_arxiv, "12.2005", None),
        (normal_arxiv, "pages 12005.00512", None),
        (normal_number, "PMC0123", "123"),
        (normal_number, " 31978945 ", "31978945"),
        (normal_number, "https://www.ncbi.nlm.nih.gov/pubmed/31978945/", "31978945"),
        (normal_number, "none", None),
        (normal_title, "Über <i>die</i> Größe: der-Welt!", "uberdiegrossederwelt"),
        (normal_title, "The  Co-Citation\nof X", "thecocitationofx"),
        (normal_title, "Preface", None),
        (normal_title, "Acknowledgements", "acknowledgements"),
        (normal_title, "…", None),
    ],
)
def test_each_identifier_has_one_normal_form(function, text, expected):
    assert function(text) == expected


@pytest.fixture
def linker() -> Linker:
    linker = Linker()
    linker.add("a", Identifiers(doi="10.17487/RFC1", title="Host software of the network"))
    linker.add("b", Identifiers(arxiv="2005.00512", pubmed="7", title="The Network Working Group"))
    linker.add("c", Identifiers(pmc="PMC9", title="The network working group"))
    return linker


@pytest.mark.parametrize(
    ("printed", "found", "count"),
    [
        (Identifiers(corpus_id="c", doi="10.17487/RFC1"), "c", "references_resolved_by_corpus_id"),
        (Identifiers(doi="https://doi.org/10.17487/rfc1"), "a", "references_resolved_by_doi"),
        (Identifiers(doi="10.48550/arXiv.2005.00512"), "b", "references_resolved_by_arxiv"),
        (Identifiers(doi="10.9999/x", arxiv="2005.00512v3"), "b", "references_resolved_by_arxiv"),
        (Identifiers(pubmed="0007"), "b", "references_resolved_by_pubmed"),
        (Identifiers(pmc="9"), "c", "references_resolved_by_pmc"),
        (Identifiers(title="Host Software of the Network."), "a", "references_resolved_by_title"),
        (Identifiers(title="The network working group"), None, "references_ambiguous"),
        (Identifiers(corpus_id="zz"), None, "references_outside_the_corpus"),
        (Identifiers(title="Host software"), None, "references_without_identifier_or_title"),
        (Identifiers(doi="", title=None), None, "references_without_identifier_or_title"),
    ],
)
def test_a_reference_is_resolved_by_the_first_kind_that_finds_one_paper(
    linker, printed, found, count
):
    counts = Counter()
    assert linker.resolve(printed, counts) == found
    assert counts == {"references_read": 1, count: 1}


def test_a_known_id_is_not_added_again(linker):
    assert not linker.add("a", Identifiers(doi="10.9999/other"))
    assert linker.resolve(Identifiers(doi="10.9999/other"), Counter()) is None
    assert linker.paper_ids == {"a", "b", "c"}


def test_a_title_with_a_lone_surrogate_is_no_error(linker):
    printed = Identifiers(doi="10.1000/\ud800", title="On \ud83d lone \ud83d halves of signs")
    assert linker.add("d", printed)
    assert linker.resolve(printed, Counter()) == "d"
