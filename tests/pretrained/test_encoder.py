import numpy as np

from mpbert.pretrained.encoder import PretrainedEncoder, length_batches
from mpbert.pretrained.models import load


def test_what_looks_like_a_special_token_is_text(small_encoder):
    model, tokenizer = load(str(small_encoder), "none", 1, 0, list)
    encoder = PretrainedEncoder(model, tokenizer, "mean", 1000, bfloat16=False)
    ids = encoder.tokenize(["a [SEP] b [CLS]"], 50).items
    assert len(ids) > 4 and not {tokenizer.sep_token_id, tokenizer.cls_token_id} & set(ids.tolist())


def test_batches_hold_every_row_once_and_keep_their_budget():
    lengths = np.random.default_rng(1).integers(3, 300, size=500)
    batches = length_batches(lengths, 1000)
    assert sorted(np.concatenate(batches)) == list(range(500))
    for batch in batches:
        longest, shortest = lengths[batch].max(), lengths[batch].min()
        assert len(batch) * longest <= 1000 or len(batch) == 1
        assert longest <= max(1.15 * shortest, shortest + 8)
