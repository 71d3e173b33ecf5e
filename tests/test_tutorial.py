"""The tutorial: it runs from the first to the last cell, and is kept without outputs."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
# a model of a moment; the notebook's own takes half a minute
TRAINING = ["dim=32", "ffn_dim=32", "num_heads=2", "max_epoch=2", "batch_tokens=50000"]


def cell_of(notebook, tag):
    (found,) = [c for c in notebook.cells if tag in c.metadata.get("tags", [])]
    return found


@pytest.fixture(scope="module")
def executed(rfc_archive, tmp_path_factory):
    """Return the texts and the number of pictures of the notebook, run on the 120 RFCs."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    runs = tmp_path_factory.mktemp("tutorial")
    cell_of(
        notebook, "parameters"
    ).source += f'\nraw, runs = Path("{rfc_archive}"), Path("{runs}")\ntraining = {TRAINING}'
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output.text for output in outputs if output.output_type == "stream"]
    pictures = ["image/png" in output.get("data", {}) for output in outputs]
    return "".join(texts), sum(pictures)


@pytest.mark.fairseq
def test_papers_are_recommended_measured_and_drawn(executed):
    text, num_pictures = executed
    assert num_pictures == 3
    row = r"^ +\d +-?\d+\.\d{4} +(?:\d+ %|-)  RFC\d+ +\S.* \d{4}$"
    assert len(re.findall(row, text, re.MULTILINE)) == 5
    assert re.search(r"^RFC\d+ cites it, 0\.\d\d: \S", text, re.MULTILINE)
    recalls = re.findall(r"^(token_bag|bm25) +0 +(\d+\.\d\d) \[", text, re.MULTILINE)
    assert len(recalls) == 6  # of three subsets
    assert all(float(recall) > 20 for _, recall in recalls)
    assert "Warning" not in text and "Traceback" not in text


def test_the_notebook_uses_the_front_door():
    code = [c.source for c in nbformat.read(NOTEBOOK, as_version=4).cells if c.cell_type == "code"]
    text = "\n".join(code)
    assert "from mpbert import Corpus, Encoder, Recommender, compare, evaluate" in text
    assert "subprocess" not in text and not re.search(r"^[!%]", text, re.MULTILINE)


def test_the_notebook_is_kept_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and not any(cell.outputs or cell.execution_count for cell in code)


def test_what_the_notebook_links_to_exists():
    text = NOTEBOOK.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links and all((NOTEBOOK.parent / link).exists() for link in links)
