"""The extension of VS Code: its settings are those of the server, and its own tests pass."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from mpbert.serving.editor.settings import EditorSettings
from tests.serving.editing import ENVIRONMENT, make_index

FOLDER = Path(__file__).parents[1] / "editors" / "vscode"


def test_the_extension_has_each_setting_of_the_server_with_its_default():
    about = json.loads((FOLDER / "package.json").read_text())
    properties = about["contributes"]["configuration"]["properties"]
    found = {name.removeprefix("mpbert."): value["default"] for name, value in properties.items()}
    ours = {field.name: field.default for field in fields(EditorSettings)}
    assert found == {"command": "mpbert", "index": "", **ours}


@pytest.mark.skipif(
    not (FOLDER / "node_modules").is_dir() or shutil.which("npm") is None,
    reason="npm ci was not run in editors/vscode",
)
def test_the_extension_is_typed_bundled_and_starts_the_server(tmp_path):
    program = tmp_path / "mpbert"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mpbert "$@"\n')
    os.chmod(program, 0o755)
    index = str(make_index(tmp_path))
    environment = {**ENVIRONMENT, "MPBERT": str(program), "MPBERT_INDEX": index}
    for script in ("check", "build", "test"):
        words = ["npm", "run", script]
        found = subprocess.run(words, cwd=FOLDER, env=environment, capture_output=True, text=True)
        assert found.returncode == 0, found.stdout + found.stderr
    assert "# pass 5" in found.stdout
