import pytest

from mpbert.corpus.formats.rfc.markers import mark, without_mentions
from mpbert.corpus.formats.rfc.references import RfcReferences
from mpbert.corpus.text import cut_markers

LINES = """\
   [1]        Foo, F., "Names", RFC 2119, March 1997.
   [KEYWORDS] Bradner, S., "Not RFC 9999", BCP 14, RFC 2119,
              March 1997.
   [IEEE]     IEEE, "Ethernet", 1985.
   [RFC3411]  Harrington, D., "SNMP", STD 62, RFC 3411.
   [RFC3412]  Case, J., "SNMP", STD 62, RFC 3412.
""".split("\n")
REFERENCES = RfcReferences(
    4000, LINES, {("STD", 13): ("RFC1034", "RFC1035"), ("BCP", 78): ("RFC3978", "RFC5378")}
)


def test_entries_are_resolved_by_their_tag_or_by_the_number_outside_the_title():
    assert REFERENCES.paper_ids == ("RFC2119", "RFC3411", "RFC3412")
    assert REFERENCES.tags["keywords"] == ("RFC2119",)
    assert REFERENCES.tags["ieee"] == ()


@pytest.mark.parametrize(
    ("text", "left", "cited"),
    [
        ("Use [RFC2119] now", "Use now", "2119"),
        ("Use [RFC 2119], [1] now", "Use now", "2119"),
        ("Use [KEYWORDS] and [IEEE] now", "Use now", "2119"),
        ("Use RFC 2616 [7] now", "Use now", "2616"),
        ("Use RFC2616, RFC-822 now", "Use now", "2616 822"),
        ("Use RFCs 2119 and 2234 now", "Use now", "2119 2234"),
        ("Use RFCs 4944 [RFC4944], 6282 [RFC6282] now", "Use now", "4944 6282"),
        ("Use RFCs 1155 (STD 16), 1212 (STD 16) now", "Use now", "1155 1212"),
        ("Use RFC 1034 and 5000 hosts", "Use and 5000 hosts", "1034"),
        ("Use RFC 3411 and 3412 now", "Use now", "3411 3412"),
        ("Use RFC1034/1035 now", "Use now", "1034 1035"),
        ("Use RFC 3411 through RFC 3413 now", "Use now", "3411 3412 3413"),
        ("Use 1905 [RFC1905] now", "Use now", "1905"),
        ("Use STD 13 now", "Use now", "1034 1035"),
        ("Use BCP 78 now", "Use now", "3978"),  # 5378 joined it later
        ("Use STD 62 now", "Use now", "3411 3412"),
        ("Use STD 99 now", "Use now", ""),
        ("Use BCP 14, RFC 2119 [RFC2119] now", "Use now", "2119"),
        ("Use FYI 17 now", "Use now", ""),
        ("Use (see [RFC3411], Section 3) now", "Use now", "3411"),
        ("Use [RFC3411, Section 3.2] now", "Use now", "3411"),
        ("Use [RFC-1700 et seq.] now", "Use now", "1700"),
        ("Use [Protocol, Section 5.2] now", "Use now", ""),
        ("Use [99] now", "Use now", ""),
        ("Use draft-ietf-foo-bar-03 now", "Use now", ""),
        ("Use the Internet-Draft draft-ietf-foo now", "Use now", ""),
        ("Use RFC2119bis now", "Use now", "2119"),
        ("Use http://www.rfc-editor.org/rfc/rfc2119.txt now", "Use now", "2119"),
        ("An [APPLICATION 6] of octet DST[15], [i] and [a-z]", None, ""),
        ("An Internet-Draft or an RFC, as IEEE STD 802 says", None, ""),
    ],
)
def test_every_way_to_name_an_rfc_is_cut_and_resolved(text, left, cited):
    sentence = mark(text, REFERENCES)
    assert cut_markers(text, sentence.markers) == (text if left is None else left)
    ids = dict.fromkeys(i for marker in sentence.markers for i in marker.cited_ids)
    assert list(ids) == [f"RFC{number}" for number in cited.split()]


def test_titles_and_headings_lose_their_rfc_names_too():
    assert without_mentions("Changes since RFC 2254", REFERENCES) == "Changes since"
