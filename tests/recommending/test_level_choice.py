"""An index keeps the levels of an encoder only where validation confirms them."""

import numpy as np
import pytest

from mpbert.commands import build_index
from mpbert.model.description import read_description
from mpbert.recommending.directory import ENCODER, read_index
from mpbert.recommending.examples import Examples
from mpbert.recommending.level_choice import levels_help
from mpbert.recommending.recommender import Recommender
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore
from tests.recommending.texts import TEXT

PAPERS = 40  # with a question each


def examples(share):
    """Of each question 20 candidates; a share of the questions has its cited paper first."""
    made, rng = Examples(), np.random.default_rng(1)
    for number in range(PAPERS):
        values = rng.permutation(20).astype(float)
        gold = np.zeros(20)
        gold[np.argsort(-values)[0 if number < share * PAPERS else 5]] = 1
        made.rows.append(np.arange(20))
        made.features.append({"cosine": values})
        made.gold.append(gold)
        made.asked.append([])
    return made


class Queries:
    citing_rows = np.arange(PAPERS)

    def __len__(self):
        return PAPERS

    def cited(self, number):
        return np.array([number])


@pytest.mark.parametrize(
    ("with_levels", "helps"), [(1.0, True), (0.55, False), (0.5, False), (0.1, False)]
)
def test_levels_stay_where_the_gain_exceeds_three_standard_errors(with_levels, helps):
    found, said = levels_help(Queries(), examples(with_levels), examples(0.5))
    assert found is helps
    assert said.startswith("no levels: the gain may be chance, ") is not helps
    # first: 1; sixth: 1/6
    after, before = (100 * (share + (1 - share) / 6) for share in (with_levels, 0.5))
    assert f"MAP@10 of held-out queries {after:.2f} with the encoder's levels, {before:.2f}" in said


def test_an_index_whose_levels_learnt_nothing_is_that_of_the_bag(
    matching, rfc_corpus, tmp_path, capsys
):
    sizes = read_description(matching.encoder).model
    out = tmp_path / "index"
    build_index.run(build_index.Config(rfc_corpus, matching.encoder, matching.vectors, out))
    printed = capsys.readouterr().out
    if not sizes.upper.pretrained_dim:
        assert "the encoder's levels" not in printed
        return
    assert "no levels: the gain may be chance" in printed
    assert read_description(out / ENCODER).is_bag
    vectors = VectorStore.load(matching.vectors, "papers").vectors[:, : sizes.dim]
    np.testing.assert_allclose(read_index(out).tables.vectors, normalized(vectors), atol=1e-6)
    whole = Recommender(matching.index)._encoder.embed_manuscript([TEXT], 0)[: sizes.dim]
    bag = Recommender(out)._encoder.embed_manuscript([TEXT], 0)
    np.testing.assert_allclose(bag, whole / np.linalg.norm(whole), atol=1e-5)
    assert Recommender(out).recommend(TEXT)
