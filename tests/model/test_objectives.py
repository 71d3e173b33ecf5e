import math

import pytest
import torch

from mpbert.model.objectives import (
    OBJECTIVES,
    contrastive_logits,
    euclidean_distance,
    masked_sentence_loss,
    multi_positive_contrastive,
)

B, P, K, D = 5, 3, 4, 6


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    s, t = torch.randn(B, D, generator=generator), torch.randn(B, D, generator=generator)
    c, n = torch.randn(B, P, D, generator=generator), torch.randn(B, K, D, generator=generator)
    is_positive = torch.tensor([[1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1]]).bool()
    return s, t, c, is_positive, n


def dist(a, b):
    return math.sqrt(sum((float(x) - float(y)) ** 2 for x, y in zip(a, b, strict=True)))


def triplet_by_loop(s, t, c, n):
    return sum(max(dist(s, t) - dist(s, nj) + 1, 0) for nj in n) / len(n)  # Eq. 3


def multi_positive_by_loop(pairs):
    """Loss whose positives c_i are compared as pairs (anchor, near) of s, t and c_i."""

    def loss(s, t, c, n):
        total = 1.0
        for nj in n:
            total += math.exp(dist(s, t) - dist(s, nj))
            for anchor, near in (pair for ci in c for pair in pairs(s, t, ci)):
                total += math.exp(dist(anchor, near) - dist(anchor, nj))
        return math.log(total)

    return loss


BY_LOOP = {
    "triplet": triplet_by_loop,
    "mpt-src": multi_positive_by_loop(lambda s, t, c: [(s, c)]),  # Eq. 5
    # Eq. 4, the first exponential summed over j alone
    "mpt-tgt": multi_positive_by_loop(lambda s, t, c: [(c, t)]),
    "mpt-src-tgt": multi_positive_by_loop(lambda s, t, c: [(s, c), (t, c)]),  # Eq. 6
}


@pytest.mark.parametrize("name", sorted(OBJECTIVES))
def test_objective_equals_the_double_loop_of_its_equation(name, batch):
    s, t, c, is_positive, n = batch
    expected = [BY_LOOP[name](s[b], t[b], c[b][is_positive[b]], n[b]) for b in range(B)]
    assert OBJECTIVES[name](*batch).tolist() == pytest.approx(expected, abs=1e-5)


def pencil(num_positives):
    """All distances are 0: s, t, every c and every n are one point."""
    zeros = torch.zeros(1, 2)
    c, n = torch.zeros(1, max(num_positives, 1), 2), torch.zeros(1, 4, 2)
    return zeros, zeros, c, torch.full((1, max(num_positives, 1)), num_positives > 0), n


@pytest.mark.parametrize(
    ("name", "terms"), [("mpt-src", 1 + 4 + 8), ("mpt-tgt", 1 + 4 + 8), ("mpt-src-tgt", 1 + 4 + 16)]
)
def test_at_one_point_the_loss_is_the_log_of_the_number_of_terms(name, terms):
    assert OBJECTIVES[name](*pencil(2)).item() == pytest.approx(math.log(terms))
    assert OBJECTIVES[name](*pencil(0)).item() == pytest.approx(math.log(1 + 4))  # N-tuplet loss


def test_triplet_by_pencil_is_margin_plus_gap_and_zero_beyond():
    s, t = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]])  # distance 5
    n = torch.tensor([[[0.0, 2.0], [0.0, 100.0]]])  # distances 2 and 100
    loss = OBJECTIVES["triplet"](s, t, torch.zeros(1, 0, 2), torch.zeros(1, 0).bool(), n)
    assert loss.item() == pytest.approx((5 - 2 + 1 + 0) / 2)


@pytest.mark.parametrize("name", sorted(OBJECTIVES))
def test_loss_falls_as_the_target_comes_closer_and_negatives_go_away(name):
    s = torch.zeros(1, 2)
    far, near = torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0, 0.0]])
    c, n = torch.zeros(1, 0, 2), torch.tensor([[[0.0, 2.0]]])
    mask = torch.zeros(1, 0).bool()
    loss = OBJECTIVES[name]
    assert loss(s, near, c, mask, n) < loss(s, far, c, mask, n)
    assert loss(s, far, c, mask, 1.2 * n) < loss(s, far, c, mask, n)


@pytest.mark.parametrize("name", ["mpt-src", "mpt-tgt", "mpt-src-tgt"])
def test_loss_falls_as_a_positive_comes_closer(name):
    s, t, n = torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[[0.0, 3.0]]])
    mask = torch.ones(1, 1).bool()
    far, near = torch.tensor([[[2.0, 0.0]]]), torch.tensor([[[1.0, 0.0]]])
    assert OBJECTIVES[name](s, t, near, mask, n) < OBJECTIVES[name](s, t, far, mask, n)


@pytest.mark.parametrize("name", sorted(OBJECTIVES))
def test_filler_has_no_influence_and_gradients_are_finite_at_one_point(name, batch):
    s, t, c, is_positive, n = batch
    other = torch.where(is_positive[:, :, None], c, torch.full_like(c, 7.0))
    assert torch.equal(
        OBJECTIVES[name](s, t, c, is_positive, n), OBJECTIVES[name](s, t, other, is_positive, n)
    )
    points = [x.requires_grad_() for x in (torch.zeros(1, 2), torch.zeros(1, 2))]
    filler = points[1][:, None]
    loss = OBJECTIVES[name](*points, filler, torch.zeros(1, 1).bool(), torch.zeros(1, 4, 2))
    loss.sum().backward()
    assert all(point.grad.isfinite().all() for point in points)


def test_losses_of_huge_distances_are_finite():
    s, t = torch.zeros(1, 2), torch.full((1, 2), 1e4)
    c, mask = torch.zeros(1, 0, 2), torch.zeros(1, 0).bool()
    assert all(f(s, t, c, mask, torch.zeros(1, 4, 2)).isfinite() for f in OBJECTIVES.values())


def test_euclidean_distance_by_pencil():
    assert euclidean_distance(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0])).item() == 5.0


def test_masked_sentence_loss_is_a_sum_and_even_logits_cost_log_v():
    logits, targets = torch.zeros(3, 8), torch.tensor([0, 5, 7])
    for smoothing in (0.0, 0.1):
        loss = masked_sentence_loss(logits, targets, smoothing)
        assert loss.item() == pytest.approx(3 * math.log(8))


def test_masked_sentence_loss_with_smoothing_equals_its_definition():
    logits = torch.randn(4, 6, generator=torch.Generator().manual_seed(2))
    targets = torch.tensor([0, 3, 3, 5])
    logp = logits.log_softmax(dim=1)
    expected = -0.9 * logp[torch.arange(4), targets].sum() - 0.1 * logp.mean(dim=1).sum()
    assert torch.allclose(masked_sentence_loss(logits, targets, 0.1), expected)


def test_the_contrastive_loss_of_two_manuscripts_by_pencil():
    logits = torch.tensor([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.5, 2.0]])
    is_positive = torch.tensor([[1, 1, 0, 0], [0, 0, 1, 0]]).bool()
    is_known = torch.tensor([[1, 1, 1, 0], [0, 1, 1, 0]]).bool()  # also cited, also the manuscript
    first = [math.log(1 + math.exp(4 - 1)), math.log(1 + math.exp(4 - 2))]
    second = math.log(1 + math.exp(0 - 0.5) + math.exp(2 - 0.5))
    found = multi_positive_contrastive(logits, is_positive, is_known)
    assert found.tolist() == pytest.approx([sum(first) / 2, second])


def test_a_context_that_cites_all_papers_of_its_batch_has_no_loss_and_a_finite_gradient():
    logits = torch.zeros(1, 2, requires_grad=True)
    every = torch.ones(1, 2, dtype=torch.bool)
    loss = multi_positive_contrastive(logits, every, every).sum()
    loss.backward()
    assert loss.item() == 0
    assert torch.isfinite(logits.grad).all()


def test_contrastive_logits_are_cosines_less_part_of_the_log_of_citations():
    s, papers = torch.tensor([[3.0, 0.0]]), torch.tensor([[2.0, 0.0], [1.0, 1.0]])
    found = contrastive_logits(s, papers, torch.tensor([0.0, 2.0]), 0.1, 0.5)
    assert found.tolist()[0] == pytest.approx([10.0, 10 / math.sqrt(2) - 1])
