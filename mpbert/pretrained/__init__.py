"""Encoders that others have trained, as Hugging Face's library saves them: found, loaded and run.

Files: ``folders`` (find), ``package_index`` (fetch where no hub is reached), ``model_files`` (which
they are, their checksum, a copy).

Run: ``models`` (load), ``device``, ``texts`` (texts as rows of tokens), ``encoder`` (vectors of
rows), ``unpadded_bert`` and ``attention`` (the same, faster),
``frozen_layers`` (with lower layers that stay as they are).

Sentences: ``sentence_encoder`` (their vectors), ``sentence_vectors`` (those of a corpus, stored),
``token_states`` (what enters layers that are tuned), ``options`` (of commands).
"""
