import numpy as np
import pytest
import torch
from scipy import sparse

from mpbert.methods.checkpoint import Checkpoint
from mpbert.methods.citeomatic.field_bags import take_bags
from mpbert.methods.citeomatic.graded_triplets import citation_boost, graded_triplet_loss
from mpbert.methods.citeomatic.triplets import CITED_BY_CITED, NEIGHBOUR, RANDOM
from mpbert.methods.citeomatic.word_bags import FieldEmbedder, MagnitudeDirection, two_adams
from mpbert.methods.torch_training import TorchLearner


def embedder_of(directions, magnitudes, num_fields):
    words = MagnitudeDirection(np.array(magnitudes), len(directions[0]), torch.Generator())
    words.directions.data = torch.tensor(directions)
    return FieldEmbedder(words, num_fields)


def field(*rows):
    return sparse.csr_array(np.array(rows, dtype=np.float32))


def test_equation_1_and_the_weighted_fields_by_pencil():
    # words (3, 4) and (0, 2) have the directions (.6, .8) and (0, 1)
    embedder = embedder_of([[3.0, 4.0], [0.0, 2.0]], [2.0, 0.5], 2)
    embedder.scalars.data = torch.tensor([3.0, 1.0])
    fields = [field([1, 2], [0, 0]), field([0, 1], [0, 3])]
    sums = embedder.words(take_bags(fields, np.array([0, 1])))
    # title 1·2·(.6, .8) + 2·.5·(0, 1) = (1.2, 2.6); abstracts .5·(0, 1) and 3·.5·(0, 1)
    assert torch.allclose(sums, torch.tensor([[1.2, 2.6], [0, 0], [0, 0.5], [0, 1.5]]))
    title = np.array([1.2, 2.6]) / np.hypot(1.2, 2.6)
    expected = 3 * title + np.array([0, 1])
    found = embedder(take_bags(fields, np.array([0, 1]))).detach().numpy()
    assert np.allclose(found[0], expected / np.linalg.norm(expected))
    assert np.allclose(found[1], [0, 1])


def test_a_text_without_words_is_zero_and_has_a_finite_gradient():
    embedder = embedder_of([[3.0, 4.0], [0.0, 2.0]], [2.0, 0.5], 1)
    vectors = embedder(take_bags([field([0, 0], [1, 0])], np.array([0, 1])))
    assert not vectors[0].any()
    vectors.sum().backward()
    assert torch.isfinite(embedder.scalars.grad).all()
    assert torch.isfinite(embedder.words.directions.grad.to_dense()).all()


def loss_of(boost, kinds=(RANDOM, NEIGHBOUR, CITED_BY_CITED), positives=300.0, negatives=0.0):
    size = len(kinds)
    return graded_triplet_loss(
        torch.full((size,), 0.5), torch.full((size,), 0.4), torch.tensor(kinds),
        torch.full((size,), positives), torch.full((size,), negatives), 1.5, boost,
    )  # fmt: skip


def test_margins_and_boosts_by_pencil():
    # γ = 1.5, s- - s+ = -.1; B(300) = σ(3)/50 = .0190515, B(0) = .01
    assert float(citation_boost(torch.tensor(300.0))) == pytest.approx(0.9525741 / 50)
    assert torch.allclose(loss_of("none"), torch.tensor([0.35, 0.20, 0.05]))
    assert torch.allclose(loss_of("paper"), torch.tensor([0.35, 0.20, 0.05]) - 0.0090515)
    assert torch.allclose(loss_of("code"), torch.tensor([0.35, 0.20, 0.05]) + 0.0090515)


def test_the_loss_falls_as_the_cited_paper_comes_closer_and_is_0_beyond_the_margin():
    kinds = torch.tensor([RANDOM] * 3)
    none = torch.zeros(3)
    found = graded_triplet_loss(torch.tensor([0.2, 0.4, 0.9]), none, kinds, none, none, 1.0, "none")
    assert torch.allclose(found, torch.tensor([0.1, 0.0, 0.0]))


def test_a_checkpoint_holds_weights_and_moments_of_its_own_training_alone(tmp_path):
    class Learner(TorchLearner):
        def step(self, number):
            raise AssertionError("nothing is trained here")

        def updates(self, times):
            for _ in range(times):
                self.update(self.module(take_bags([field([1, 1])], np.array([0])))[0, 0])

    def made():
        embedder = embedder_of([[3.0, 4.0], [0.0, 2.0]], [2.0, 0.5], 1)
        return Learner(embedder, two_adams(embedder, 0.1))

    whole, part, again = made(), made(), made()
    whole.updates(5)
    part.updates(3)
    Checkpoint(tmp_path, "training", "this").save(part.state())
    assert Checkpoint(tmp_path, "training", "other").load() is None
    again.restore(Checkpoint(tmp_path, "training", "this").load())
    again.updates(2)
    for name, parameter in whole.module.named_parameters():
        assert torch.equal(parameter, again.module.get_parameter(name)), name
    (tmp_path / "training.safetensors").write_bytes(b"broken")
    assert Checkpoint(tmp_path, "training", "this").load() is None
