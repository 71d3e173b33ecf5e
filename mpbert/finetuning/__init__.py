"""Fine-tuning with fairseq: importing this registers task, model and criterion."""

import mpbert.fairseq_compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

from mpbert.finetuning import criterion, model, schedule, task  # noqa: F401
