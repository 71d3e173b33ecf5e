"""Write RFCs in the form in which GROBID writes papers: a folder of TEI files, to try the toolkit.

Run: ``.venv/bin/python tests/rfc_as_tei.py FOLDER [ARCHIVE]``; the archive is that of
``datasets/rfc`` unless named. Text, authors, DOIs and citations are those of the RFCs; the list of
references holds those that are in the archive.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from lxml import etree
from lxml.builder import ElementMaker

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.records import RawPaper

ARCHIVE = Path(__file__).parents[1] / "datasets" / "rfc" / "rfc-593.tar.xz"
TEI = ElementMaker(
    namespace="http://www.tei-c.org/ns/1.0", nsmap={None: "http://www.tei-c.org/ns/1.0"}
)
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"


def tei_of(paper: RawPaper, papers: dict[str, RawPaper]) -> etree._Element:
    """Return the TEI of a paper.

    :param papers: by id, all that can be cited.
    """
    cited = [paper_id for paper_id in paper.references if paper_id in papers]
    header = TEI.teiHeader(
        TEI.fileDesc(
            TEI.titleStmt(TEI.title(paper.title, level="a", type="main")),
            TEI.publicationStmt(TEI.date(type="published", when=str(paper.year))),
            TEI.sourceDesc(_bibliography_entry(paper)),
        ),
        TEI.profileDesc(TEI.abstract(TEI.p(*_sentences(paper.abstract, cited)))),
    )
    sections = [
        TEI.div(TEI.head(section.heading), TEI.p(*_sentences(section.sentences, cited)))
        for section in paper.sections
    ]
    entries = [_bibliography_entry(papers[paper_id]) for paper_id in cited]
    for place, entry in enumerate(entries):
        entry.set(_XML_ID, f"b{place}")
    back = TEI.back(TEI.div(TEI.listBibl(*entries), type="references"))
    return TEI.TEI(header, TEI.text(TEI.body(*sections), back))


def _bibliography_entry(paper: RawPaper) -> etree._Element:
    return TEI.biblStruct(
        TEI.analytic(
            TEI.title(paper.title, level="a", type="main"),
            *(TEI.author(TEI.persName(TEI.surname(name))) for name in paper.authors),
        ),
        TEI.monogr(TEI.imprint(TEI.date(type="published", when=str(paper.year)))),
        TEI.idno(f"10.17487/{paper.paper_id}", type="DOI"),
    )


def _sentences(sentences: Sequence[RawSentence], cited: list[str]) -> list[etree._Element]:
    """Return the sentences, their citations pointing at places of the list of references."""
    elements = []
    for sentence in sentences:
        parts: list[str | etree._Element] = []
        last = 0
        for marker in sentence.markers:
            targets = [f"#b{cited.index(p)}" for p in marker.cited_ids if p in cited]
            printed = sentence.text[marker.start : marker.end]
            pointer = {"target": " ".join(targets)} if targets else {}
            parts += [sentence.text[last : marker.start], TEI.ref(printed, type="bibr", **pointer)]
            last = marker.end
        elements.append(TEI.s(*parts, sentence.text[last:]))
    return elements


def main(folder: str, archive: str | Path = ARCHIVE) -> None:
    """Write a file for each RFC."""
    output = Path(folder)
    output.mkdir(parents=True)
    papers = {paper.paper_id: paper for paper in READERS["rfc"]().read(Path(archive))}
    for paper_id, paper in papers.items():
        tree = etree.ElementTree(tei_of(paper, papers))
        tree.write(output / f"{paper_id}.tei.xml", encoding="UTF-8", xml_declaration=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
