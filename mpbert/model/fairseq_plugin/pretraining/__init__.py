"""Pretraining with fairseq: importing this registers task, model and criterion."""

import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

from mpbert.model.fairseq_plugin.pretraining import criterion, model, task  # noqa: F401
