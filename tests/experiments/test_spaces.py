"""The rows of this repository: what tuning may try of each."""

import dataclasses
from pathlib import Path

import pytest

from mpbert.evaluation.tuned import Budget, TunedRow
from mpbert.experiments.experiment import Experiment
from mpbert.experiments.layout import Layout
from mpbert.experiments.row_files import read_rows
from mpbert.experiments.trials import Tuning, plan_trials
from mpbert.experiments.tuning import Tuned
from mpbert.methods.lexical.method import LEXICAL

ROOT = Path(__file__).parents[2]
ROWS = read_rows(ROOT / "eval" / "rows")
BUDGET = Budget(0.25, "MAP@10", "valid", {}, {})
# rows that run here, without a GPU or a download, and have no space
NO_SPACE = {
    "chance": "random vectors have nothing to choose",
    "fusion": "learns its weights from the queries that would measure it",
    "fusion_priors": "as fusion",
    "fusion_reranked": "as fusion",
    "fusion_dual_lcr": "as fusion",
    "fusion_token_bag": "as fusion",
    "fusion_hierarchical": "as fusion",
    "fusion_finetuned": "as fusion",
    "fusion_bags": "as fusion",
    "fusion_minilm": "as fusion",
    "lambdamart_hierarchical": "as fusion; the number of its trees is cross-validated",
    "lambdamart_contexts": "as lambdamart_hierarchical",
    "lambdamart_finetuned": "as lambdamart_hierarchical",
    "lambdamart_late_interaction": "as lambdamart_hierarchical; its inputs have spaces",
    "lambdamart_metadata": "as lambdamart_hierarchical",
    "global_lambdamart": "as lambdamart_hierarchical",
    "index_token_bag": "asks an index of token_bag_matches, which is tuned, and learns as fusion",
    "index_hierarchical": "as index_token_bag, of hierarchical_minilm",
    "index_finetuned": "as index_token_bag, of hierarchical_minilm_apart",
    "global_index_token_bag": "as index_token_bag",
    "global_fusion_learnt": "as fusion",
    "global_fusion_cross_encoder": "as fusion",
    "fusion_reciprocal": "weighs all inputs alike, with the constant of its paper",
    "global_fusion_reciprocal": "as fusion_reciprocal",
    "global_nnselect": "ranks with the vectors of nnselect, which is tuned",
    "global_sbert": "ranks with the vectors of sbert, which is tuned",
    "global_sbert_minilm": "ranks with the vectors of sbert_minilm, which is tuned",
    "global_sbert_minilm_random": "as global_sbert_minilm, of sbert_minilm_random",
    "global_sbert_minilm_citing": "as global_sbert_minilm, of sbert_minilm_citing",
    "sbert_minilm_farthest": "a setting that the paper compares; sbert_minilm is tuned",
    "sbert_minilm_random": "as sbert_minilm_farthest",
    "sbert_minilm_nearest": "as sbert_minilm_farthest",
    "sbert_minilm_triplet": "as sbert_minilm_farthest",
    "sbert_minilm_citing": "as sbert_minilm_triplet, with citing sentences",
    "minilm": "as its makers say; minilm_citing is tuned",
    "minilm_cls": "as minilm, by another state",
    "minilm_citation": "as minilm, by another encoder",
    "mpnet": "as minilm",
    "global_minilm": "ranks with the vectors of minilm",
    "global_minilm_citing": "as global_minilm, of minilm_citing",
    "global_minilm_finetuned_citing": "as global_minilm, of minilm_finetuned_citing",
    "global_minilm_head": "as global_minilm, of minilm_head",
    "global_minilm_finetuned_head": "as global_minilm, of minilm_finetuned_head",
    "global_minilm_finetuned_all_head": "as global_minilm, of minilm_finetuned_all_head",
    "global_sbert_minilm_head": "as global_sbert_minilm, of sbert_minilm_head",
    "global_hatten_maps": "ranks with the vectors of hatten_maps, which is tuned",
    "global_hatten_longer": "as global_hatten, of hatten_longer",
    "global_hatten": "ranks with the vectors of hatten, which is tuned",
    "global_mpnet_finetuned_head": "as global_minilm, of mpnet_finetuned_head",
    "fusion_cross_encoder_minilm": "its list learns on validation; over BM25 it is tuned",
    "global_lambdamart_reranked": "as fusion_cross_encoder_minilm, of the global row of navigation",
    "lambdamart_token_bag": "learns on validation",
    "lambdamart_cross_encoder": "learns on validation",
    "fusion_cross_encoder_learnt": "learns on validation",
}


def test_every_row_that_runs_here_has_a_space_or_a_reason():
    without = {row.name for row in ROWS if not (row.space or row.gpu or row.optional)}
    assert without == set(NO_SPACE)


def test_rows_of_a_paper_as_it_is_are_not_tuned():
    assert not [row.name for row in ROWS if row.name.endswith("_paper") and row.space]


@pytest.mark.parametrize("corpus", ["rfc", "acl"])
def test_methods_take_every_point_of_every_space(corpus):
    experiment = Experiment.of(ROWS, Path(corpus), Layout(Path("out")), Tuned(), ROOT)
    tuning = Tuning(experiment, BUDGET, {}, Path())
    for row in experiment.rows.values():
        if row.space:
            assert len(row.space) <= 6, row.name
            assert all(2 <= len(values) <= 4 for values in row.space.values()), row.name
            points = len(plan_trials(tuning, row))
            assert points > 2, row.name


def test_lexical_rows_may_read_what_the_model_reads():
    rows = [row for row in ROWS if row.method in LEXICAL.names() and row.task == "local"]
    for row in rows:
        if not row.gpu:
            assert "context+abstract" in row.space["query"], row.name
            assert 10 in row.space["citing_weight"], row.name


def test_no_vector_of_the_token_bag_grows_beyond_its_own():
    [row] = [row for row in ROWS if row.name == "token_bag"]
    assert max(row.space["dim"]) == 512
    assert set(row.developed) == {"rfc", "acl"}


def test_settings_of_a_configuration_are_not_tried_again():
    experiment = Experiment.of(ROWS, Path("acl"), Layout(Path("out")), Tuned(), ROOT)
    plan = plan_trials(Tuning(experiment, BUDGET, {}, Path()), experiment.rows["token_bag"])
    own = {"lr": 0.003, "max_epoch": 2, "temperature": 0.05, "dim": 512, "dropout": 0.2}
    assert plan[0] == {}
    assert {**own, "count_correction": 0.5} not in plan
    assert {**own, "count_correction": 0} in plan


def test_a_row_that_was_developed_on_a_corpus_starts_from_its_own_settings_there():
    start = Tuned(BUDGET, {"token_bag": TunedRow({"lr": 0.0015}, 0.5, 0.4, 2, 9, 0.1)})
    experiment = Experiment.of(ROWS, Path("rfc"), Layout(Path("out")), Tuned(), ROOT)
    row = experiment.rows["token_bag"]
    assert plan_trials(Tuning(experiment, BUDGET, {}, Path(), start), row)[0] == {}
    elsewhere = dataclasses.replace(row, developed={"acl": 3.2})
    assert plan_trials(Tuning(experiment, BUDGET, {}, Path(), start), elsewhere)[0] == {
        "lr": 0.0015
    }
