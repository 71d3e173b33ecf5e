import io
import json
import tarfile

import pytest

from mpbert.corpus.formats.rfc.reader import RfcReader
from mpbert.foundation.errors import CorpusError

TEXT = """\
Network Working Group                                          A. Author
Request for Comments: 10                                      March 2001

                               A Protocol

Table of Contents

   1.  Introduction . . . . . . . . . . . . . . . . . . . . . . . .  1

1.  Introduction

   This protocol is one of the many that are used by hosts.  It needs
   the rules of the network [RFC9] and of its links, e.g., those that

Author                        Standards Track                   [Page 1]
\f
RFC 10                         A Protocol                     March 2001

   are written by J. Doe in another place [NAMES].

      +-----+      +-----+
      | one |----->| two |
      +-----+      +-----+

   o  The first item is about the well-
      known ports.

   o  The second item is about the weather.

2.  References

   [RFC9]   Doe, J., "Rules of the Network", RFC 9, May 2000.

   [NAMES]  Doe, J., "Names", RFC 8, June 1999.

Author's Address

   A. Author is to be found in the house at the end of the road.
"""
INFO = {
    "title": "A Protocol, Replacing RFC 7",
    "authors": ["A. Author"],
    "source": "Networks",
    "abstract": "This is a protocol.\r\nIt replaces\r\nRFC 7.",
    "pub_date": "March 2001",
    "see_also": ["STD0005"],
}


@pytest.fixture
def archive(tmp_path):
    def write(files: dict[str, bytes]):
        path = tmp_path / "rfcs.tar.xz"
        with tarfile.open(path, "w:xz") as tar:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        return path

    return write


def test_an_rfc_becomes_prose_with_its_citations_and_nothing_else(archive):
    path = archive({"a/rfc10.txt": TEXT.encode(), "a/rfc10.json": json.dumps(INFO).encode()})
    reader = RfcReader()
    (paper,) = reader.read(path)
    assert (paper.paper_id, paper.year, paper.venue) == ("RFC10", 2001, "Networks")
    assert paper.title == "A Protocol, Replacing"
    assert [s.text for s in paper.abstract] == ["This is a protocol.", "It replaces RFC 7."]
    (section,) = paper.sections
    assert section.heading == "Introduction"
    assert [s.text for s in section.sentences] == [
        "This protocol is one of the many that are used by hosts.",
        "It needs the rules of the network [RFC9] and of its links, e.g., those that are written "
        "by J. Doe in another place [NAMES].",
        "The first item is about the well-known ports.",
        "The second item is about the weather.",
    ]
    assert [m.cited_ids for m in section.sentences[1].markers] == [("RFC9",), ("RFC8",)]
    assert paper.references == ("RFC9", "RFC8")
    assert reader.counts["lines_dropped_as_no_prose"] == 3
    assert reader.counts["page_footers_dropped"] == 1
    assert reader.counts["page_headers_dropped"] == 1


def test_an_rfc_without_its_text_is_an_error(archive):
    path = archive({"rfc10.json": json.dumps(INFO).encode()})
    with pytest.raises(CorpusError, match=r"found no rfc10\.txt; expected a \.txt and a \.json"):
        list(RfcReader().read(path))


def test_a_file_that_is_no_archive_is_an_error(tmp_path):
    path = tmp_path / "rfcs.tar.xz"
    path.write_bytes(b"no archive")
    with pytest.raises(CorpusError, match="expected a tar archive"):
        list(RfcReader().read(path))


def test_broken_utf_8_is_an_error_that_names_the_rfc(archive):
    path = archive({"rfc10.txt": b"\xff", "rfc10.json": json.dumps(INFO).encode()})
    with pytest.raises(CorpusError, match=r"RFC 10: broken record .*UTF-8"):
        list(RfcReader().read(path))
