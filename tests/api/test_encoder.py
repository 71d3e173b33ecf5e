import numpy as np
import pytest

from mpbert import Corpus, Encoder
from mpbert.foundation.errors import ConfigError, EncoderError, ManuscriptError, OutputError
from mpbert.recommending.manuscripts.sentences import manuscript_at
from mpbert.recommending.recommender import Recommender

TEXT = "Mail is relayed by hosts [3]. Names are resolved by servers. It is slow."


@pytest.fixture(scope="module")
def encoder(micro_encoder):
    return Encoder(micro_encoder)


def test_a_manuscript_gets_the_vector_that_the_index_asks_with(encoder, rfc_index):
    reader = Recommender(rfc_index)._encoder
    place = TEXT.index(" by servers")
    manuscript = manuscript_at(TEXT, place, "On mail", "We send mail.")
    expected = reader.embed_manuscript(manuscript.sentences, int(manuscript.places[0]))
    found = encoder.embed_manuscript(TEXT, place, "On mail", "We send mail.")
    assert found.dtype == np.float32 and np.array_equal(found, expected)


def test_vectors_are_whole_with_levels_beside_the_bag_too(matching):
    encoder, recommender = Encoder(matching.encoder), Recommender(matching.index)
    assert encoder.dim == recommender.vectors.shape[1]
    sentences = ["Mail is relayed by hosts.", "Names are resolved by servers."]
    expected = recommender._encoder.embed_manuscript(sentences, 1)
    assert np.array_equal(encoder.embed_manuscript(sentences), expected)


def test_sentences_are_the_text_cut_and_without_markers(encoder):
    sentences = ["Mail is relayed by hosts.", "Names are resolved by servers.", "It is slow."]
    by_text = encoder.embed_manuscript(TEXT, TEXT.index(" by servers"))
    assert np.array_equal(by_text, encoder.embed_manuscript(sentences, 1))
    last = encoder.embed_manuscript(TEXT)
    assert np.array_equal(last, encoder.embed_manuscript(sentences))


def test_papers_in_all_forms_get_the_same_vectors(encoder):
    title, abstract = "Mail routing", "Hosts relay mail [1]. Names are resolved."
    record = {"paper_id": "x", "title": title, "abstract": abstract, "body": "It is slow."}
    (first,) = encoder.embed_papers([record])
    (again, other) = encoder.embed_papers([record, {**record, "body": "It is fast and new."}])
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert np.linalg.norm(first) == pytest.approx(1)
    texts = encoder.embed_papers([abstract, {"abstract": abstract}])
    assert np.array_equal(texts[0], texts[1])


def test_a_table_of_papers_is_read_by_its_columns(encoder, rfc_corpus):
    corpus = Corpus(rfc_corpus)
    table = corpus.papers.head(2)
    records = [{"paper_id": name, **table.loc[name].to_dict()} for name in table.index]
    assert np.array_equal(encoder.embed_papers(table), encoder.embed_papers(records))
    whole = encoder.embed_papers([corpus.paper(name) for name in table.index])
    assert whole.shape == (2, encoder.dim) and not np.array_equal(
        whole, encoder.embed_papers(table)
    )


def test_no_papers_give_no_rows(encoder):
    assert encoder.embed_papers([]).shape == (0, encoder.dim)


def test_fewer_dimensions_are_the_first_ones(micro_encoder, encoder):
    short = Encoder(micro_encoder, dim=4).embed_manuscript(TEXT)
    whole = encoder.embed_manuscript(TEXT)[:4]
    assert short == pytest.approx(whole / np.linalg.norm(whole), abs=1e-6)


def test_a_copy_is_the_same_encoder(encoder, tmp_path):
    encoder.save(tmp_path / "copy")
    copy = Encoder(tmp_path / "copy")
    assert copy.config == encoder.config and copy.config["kind"] == "two-tower"
    assert np.array_equal(copy.embed_manuscript(TEXT), encoder.embed_manuscript(TEXT))
    with pytest.raises(OutputError, match="expected a new directory, choose another"):
        encoder.save(tmp_path / "copy")


def test_what_is_wrong_is_refused(encoder, micro_encoder, tmp_path):
    with pytest.raises(EncoderError, match=r"config\.json: not readable as an encoder"):
        Encoder(tmp_path)
    with pytest.raises(ConfigError, match="readings 0, dim 16; expected 1 or more"):
        Encoder(micro_encoder, readings=0)
    with pytest.raises(ConfigError, match="at most 16 dimensions"):
        Encoder(micro_encoder, dim=17)
    with pytest.raises(ManuscriptError, match="place 99: outside of the text"):
        encoder.embed_manuscript(TEXT, 99)
    with pytest.raises(ManuscriptError, match="place 2: no such sentence"):
        encoder.embed_manuscript(["One.", "Two."], 2)
    with pytest.raises(ManuscriptError, match="place -1: no such sentence"):
        encoder.embed_manuscript([])
    with pytest.raises(ManuscriptError, match="title or abstract beside a list of sentences"):
        encoder.embed_manuscript(["One."], title="On one")
    with pytest.raises(ManuscriptError, match="paper 1 holds no word"):
        encoder.embed_papers(["One paper.", {"titel": "Two"}])
    with pytest.raises(ManuscriptError, match="paper 1 is a int; expected a mapping, a text"):
        encoder.embed_papers(["One paper.", 3])
    with pytest.raises(TypeError, match="papers is one str; expected a list of papers"):
        encoder.embed_papers("One paper.")
