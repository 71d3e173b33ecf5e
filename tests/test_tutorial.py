"""The tutorial: it runs from the first to the last cell, and is kept without outputs."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"


@pytest.fixture(scope="module")
def executed(rfc_archive, tmp_path_factory):
    """Return the texts and the number of pictures of the notebook, run on the 120 RFCs."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    (place,) = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    runs = tmp_path_factory.mktemp("tutorial")
    place.source += f'\nraw, runs = Path("{rfc_archive}"), Path("{runs}")'
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output.text for output in outputs if output.output_type == "stream"]
    pictures = ["image/png" in output.get("data", {}) for output in outputs]
    return "".join(texts), sum(pictures)


def test_papers_are_recommended_measured_and_drawn(executed):
    text, num_pictures = executed
    assert num_pictures == 3
    assert len(re.findall(r"^-?\d\.\d{3}  RFC\d+ +\S.* \(\d{4}\)$", text, re.MULTILINE)) == 10
    recalls = re.findall(r"^Recall@10 +\S+ +(\S+)", text, re.MULTILINE)
    assert len(recalls) == 2 and all(float(recall) > 20 for recall in recalls)
    assert "Warning" not in text and "Traceback" not in text


def test_the_notebook_is_kept_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and not any(cell.outputs or cell.execution_count for cell in code)


def test_what_the_notebook_links_to_exists():
    text = NOTEBOOK.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links and all((NOTEBOOK.parent / link).exists() for link in links)
