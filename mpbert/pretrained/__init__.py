"""Encoders that others have trained, as Hugging Face's library saves them: found, loaded and run.

``models`` (find and load), ``package_index`` (fetch where no hub is reached), ``encoder`` (run),
``frozen_layers`` (run, with lower layers that stay as they are),
``texts`` (texts as rows of tokens), ``sentence_encoder`` (vectors of sentences),
``sentence_vectors`` (those of a corpus, stored), ``device``.
"""
