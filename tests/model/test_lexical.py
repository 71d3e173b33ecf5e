import math

import numpy as np
import pytest
import torch

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.special_tokens import SPECIAL_TOKENS
from mpbert.model.config import STEP, LexicalConfig
from mpbert.model.lexical import LexicalLevel
from mpbert.model.packing import TokenCounts
from mpbert.model.sampling import ABSTRACT, BODY, CITING, NEIGHBOUR, CitingSentences
from mpbert.model.token_counts import PaperTokens, count_tokens

VOCAB = 30


def random_texts(rng, num_texts, roles):
    """Texts as lists of (role, tokens)."""
    return [
        [(rng.choice(roles), rng.integers(0, VOCAB, rng.integers(1, 9))) for _ in range(count)]
        for count in rng.integers(0, 6, num_texts)
    ]


def counts_of(texts):
    sentences = [sentence for text in texts for sentence in text]
    return TokenCounts.of(
        count_tokens(
            np.concatenate([np.zeros(0, np.int64), *(tokens for _, tokens in sentences)]),
            np.array([len(tokens) for _, tokens in sentences], dtype=np.int64),
            np.array([len(text) for text in texts]),
            np.array([role for role, _ in sentences], dtype=np.int64),
            VOCAB,
        )
    )


def frequencies(text, role_weights):
    """Token -> Σ weight of the role · occurrences, one by one."""
    found = {}
    for role, tokens in text:
        for token in tokens.tolist():
            if token >= len(SPECIAL_TOKENS):
                found[token] = found.get(token, 0.0) + role_weights[role]
    return found


@pytest.fixture
def level():
    torch.manual_seed(1)
    level = LexicalLevel(VOCAB, LexicalConfig(True, match_weight=3.0, match_abstract=0.5))
    with torch.no_grad():
        for parameter in level.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
        level.mean_length.fill_(7.0)
    return level


def test_scores_are_bm25_of_weighed_fields_token_by_token(level):
    rng = np.random.default_rng(1)
    papers = random_texts(rng, 7, [BODY, ABSTRACT, CITING])
    manuscripts = random_texts(rng, 5, [ABSTRACT, NEIGHBOUR, CITING])
    found = level(counts_of(manuscripts), counts_of(papers))
    exp = lambda table: (STEP * table.weight[:, 0]).exp().tolist()  # noqa: E731
    weights, b = exp(level.log_weights), torch.sigmoid(STEP * level.slope_logit).item()
    k1, scale = (math.exp(STEP * p.item()) for p in (level.log_saturation, level.log_scale))
    for i, manuscript in enumerate(manuscripts):
        asked = frequencies(manuscript, exp(level.manuscript_roles))
        total = sum(tf * weights[token] for token, tf in asked.items())
        for j, paper in enumerate(papers):
            held = frequencies(paper, exp(level.paper_roles))
            k = k1 * (1 - b + b * sum(held.values()) / 7)
            score = sum(
                scale * tf * weights[token] / total * held[token] / (held[token] + k)
                for token, tf in asked.items()
                if token in held
            )
            assert found[i, j].item() == pytest.approx(score, rel=1e-4, abs=1e-6)
    assert found.max() > 0


def test_scores_are_inner_products_of_the_weights_that_are_stored(level):
    rng = np.random.default_rng(2)
    papers, manuscripts = counts_of(random_texts(rng, 9, [BODY])), None
    manuscripts = counts_of(random_texts(rng, 4, [CITING, NEIGHBOUR]))
    q, d = torch.zeros(4, VOCAB), torch.zeros(9, VOCAB)
    q[manuscripts.texts, manuscripts.tokens] = level.weigh_manuscripts(manuscripts)
    d[papers.texts, papers.tokens] = level.weigh_papers(papers)
    scale = (STEP * level.log_scale).exp()
    assert torch.allclose(level(manuscripts, papers), scale * q @ d.T, rtol=1e-4, atol=1e-5)
    assert not q[:, : len(SPECIAL_TOKENS)].any()


def test_in_search_title_and_abstract_of_a_manuscript_weigh_what_is_said(level):
    manuscripts = random_texts(np.random.default_rng(4), 5, [ABSTRACT, NEIGHBOUR, CITING])
    counts = counts_of(manuscripts)
    roles = (STEP * level.manuscript_roles.weight[:, 0]).exp()
    roles[ABSTRACT] /= 2
    found = torch.zeros(5, VOCAB)
    found[counts.texts, counts.tokens] = level.search_weights(counts)
    weights = (STEP * level.log_weights.weight[:, 0]).exp()
    for row, manuscript in enumerate(manuscripts):
        asked = frequencies(manuscript, roles.tolist())
        total = sum(tf * weights[token].item() for token, tf in asked.items())
        assert found[row].count_nonzero() == len(asked)
        for token, tf in asked.items():
            expected = 3 * tf * weights[token].item() / total
            assert found[row, token].item() == pytest.approx(expected, rel=1e-4)


def test_everything_is_learnt(level):
    rng = np.random.default_rng(3)
    manuscripts = counts_of(random_texts(rng, 6, [ABSTRACT, NEIGHBOUR, CITING]))
    papers = counts_of(random_texts(rng, 6, [BODY, ABSTRACT, CITING]))
    level(manuscripts, papers).diag().sum().backward()
    for name, parameter in level.named_parameters():
        assert parameter.grad.abs().max() > 0, name


def test_the_start_is_the_idf_of_the_corpus(level):
    counts = counts_of([[(BODY, np.array([5, 6, 6]))], [(CITING, np.array([5]))]])
    found = torch.tensor([0.0] * 5 + [2.0, 1.0] + [0.0] * (VOCAB - 7))
    level.paper_roles.weight.data[:] = torch.tensor([0, 0, 0, math.log(4)])[:, None] / STEP
    level.start_from(found, 2, counts)
    assert level.mean_length.item() == pytest.approx((3 + 4) / 2)
    idf = (STEP * level.log_weights.weight[:, 0]).exp()
    assert idf[6].item() == pytest.approx(math.log1p((2 - 1 + 0.5) / 1.5))
    assert idf[5] < idf[6] < idf[7]


@pytest.fixture(scope="module")
def corpus(rfc_binary):
    return BinaryCorpus(rfc_binary)


@pytest.mark.parametrize("unread", [None, "some"])
def test_papers_are_counted_whole_with_what_cites_them(corpus, unread):
    citing = CitingSentences.of(corpus.training_contexts(), corpus.num_papers)
    rows = np.argsort(-np.diff(citing.offsets))[:5]
    left_out = np.unique(citing.citing_rows)[::2] if unread else np.zeros(0, np.int64)
    counts = PaperTokens(corpus, citing).of(rows, left_out if unread else None)
    found = {}
    values = (t.tolist() for t in (counts.places, counts.roles, counts.counts))
    for place, role, count in zip(*values, strict=True):
        found[counts.texts[place].item(), counts.tokens[place].item(), role] = count
    expected = {}
    for i, row in enumerate(rows):
        first, last = corpus.sentence_offsets[row], corpus.sentence_offsets[row + 1]
        read = [(s, ABSTRACT if s - first < corpus.num_abstract[row] else BODY)
                for s in range(first, last)]  # fmt: skip
        for place in range(citing.offsets[row], citing.offsets[row + 1]):
            if citing.citing_rows[place] not in left_out:
                read.append((citing.sentences[place], CITING))
        for sentence, role in read:
            for token in corpus.gather(np.array([sentence]))[0].tolist():
                if token >= len(SPECIAL_TOKENS):
                    key = (i, token, role)
                    expected[key] = expected.get(key, 0) + 1
    assert found == expected
    assert any(role == CITING for _, _, role in found)


def test_document_frequencies_are_those_of_the_papers_own_text(corpus):
    citing = CitingSentences.of(corpus.training_contexts(), corpus.num_papers)
    rows = np.array([3, 8, 9])
    found = PaperTokens(corpus, citing).document_frequencies(rows)
    offsets = corpus.token_offsets[corpus.sentence_offsets]
    expected = np.zeros(corpus.vocab_size)
    for row in rows:
        expected[np.unique(corpus.tokens[offsets[row] : offsets[row + 1]])] += 1
    expected[: len(SPECIAL_TOKENS)] = 0
    assert np.array_equal(found, expected)
