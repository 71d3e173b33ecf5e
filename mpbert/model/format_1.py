"""What encoder directories of format 1 (version 0.1) say, in the words of format 2."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")
# (pattern, replacement) of names of weights; where they stand in a tower or a model stays
_NAMES = (
    (r"^(manuscript|citation)\.log_weights\.", r"\1.log_role_weights."),
    (r"(^|\.)encoder\.(embedding|log_weights)\.", r"\1encoder.bag.\2."),
    (r"(^|\.)encoder\.sentence_blocks\.", r"\1encoder.sentences.blocks."),
    (r"(^|\.)encoder\.document_blocks\.", r"\1encoder.documents.blocks."),
    (r"(^|\.)encoder\.roles\.", r"\1encoder.documents.roles."),
)


def upgraded(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of ``config.json`` of format 2 that says the same as one of format 1.

    :raises KeyError: it lacks what every file of format 1 has.
    """
    old, settings = dict(content["model"]), content["settings"]
    for constant in ("max_tokens", "max_sentences"):  # 1024 in all of them
        old.pop(constant, None)
    bag = {
        "token_weights": old.pop("token_weights", False),
        "sums": old.pop("sentence_sums", False),
    }
    reading = {
        name: settings[name]
        for name in ("manuscript_sentences", "abstract_sentences", "body_sentences")
        if name in settings
    }
    for name in ("manuscript_abstract", "citing_sentences"):  # the oldest have neither
        reading[name] = settings.get(name, 0)
    reading["dynamic"] = not settings.get("no_dynamic_sampling", False)
    if "max_tokens" in settings:
        reading["sentence_tokens"] = settings["max_tokens"]
    objective = {"objective": settings["objective"]} if "objective" in settings else {}
    return {
        "format": 2,
        "kind": content["kind"],
        "model": {**old, "bag": bag},
        "reading": reading,
        "noise": {},
        "objective": objective,
        "training": {},
    }


def upgraded_names(state: Mapping[str, T]) -> dict[str, T]:
    """Return the same weights, or whatever stands for them, with the names of format 2."""
    found = {}
    for name, value in state.items():
        for pattern, replacement in _NAMES:
            name = re.sub(pattern, replacement, name)
        found[name] = value
    return found
