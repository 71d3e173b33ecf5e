import numpy as np
import pytest

from mpbert.methods.citations_by_year import CitationsByYear


@pytest.mark.parametrize("num_citations", [0, 1, 500])
def test_citations_up_to_a_year_are_those_of_a_slow_count(num_citations):
    rng = np.random.default_rng(num_citations)
    cited = rng.integers(0, 20, num_citations).astype(np.int32)
    citing_years = rng.integers(1995, 2010, num_citations).astype(np.int32)
    papers, years = rng.integers(0, 20, 400), rng.integers(1990, 2015, 400)
    found = CitationsByYear(cited, citing_years).until(papers, years)
    expected = [
        ((cited == paper) & (citing_years <= year)).sum()
        for paper, year in zip(papers, years, strict=True)
    ]
    assert found.tolist() == expected
