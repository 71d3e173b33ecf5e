import dataclasses
import importlib.util
from pathlib import Path

import pytest

from mpbert.experiments.experiment import Experiment
from mpbert.experiments.identity import check_row, learns_from
from mpbert.experiments.layout import Layout
from mpbert.experiments.outputs import output_of
from mpbert.experiments.pretrained_texts import check_pretrained_on
from mpbert.experiments.row_files import parse_row
from mpbert.experiments.seeds import family_of, is_trained, takes_seeds
from mpbert.experiments.steps import steps_of
from mpbert.experiments.tuning import Tuned
from mpbert.foundation.errors import ConfigError

CORPUS = Path("data/rfc")
OURS = {"title": "Ours", "method": "mp_bert4cr", "config": "tiny", "settings": {"objective": "mpt"}}
READ = {"texts": "Wikipedia", "holds_test": {"rfc": "no"}}
LEVELS = {**OURS, "config": "levels", "pretrained": "documents"}
LEVELS |= {"sentences": "makers/MiniLM", "pretrained_on": READ}
WORDS = {"method": "bm25"}  # a row that ranks by words
LEARNT = {"method": "nnrank", "inputs": ["b"], "training": {"lexical": "bm25"}}


def _experiment(corpus=CORPUS, **contents):
    rows = [parse_row(name, {"title": name, **row}, name) for name, row in contents.items()]
    return Experiment.of(rows, corpus, Layout(Path("out")), Tuned(), Path("conf"))


def _words(experiment, name, seed=1, **options):
    steps = steps_of(experiment, experiment.variant(name, seed), **options)
    return [" ".join(step.words) for step in steps]


def test_an_embedder_is_fitted_and_ranks_by_its_vectors():
    experiment = _experiment(w={"method": "word2vec", "settings": {"dim": 3}, "similarity": "dot"})
    fit, rank = _words(experiment, "w")
    assert fit == "fit data/rfc out/vectors/rfc/w --method word2vec --settings dim=3"
    assert rank == "retrieve data/rfc out/trec/rfc/w --vectors out/vectors/rfc/w --similarity dot"
    fit, rank = _words(experiment, "w", splits=("valid",), place=Path("p"), sample=20)
    assert fit.startswith("fit data/rfc p/vectors ")
    assert rank.endswith(
        "retrieve data/rfc p/run --vectors p/vectors --similarity dot --sample 20 --splits valid"
    )


def test_a_lexical_method_has_one_step():
    row = {"method": "bm25", "settings": {"k1": 2}, "top": 9, "task": "global"}
    assert _words(_experiment(b=row), "b") == [
        "retrieve data/rfc out/trec/rfc/b --lexical bm25 --task global --top 9 --settings k1=2"
    ]


def test_only_another_pool_than_the_default_is_a_flag():
    rows = {
        "w": {"method": "word2vec"},
        "first": {"method": "bm25"},
        "x": {"method": "nnrank", "inputs": ["first"], "training": {"lexical": "bm25"}},
    }
    experiment = _experiment(**rows)
    for name in rows:
        assert not any("--pool" in words for words in _words(experiment, name))
        every = _words(dataclasses.replace(experiment, pool="all"), name)
        assert [words.split()[0] for words in every if "--pool all" in words] == ["retrieve"]


def test_a_reranker_learns_from_lists_of_words_or_of_the_vectors_of_an_earlier_row():
    first = {"method": "bm25"}
    for training, words in (
        ({"lexical": "bm25", "fields": "text", "top": 7}, "--lexical bm25 --top 7 --splits train"),
        ({"vectors": "first", "top": 7}, "--vectors out/vectors/rfc/first --top 7 --splits train"),
    ):
        row = {"method": "nnrank", "inputs": ["first"], "training": training}
        lists, rerank = _words(_experiment(first=first, x=row), "x")
        assert words in lists
        assert lists.split()[2] == rerank.split()[rerank.split().index("--training") + 1]
        assert ("fields=text" in lists) == ("fields" in training)
        assert "--runs out/trec/rfc/first --training" in rerank


def test_a_reranker_learns_from_lists_of_a_row_made_anew_without_each_part():
    rows = {
        "w": {"method": "word2vec", "settings": {"dim": 3}},
        "w_whole": {"method": "word2vec", "vectors": "w", "task": "global"},
        "b": {"method": "bm25", "task": "global"},
    }
    for name, task in (("w", "local"), ("w_whole", "global"), ("b", "global")):
        row = {"method": "nnrank", "inputs": [name], "task": task}
        rows["x"] = {**row, "training": {"row": name, "parts": 2, "top": 7}}
        words = _words(_experiment(**rows), "x", seed=2)
        seed = "" if name == "b" else "-seed-2"
        of_task = " --task global" if task == "global" else ""
        lists = f"out/trec/rfc/training-{task}-parts-2-row-{name}-top-7{seed}"
        expected = []
        for part in (1, 2):
            root = f"out/parts/{part}-of-2"
            expected.append(f"hold-out data/rfc {root}/corpus/rfc --part {part} --parts 2")
            vectors = f"{root}/vectors/rfc/w-seed-2"
            ranked = f"retrieve {root}/corpus/rfc {root}/trec/rfc/{name}{seed}-top-7"
            if name != "b":
                fit = f"fit {root}/corpus/rfc {vectors} --method word2vec --seed 2"
                expected.append(f"{fit} --settings dim=3")
            by = "--lexical bm25" if name == "b" else f"--vectors {vectors}"
            expected.append(f"{ranked} {by}{of_task} --top 7 --splits test --add-cited")
        runs = " ".join(f"out/parts/{n}-of-2/trec/rfc/{name}{seed}-top-7" for n in (1, 2))
        expected.append(f"join-parts data/rfc {lists} --runs {runs}{of_task}")
        assert words[:-1] == expected
        assert f"--training {lists}" in words[-1]


def test_a_reranker_learns_from_lists_that_navigation_makes_anew_without_each_part():
    rows = {
        "b": WORDS,
        "n": {"method": "navigation", "inputs": ["b"], "settings": {"share": 0.6}},
        "x": {**LEARNT, "inputs": ["n"], "training": {"row": "n", "parts": 2, "top": 7}},
    }
    check_row(_experiment(**rows), "x")
    words = _words(_experiment(**rows), "x")
    expected = []
    for part in (1, 2):
        root = f"out/parts/{part}-of-2"
        corpus, runs = f"{root}/corpus/rfc", f"{root}/trec/rfc"
        expected += [
            f"hold-out data/rfc {corpus} --part {part} --parts 2",
            f"retrieve {corpus} {runs}/b --lexical bm25",
            f"rerank {corpus} {runs}/n-top-7 --reranker navigation --runs {runs}/b --top 7 "
            f"--settings share=0.6 --splits test",
        ]
    assert words[:-2] == expected
    assert words[-2].startswith("join-parts data/rfc out/trec/rfc/training-local-parts-2-row-n")


def test_a_fusion_made_anew_without_a_part_learns_from_validation_and_so_do_its_inputs_rank():
    rows = {
        "b": WORDS,
        "n": {"method": "navigation", "inputs": ["b"]},
        "ours": OURS,
        "started": {**OURS, "start": "ours"},
        "f": {"method": "fusion", "inputs": ["n", "started"]},
        "x": {"method": "nnrank", "inputs": ["f"], "training": {"row": "f", "parts": 2, "top": 7}},
    }
    experiment = _experiment(**rows)
    made = [words.split() for words in _words(experiment, "x", seed=2)]
    of_part = [words for words in made if "parts/1-of-2/" in " ".join(words[:3])]
    trec, encoders = "out/parts/1-of-2/trec/rfc", "out/parts/1-of-2/encoders/rfc"
    ranked = [words for words in of_part if words[0] == "retrieve"]
    assert [words[2] for words in ranked] == [f"{trec}/b", f"{trec}/started-seed-2"]
    assert not any("--splits" in words for words in ranked)  # validation and the part held out
    trained = [words[3] for words in of_part if words[0] == "finetune"]
    assert trained == [f"{encoders}/ours-seed-2", f"{encoders}/started-seed-2"]
    fused = " ".join(of_part[-1])
    assert f"{trec}/f-seed-2-top-7 --reranker fusion" in fused
    assert f"--runs {trec}/n {trec}/started-seed-2" in fused
    assert fused.endswith("--top 7 --seed 2 --splits test")


PAIRS = {**LEARNT, "method": "cross_encoder"}
TUNED = {"method": "transformer", "settings": {"model": "a/b", "epochs": 1}, "pretrained_on": READ}


def test_a_cross_encoder_may_start_from_the_transformer_of_another_row():
    settings = {"settings": {"model": "a/b", "joined": 1, "loss": "listwise"}}
    rows = {"b": WORDS, "t": TUNED}
    rows["x"] = {**PAIRS, "start": "t", "pretrained_on": READ, **settings}
    experiment = _experiment(**rows)
    check_row(experiment, "x")
    assert "model=out/vectors/rfc/t-seed-2/model" in _words(experiment, "x", seed=2)[-1]
    assert experiment.rows["x"].needs == ["b", "t"]


def test_a_cross_encoder_may_start_from_another_one_and_learn_no_more():
    model = {"model": "a/b", "joined": 1, "loss": "listwise"}
    rows = {"b": WORDS, "w": {"method": "bm25", "task": "global"}}
    rows["t"] = {**PAIRS, "pretrained_on": READ, "settings": model}
    rows["x"] = {"method": "cross_encoder", "inputs": ["w"], "start": "t", "task": "global"}
    rows["x"] |= {"pretrained_on": READ, "settings": {**model, "epochs": 0}}
    experiment = _experiment(**rows)
    check_row(experiment, "x")
    (rerank,) = _words(experiment, "x", seed=2)
    assert "model=out/trec/rfc/t-seed-2/model" in rerank and "--seed 2" in rerank
    assert "--training" not in rerank


@pytest.mark.parametrize(
    "start", [{"method": "bm25"}, {"method": "word2vec"}, {**TUNED, "settings": {"epochs": 0}}]
)
def test_a_cross_encoder_starts_from_no_row_without_a_fine_tuned_transformer(start):
    rows = {"b": WORDS, "t": start, "x": {**PAIRS, "start": "t"}}
    rows["x"]["settings"] = {"model": "random:1x32"}
    with pytest.raises(ConfigError, match="row x: start is t, which leaves no transformer"):
        check_row(_experiment(**rows), "x")


@pytest.mark.parametrize(
    ("training", "said"),
    [
        ({"row": "g"}, "training, row is g; expected a row of the local task that needs no index"),
        ({"row": "l"}, "training, row is l; expected .* no row that learns from lists"),
        ({"row": "f"}, "training, row is f, which needs l; expected"),
        ({"row": "i"}, "training, row is i; expected .* needs no index"),
        ({"row": "b", "parts": 1}, "parts is 1; expected 2 or more"),
    ],
)
def test_rows_that_cannot_be_made_without_a_part_are_refused(training, said):
    rows = {
        "b": WORDS,
        "g": {"method": "bm25", "task": "global"},
        "l": LEARNT,
        "f": {"method": "fusion", "inputs": ["b", "l"]},
        "ours": OURS,
        "i": {"method": "index", "vectors": "ours"},
        "x": {**LEARNT, "training": training},
    }
    with pytest.raises(ConfigError, match=said):
        check_row(_experiment(**rows), "x")


def test_a_reranker_may_score_papers_by_the_vectors_of_a_row():
    rows = {
        "w": {"method": "word2vec"},
        "c": {"method": "citation_candidates", "inputs": ["w"], "vectors": "w"},
        "n": {"method": "navigation", "inputs": ["w"], "vectors": "w"},
    }
    experiment = _experiment(**rows)
    [words] = _words(experiment, "c", seed=2)
    assert "--runs out/trec/rfc/w-seed-2 --scored-by out/vectors/rfc/w-seed-2" in words
    check_row(experiment, "c")
    with pytest.raises(ConfigError, match="navigation has no vectors"):
        check_row(experiment, "n")


def test_a_row_of_our_model_is_made_from_the_corpus_on():
    full = {**OURS, "pretrained": "small", "readings": 5, "vocab_size_on": {"rfc": 8000}, "top": 7}
    assert _words(_experiment(ours=full), "ours") == [
        "binarize data/rfc out/binarized/rfc --vocab-size 8000",
        "pretrain out/binarized/rfc conf/pretrain/configs/small.yaml "
        "out/encoders/rfc/small-pretrained --training out/pretrained/rfc/small",
        "finetune out/binarized/rfc conf/finetune/configs/tiny.yaml out/encoders/rfc/ours "
        "--init out/encoders/rfc/small-pretrained --training out/finetuned/rfc/ours "
        "--settings objective=mpt",
        "embed out/binarized/rfc out/encoders/rfc/ours out/vectors/rfc/ours --readings 5",
        "retrieve data/rfc out/trec/rfc/ours --vectors out/vectors/rfc/ours --top 7",
    ]
    on_other = _experiment(Path("data/mine"), ours=full)
    assert _words(on_other, "ours")[0] == "binarize data/mine out/binarized/mine"


def test_a_row_may_start_from_another_and_read_vectors_of_sentences():
    bag = {**OURS, "config": "token_bag", "settings": {}}
    experiment = _experiment(bag=bag, ours={**LEVELS, "settings": {}, "start": "bag"})
    assert experiment.rows["ours"].needs == ["bag"]
    stored = "--sentence-vectors out/sentences/rfc/MiniLM"
    documents = "out/encoders/rfc/documents-pretrained"
    assert _words(experiment, "ours", seed=2)[1:] == [
        "embed-sentences data/rfc makers/MiniLM out/sentences/rfc/MiniLM",
        f"pretrain out/binarized/rfc conf/pretrain/configs/documents.yaml {documents} "
        f"--training out/pretrained/rfc/documents {stored}",
        "finetune out/binarized/rfc conf/finetune/configs/levels.yaml out/encoders/rfc/ours-seed-2 "
        f"--init out/encoders/rfc/bag-seed-2 --document-level {documents} {stored} "
        "--training out/finetuned/rfc/ours-seed-2 --settings seed=2",
        "embed out/binarized/rfc out/encoders/rfc/ours-seed-2 out/vectors/rfc/ours-seed-2 "
        f"--readings 1 {stored}",
        "retrieve data/rfc out/trec/rfc/ours-seed-2 --vectors out/vectors/rfc/ours-seed-2",
    ]


def test_all_seeds_may_read_sentences_by_one_encoder_that_another_row_fine_tunes():
    bag = {**OURS, "config": "token_bag", "settings": {}}
    ours = {**LEVELS, "settings": {}, "start": "bag", "sentences": "t"}
    del ours["pretrained_on"]
    experiment = _experiment(bag=bag, t=TUNED, ours=ours)
    assert experiment.rows["ours"].needs == ["bag", "t"]
    _, embedded, pretrained, *others = _words(experiment, "ours", seed=2)
    stored = "out/sentences/rfc/t"
    assert embedded == f"embed-sentences data/rfc out/vectors/rfc/t/model {stored}"
    assert "out/encoders/rfc/documents-t-pretrained" in pretrained
    needed = experiment.needs(experiment.variant("ours", seed=2))
    assert [(each.row.name, each.seed) for each in needed] == [("bag", 2), ("t", 1)]
    assert [stored in line for line in [pretrained, *others]] == [True, True, True, False]
    untrained = {**TUNED, "settings": {"model": "a/b", "epochs": 0}}
    with pytest.raises(ConfigError, match="row ours: sentences is t, which leaves no transformer"):
        check_row(_experiment(bag=bag, t=untrained, ours=ours), "ours")


def test_levels_that_read_bodies_have_vectors_and_a_pretraining_of_their_own():
    levels = {**LEVELS, "settings": {"contextual_roles": "body,abstract,citing"}}
    _, embedded, pretrained, *others = _words(_experiment(ours=levels), "ours")
    stored = "out/sentences/rfc/MiniLM-bodies"
    assert embedded.endswith(f"MiniLM {stored} --parts abstract body citing")
    assert "conf/pretrain/configs/documents.yaml" in pretrained
    start = "out/encoders/rfc/documents-bodies-pretrained"
    assert f"{start} --training out/pretrained/rfc/documents-bodies" in pretrained
    for line in [pretrained, *others[:2]]:
        assert f"--sentence-vectors {stored}" in line
    assert f"--document-level {start}" in others[0]


def test_layers_that_are_tuned_have_stored_states_of_their_own():
    levels = {**LEVELS, "settings": {"tuned_layers": 2}}
    _, vectors, pretrained, states, *others = _words(_experiment(ours=levels), "ours")
    plain, stored = "out/sentences/rfc/MiniLM", "out/sentences/rfc/MiniLM-tuned-2"
    assert vectors == f"embed-sentences data/rfc makers/MiniLM {plain}"
    assert pretrained.endswith(f"--sentence-vectors {plain}")  # which other rows share
    assert states == f"embed-sentences data/rfc makers/MiniLM {stored} --tuned-layers 2"
    for line in others[:2]:
        assert f"--sentence-vectors {stored}" in line
    alone = _words(_experiment(ours={**levels, "pretrained": ""}), "ours")
    assert [line.split()[0] for line in alone[:3]] == ["binarize", "embed-sentences", "finetune"]
    frozen = _experiment(ours={**levels, "settings": {"tuned_layers": 0}})
    assert _words(frozen, "ours")[1].endswith("MiniLM out/sentences/rfc/MiniLM")


def test_a_row_that_ranks_as_an_index_answers_builds_the_index_of_its_own_seed():
    answers = {"method": "index", "vectors": "ours", "top": 7}
    experiment = _experiment(ours=OURS, answers=answers)
    assert experiment.rows["answers"].needs == ["ours"]
    for seed, end in ((1, ""), (2, "-seed-2")):
        assert _words(experiment, "answers", seed=seed, splits=("valid",)) == [
            f"build-index data/rfc out/encoders/rfc/ours{end} out/vectors/rfc/ours{end} "
            f"out/indexes/rfc/answers{end}",
            f"answer data/rfc out/indexes/rfc/answers{end} out/trec/rfc/answers{end} --top 7 "
            "--splits valid",
        ]
    whole = _experiment(ours=OURS, answers={**answers, "task": "global"})
    _, answer = _words(whole, "answers", splits=("valid",))
    assert answer.endswith("out/trec/rfc/answers --task global --top 7 --splits valid")
    assert takes_seeds(experiment.rows, "answers") and is_trained(experiment.rows, "answers")
    assert family_of(experiment.rows["answers"]) == "fusion"
    assert learns_from(experiment.rows["answers"], {}) == "valid"
    for step in steps_of(experiment, experiment.variant("answers")):
        assert output_of(step).name == "answers"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "found no vectors; index needs a line 'vectors: ROW'"),
        ({"vectors": "ours", "dim": 8}, "index has no dim; leave it out"),
        ({"vectors": "ours", "similarity": "dot"}, "index has no similarity"),
        ({"vectors": "ours", "inputs": ["ours"]}, "index has no inputs"),
    ],
)
def test_a_row_of_an_index_says_whose_vectors_and_nothing_else(wrong, message):
    experiment = _experiment(ours=OURS, answers={"method": "index", **wrong})
    with pytest.raises(ConfigError, match=message) as caught:
        check_row(experiment, "answers")
    assert str(caught.value).startswith("row answers: ")


def test_a_row_that_reads_vectors_of_sentences_says_what_their_encoder_has_read():
    row = parse_row("ours", {**OURS, "sentences": "makers/MiniLM"}, "ours")
    with pytest.raises(ConfigError, match="its model makers/MiniLM was trained elsewhere"):
        check_pretrained_on(row, {})
    told = parse_row("ours", {**OURS, "pretrained_on": READ}, "ours")
    with pytest.raises(ConfigError, match="takes no model that was trained elsewhere"):
        check_pretrained_on(told, {})
    check_pretrained_on(dataclasses.replace(told, sentences="makers/MiniLM"), {})


def test_a_row_of_our_model_that_starts_from_nothing_is_not_pretrained():
    steps = _words(_experiment(ours={**OURS, "settings": {}}), "ours")
    assert [step.split()[0] for step in steps] == ["binarize", "finetune", "embed", "retrieve"]
    assert "--init" not in steps[1] and "--settings" not in steps[1]


def test_a_seed_of_our_model_is_a_setting_and_has_places_of_its_own():
    binarize, finetune, embed, rank = _words(_experiment(ours=OURS), "ours", seed=2)
    assert "seed-2" not in binarize
    assert "out/encoders/rfc/ours-seed-2 --training out/finetuned/rfc/ours-seed-2" in finetune
    assert finetune.endswith("--settings objective=mpt seed=2")
    assert "out/encoders/rfc/ours-seed-2 out/vectors/rfc/ours-seed-2" in embed
    assert "out/trec/rfc/ours-seed-2 --vectors out/vectors/rfc/ours-seed-2" in rank


def test_a_row_may_rank_by_the_first_dimensions_of_the_vectors_of_another():
    nested = {"method": "mp_bert4cr", "vectors": "ours", "dim": 64}
    assert _words(_experiment(ours=OURS, nested=nested), "nested") == [
        "retrieve data/rfc out/trec/rfc/nested --vectors out/vectors/rfc/ours --dim 64"
    ]


def test_a_reranker_of_a_seed_takes_runs_and_lists_of_that_seed_where_they_have_seeds():
    dense, words = {"method": "hatten"}, {"method": "bm25"}
    fused = {"method": "fusion", "inputs": ["words", "dense"]}
    lists = {"method": "nnrank", "inputs": ["words"], "training": {"vectors": "dense", "top": 7}}
    of_words = {**lists, "training": {"lexical": "bm25", "top": 7}}
    second = {"method": "submodular", "inputs": ["fused"]}
    plain = {"method": "fusion", "inputs": ["words", "words"]}
    rows = {"words": words, "dense": dense, "fused": fused, "second": second}
    experiment = _experiment(**rows, listed=lists, of_words=of_words, plain=plain)
    (fuse,) = _words(experiment, "fused", seed=2)
    assert "--runs out/trec/rfc/words out/trec/rfc/dense-seed-2 " in fuse
    assert fuse.startswith("rerank data/rfc out/trec/rfc/fused-seed-2 ")
    assert "--runs out/trec/rfc/fused-seed-3 " in _words(experiment, "second", seed=3)[0]
    places = {}
    for name, seed in (("listed", 1), ("listed", 2), ("of_words", 1), ("of_words", 2)):
        make, rerank = _words(experiment, name, seed)
        places[name, seed] = make.split()[2]
        assert f"--training {places[name, seed]}" in rerank
        vectors = f"--vectors out/vectors/rfc/dense{f'-seed-{seed}' * (seed > 1)} "
        assert (vectors in make) == (name == "listed")
    assert places["listed", 1] == "out/trec/rfc/training-local-top-7-vectors-dense"
    assert places["listed", 2] == places["listed", 1] + "-seed-2"
    assert places["of_words", 1] == places["of_words", 2]
    trained = {name for name in experiment.rows if is_trained(experiment.rows, name)}
    assert trained == {"dense", "fused", "second", "listed", "of_words"}


def test_each_row_is_of_one_family():
    lists = {"training": {"lexical": "bm25"}, "inputs": ["words"]}
    experiment = _experiment(
        words=WORDS,
        tfidf={"method": "tfidf"},
        random={"method": "chance"},
        dense={"method": "word2vec"},
        ours=OURS,
        learnt={"method": "nnrank", **lists},
        walked={"method": "navigation", "inputs": ["words"]},
        fused={"method": "fusion", "inputs": ["words", "dense"]},
    )
    assert {name: family_of(row) for name, row in experiment.rows.items()} == {
        **{"words": "lexical", "tfidf": "lexical", "random": "chance", "dense": "trained"},
        **{"ours": "trained", "learnt": "reranker", "walked": "reranker", "fused": "fusion"},
    }
    trained = {name for name in experiment.rows if is_trained(experiment.rows, name)}
    assert trained == {"dense", "ours", "learnt", "fused"}  # random vectors learn nothing


def test_rows_that_are_trained_take_seeds():
    lists = {"method": "nnrank", "inputs": ["words"], "training": {"lexical": "bm25"}}
    experiment = _experiment(
        words=WORDS,
        dense={"method": "word2vec"},
        other={"method": "word2vec", "vectors": "dense", "task": "global"},
        ours=OURS,
        learnt=lists,
        fused={"method": "fusion", "inputs": ["words", "dense"]},
        ready={"method": "transformer", "settings": {"epochs": 0}, "pretrained_on": READ},
        with_ready={"method": "fusion", "inputs": ["words", "ready"]},
        mapped={
            "method": "transformer",
            "settings": {"epochs": 0, "citing_vectors": "true", "head_epochs": 1},
            "pretrained_on": READ,
        },
        maps={"method": "linear_maps", "start": "dense"},
    )
    found = {name for name in experiment.rows if takes_seeds(experiment.rows, name)}
    assert found == {"dense", "other", "ours", "learnt", "fused", "mapped", "maps"}
    fit, _ = _words(experiment, "maps", seed=3)
    assert "--method linear_maps --seed 3 --settings start=out/vectors/rfc/dense-seed-3" in fit
    fit, rank = _words(experiment, "dense", seed=3)
    assert fit == "fit data/rfc out/vectors/rfc/dense-seed-3 --method word2vec --seed 3"
    assert "out/trec/rfc/dense-seed-3 --vectors out/vectors/rfc/dense-seed-3" in rank
    assert "--seed 2" in _words(experiment, "learnt", seed=2)[1]
    assert "--vectors out/vectors/rfc/dense-seed-2" in _words(experiment, "other", seed=2)[0]


@pytest.mark.parametrize(
    "command", ["binarize", "embed", "fit", "retrieve", "rerank", "pretrain", "finetune"]
)
def test_a_command_of_a_step_tells_its_output_and_on_what_it_depends(command):
    module = importlib.import_module(f"mpbert.commands.{command}")
    assert "output" in {field.name for field in dataclasses.fields(module.Config)}
    assert callable(module.inputs_of)


def test_the_commands_of_all_steps_take_these_words_and_say_what_they_write():
    settings = {"objective": "mpt-tgt", "lr": 0.1}
    experiment = _experiment(ours={**OURS, "pretrained": "tiny", "settings": settings})
    root = Path(__file__).parents[2]
    experiment = Experiment(experiment.rows, CORPUS, experiment.layout, Tuned(), root)
    steps = steps_of(experiment, experiment.variant("ours", seed=2))
    places = ("binarized/rfc", "encoders/rfc/tiny-pretrained", "encoders/rfc/ours-seed-2")
    places = (*places, "vectors/rfc/ours-seed-2", "trec/rfc/ours-seed-2")
    assert [str(output_of(step)) for step in steps] == [f"out/{place}" for place in places]
