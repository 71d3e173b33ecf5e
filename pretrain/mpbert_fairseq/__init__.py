"""fairseq's ``--user-dir``: registers the tasks, models and criteria of mpbert.

It stands outside the package: fairseq imports a user directory under its last path component.
"""

import mpbert.model.fairseq_plugin.finetuning
import mpbert.model.fairseq_plugin.pretraining  # noqa: F401
