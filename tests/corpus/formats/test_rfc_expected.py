import json
from pathlib import Path

import pytest

from mpbert.commands import build_corpus
from mpbert.foundation.manifest import read_manifest

RECIPE = Path(__file__).parents[3] / "datasets" / "rfc"


@pytest.mark.slow
def test_the_bundled_sample_has_exactly_the_expected_counts(tmp_path):
    output = tmp_path / "rfc"
    build_corpus.run(build_corpus.Config(RECIPE / "rfc-593.tar.xz", output, reader="rfc"))
    expected = json.loads((RECIPE / "expected.json").read_text(encoding="utf-8"))
    assert read_manifest(output)["counts"] == expected
