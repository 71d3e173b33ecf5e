import itertools

import numpy as np
import pytest
import torch

from mpbert.foundation.ragged import offsets_of
from mpbert.model.packing import Rows, inverse, pack, pack_masked


@pytest.fixture
def ragged():
    """3 papers of 3, 1 and 2 sentences; every token has a number of its own."""
    lengths, per_paper = np.array([4, 2, 3, 2, 5, 1]), np.array([3, 1, 2])
    return np.arange(lengths.sum()) + 100, lengths, per_paper


def unpack(packed):
    """Papers as lists of lists of tokens in the caller's order, from the packed layout alone."""
    starts = packed.sentences.offsets.tolist()
    sentences = [packed.tokens[a:b].tolist() for a, b in itertools.pairwise(starts)]
    by_document = [sentences[place] for place in packed.sentence_order.tolist()]
    ends = packed.papers.offsets.tolist()
    papers = [by_document[a:b] for a, b in itertools.pairwise(ends)]
    return [papers[place] for place in packed.paper_order.tolist()]


def test_unpacked_papers_are_the_papers(ragged):
    tokens, lengths, _per_paper = ragged
    sentences = [part.tolist() for part in np.split(tokens, offsets_of(lengths)[1:-1])]
    expected = [sentences[0:3], sentences[3:4], sentences[4:6]]
    assert unpack(pack(*ragged)) == expected


def test_rows_ascend_by_length_and_every_place_counts_from_0(ragged):
    packed = pack(*ragged)
    assert packed.sentences.groups == [(1, 1), (2, 2), (1, 3), (1, 4), (1, 5)]
    assert packed.papers.groups == [(1, 1), (1, 2), (1, 3)]
    assert packed.papers.place.tolist() == [0, 0, 1, 0, 1, 2]
    assert packed.sentences.max_length == 5


def test_views_of_a_group_are_its_rows_without_a_copy():
    rows = Rows.of(np.array([1, 2, 2, 3]))
    x = torch.arange(8.0)[:, None]
    views = rows.views(x)
    assert [tuple(view.shape) for view in views] == [(1, 1, 1), (2, 2, 1), (1, 3, 1)]
    assert views[1].flatten().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert views[1].data_ptr() == x[1:].data_ptr()


@pytest.mark.parametrize("most", [1, 6, 7, 1000])
def test_parts_hold_all_rows_in_order_within_their_budget(most):
    lengths = np.array([1, 1, 2, 3, 3, 5])
    rows = Rows.of(lengths)
    parts = rows.parts(most)
    found = [np.diff(part.offsets.numpy()) for _, part in parts]
    assert np.array_equal(np.concatenate(found), lengths)
    assert np.array_equal(np.concatenate([np.arange(15)[where] for where, _ in parts]), range(15))
    assert all(part.sum() <= most or len(part) == 1 for part in found)
    assert len(parts) == {1: 6, 6: 3, 7: 3, 1000: 1}[most]


def test_masked_sentences_shift_by_one_and_point_at_their_document_row(ragged):
    tokens, lengths, per_paper = ragged
    end, masked = 1, np.array([0, 3, 5])  # lengths 4, 2, 1
    packed = pack_masked(tokens, lengths, per_paper, masked, end)
    assert packed.targets.tolist() == [end, 109, end, 100, 101, 102, end]
    assert packed.inputs.tolist() == [end, end, 109, end, 100, 101, 102]
    # papers ascend by sentences: paper 1 (sentence 3), paper 2 (4, 5), paper 0 (0, 1, 2)
    assert packed.document_rows.tolist() == [2, 0, 3]
    assert tokens.tolist() == list(range(100, 117))  # a known trap: the corpus is not changed


def test_moving_to_a_device_keeps_all_fields(ragged):
    packed = pack(*ragged)
    moved = packed.to(torch.device("cpu"))
    assert unpack(moved) == unpack(packed)
    assert moved.sentences.groups == packed.sentences.groups


def test_inverse_undoes_a_permutation():
    order = np.array([2, 0, 3, 1])
    assert inverse(order)[order].tolist() == [0, 1, 2, 3]
