"""References of Typst in YAML, as Hayagriva writes them: a key, and below it the title and more."""

from pathlib import Path

from mpbert.foundation.errors import CorpusError
from mpbert.foundation.option_files import load_yaml

SUFFIXES = (".yml", ".yaml")


def read_hayagriva(path: Path) -> dict[str, tuple[str, str]]:
    """Return key -> title and date, as they are written; empty where there is none.

    :raises CorpusError: it is no YAML, or no mapping.
    """
    import yaml

    from mpbert.corpus.raw.text_files import read_text

    try:
        found = load_yaml(read_text(path))
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise CorpusError(f"{path}: is no YAML ({' '.join(str(error).split())[:200]})") from error
    if not isinstance(found, dict):
        raise CorpusError(f"{path}: found a {type(found).__name__}; expected keys with entries")
    return {str(key): _title_and_date(entry) for key, entry in found.items()}


def _title_and_date(entry: object) -> tuple[str, str]:
    if not isinstance(entry, dict):
        return "", ""
    title = entry.get("title", "")
    title = title.get("value", "") if isinstance(title, dict) else title
    return str(title), str(entry.get("date", ""))
