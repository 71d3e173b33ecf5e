"""Fine-tuning with fairseq: importing this registers task, model and criterion."""

import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

from mpbert.model.fairseq_plugin.finetuning import criterion, model, schedule, task  # noqa: F401
