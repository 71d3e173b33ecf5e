"""The systems of the report, one folder each; what stands here itself is what they share.

A folder holds a system's ``embedder.py``, its ``reranker.py`` or both, and all that only it needs.
The registries find these modules by where they are, so that a new method is one more folder. A
folder imports no other folder.

The interfaces: ``method`` (what all have), ``embedding``, ``reranking``, ``lexical.method``.
Training: ``training`` (the loop), ``checkpoint``, ``torch_training``, ``gensim_training``,
``fine_tuning``. Data: ``ragged_attention``, ``rankings``, ``word_means``, ``word_vectors``,
``training_citations``, ``training_contexts``, ``citations_by_year``, ``paper_parts``. Vectors of
papers with those of texts that cite them: ``citing_vectors``, ``citing_sums``,
``citing_embedder``, and maps of these that are learnt, ``citation_head`` and ``head_training``.
Fusion: ``linear_fusion``, ``learnt_features``.
Encoders that others have trained stand in :mod:`mpbert.pretrained`.
"""
