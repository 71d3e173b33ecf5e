import numpy as np

from mpbert.corpus.raw.identifiers import normal_title
from mpbert.foundation.id_rows import IdRows
from mpbert.recommending import likely_texts
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.likely_texts import may_be

TITLES = ["Routing of mail, by names", "Müller on the names of mail", "A <i>third</i> way of mail"]
OTHERS = ["Routing of mail by name", "", "Names route mail no more", "routing OF mail-by names!"]


def test_a_text_of_the_same_letters_may_be_another(monkeypatch):
    wanted = {normal_title(title) for title in (*TITLES, "Muller on the names of mail")}
    for size in (1, 1 << 22):
        monkeypatch.setattr(likely_texts, "_BYTES", size)
        texts = [*TITLES, *OTHERS, "Muller on the names of mail"]
        found = may_be(TextColumn.of(texts), wanted)
        assert found.tolist() == [True, True, True, False, False, False, True, True]


def test_rows_are_found_by_ids_also_where_hashes_collide(monkeypatch):
    ids = TextColumn.of(["b", "a/1", "c", "é"])
    expected = {"é": 3, "b": 0}
    assert IdRows(ids).find(["é", "none", "b", "b"]) == expected
    monkeypatch.setattr("mpbert.foundation.id_rows.hash", len, raising=False)
    rows = IdRows(ids)
    assert np.unique(rows._hashes).tolist() == [1, 3]
    assert rows.find(["é", "none", "b", "d"]) == expected
