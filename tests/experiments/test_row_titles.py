"""The titles of the rows of this repository tell what the rows are."""

from pathlib import Path

import pytest

from mpbert.experiments.experiment import Experiment
from mpbert.experiments.identity import learns_from
from mpbert.experiments.layout import Layout
from mpbert.experiments.row_files import read_rows
from mpbert.experiments.rows import MODEL, with_needs
from mpbert.experiments.tuning import Tuned
from mpbert.foundation.option_files import load_yaml

ROOT = Path(__file__).parents[2]
ROWS = read_rows(ROOT / "eval" / "rows")


def _with_needs(name):
    needed = with_needs(ROWS, {name})
    return [row for row in ROWS if row.name in needed]


def _is_hierarchical(row):
    """Whether a row of our model has transformers over the tokens and over the sentences."""
    file = ROOT / "finetune" / "configs" / f"{row.config}.yaml"
    model = load_yaml(file.read_text(encoding="utf-8"))["model"]
    model |= {key: row.settings[key] for key in model.keys() & row.settings.keys()}
    return bool((model["sentence_layers"] or row.sentences) and model["document_layers"])


@pytest.mark.parametrize("row", [row for row in ROWS if row.method == MODEL], ids=lambda r: r.name)
def test_a_row_called_by_the_name_of_the_paper_has_its_hierarchical_transformer(row):
    assert ("MP-BERT4CR" in row.title) == _is_hierarchical(row)
    assert ("Token bag (ours)" in row.title) != _is_hierarchical(row)


@pytest.mark.parametrize("corpus", ["acl", "rfc"])
def test_a_row_whose_weights_or_those_of_its_inputs_were_learnt_on_validation_says_so(corpus):
    experiment = Experiment.of(ROWS, Path(corpus), Layout(Path()), Tuned(), ROOT)
    says, learns = set(), set()
    for row in ROWS:
        settings = [experiment.variant(each.name) for each in _with_needs(row.name)]
        if any(learns_from(variant.row, variant.settings) == "valid" for variant in settings):
            learns.add(row.name)
        if "learnt on validation" in row.title:
            says.add(row.name)
    assert says == learns and len(says) >= 5


def test_a_row_that_ranks_by_a_model_of_random_start_says_so():
    fused = {row.name for row in ROWS if row.method == "fusion"}  # of which it is one input
    for row in ROWS:
        models = [str(each.settings.get("model", "")) for each in _with_needs(row.name)]
        is_random = any(model.startswith("random:") for model in models)
        assert row.name in fused or is_random == ("random start" in row.title), row.name
