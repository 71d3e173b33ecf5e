"""Weights of tokens that come in blocks are the bytes of the matrix that scipy joins of them."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from mpbert.vectors import matches
from mpbert.vectors.matches import MatchesWriter, load_matches, matches_file

VOCAB = 50


def block_of(rows: int, seed: int) -> sparse.csr_array:
    made = sparse.random_array((rows, VOCAB), density=0.2, rng=np.random.default_rng(seed))
    return sparse.csr_array(made, dtype=np.float32)


@pytest.mark.parametrize("sizes", [(), (1,), (7, 0, 30), (2,) * 9])
def test_blocks_are_the_bytes_of_the_whole(tmp_path, monkeypatch, sizes):
    monkeypatch.setattr(matches, "_BLOCK", 16)  # arrays are written in several pieces
    blocks = [block_of(rows, seed) for seed, rows in enumerate(sizes)]
    writer = MatchesWriter(VOCAB)
    for block in blocks:
        writer.add(block.indptr, block.indices, block.data)
    writer.save(tmp_path, "blocks")
    empty = sparse.csr_array((0, VOCAB), dtype=np.float32)
    whole = sparse.vstack([empty, *blocks], format="csr")
    sparse.save_npz(matches_file(tmp_path, "whole"), whole, compressed=False)
    found, expected = (matches_file(tmp_path, name).read_bytes() for name in ("blocks", "whole"))
    assert found == expected
    assert (load_matches(tmp_path, "blocks", sum(sizes)) != whole).nnz == 0


def test_memory_holds_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(matches, "_BLOCK", 10_000)
    block = block_of(2000, 1)
    tracemalloc.start()
    writer = MatchesWriter(VOCAB)
    for _ in range(100):
        writer.add(block.indptr, block.indices, block.data)
    writer.save(tmp_path, "papers")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    whole = matches_file(tmp_path, "papers").stat().st_size
    assert whole > 100 * block.nnz * 8 > 10 * peak  # mapped pages are no memory of ours
