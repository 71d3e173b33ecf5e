"""MP-BERT4CR (Zhang & Ma, WI-IAT 2021), to be read beside Section 4 of the paper, in this order.

* ``config``: every knob, declared once; ``knob``: how one is declared; ``configuration``: YAML
  files and ``name=value``.
* ``sampling`` and ``reading``: which sentences of a manuscript and of a paper are read (4.1.1).
* ``noise``: positives by Eq. 1 and negatives by Eq. 2 (4.1.3, 4.1.4).
* ``packing`` and ``pooling``: texts of any length without padding.
* ``bag``: level 0, weighted tokens; ``blocks``: transformer blocks; ``upper``: levels beside the
  bag; ``encoder``: the levels and the two towers (4.1.2); ``sentences``: batches for them.
* ``masking`` and ``masked_sentences``: the pretraining of HIBERT.
* ``objectives``: Eq. 3 to 6, and ours.
* ``embedding``: from readings to vectors; ``directory``: what a trained encoder is saved in, with
  ``description``: what of it needs no torch;
  ``sentence_transformer``: the same for that library.
* ``text_encoder``: texts of no corpus; ``bag_reader`` reads them with numpy, ``level_reader`` with
  torch.
* ``fairseq_plugin``: adapters that let fairseq train it; no formula.
"""
