"""Emacs and its Eglot, in batch, with the settings of the docs.

It is skipped where they are not installed. Debian: apt-get install emacs-nox elpa-eglot.
"""

import json
import re
import shutil
import subprocess
import sys

import pytest

from tests.serving.editing import ENTRY, ENVIRONMENT, NAMES, ROOT, make_index

SCRIPT = """
(package-initialize)
(require 'eglot)
(setq eglot-sync-connect 60 create-lockfiles nil make-backup-files nil)
SETTINGS
(defun tell (name value) (princ (format "%s\\n" (json-encode (list (cons name value))))))
(find-file-noselect "refs.bib") ; of a file that it does not have open, Eglot asks first
(find-file "part.tex")
(latex-mode)
(apply #'eglot (eglot--guess-contact))
(goto-char (point-max))
(backward-char 2)
(pcase-let* ((`(,begin ,end ,table . ,more) (eglot-completion-at-point))
             (found (all-completions (buffer-substring-no-properties begin end) table)))
  (tell 'papers (mapcar #'substring-no-properties found))
  (delete-region begin end)
  (insert (car found))
  (funcall (plist-get more :exit-function) (car found) 'finished))
(tell 'text (buffer-substring-no-properties (point-min) (point-max)))
(eglot--signal-textDocument/didChange)
(let ((waited 0) found)
  (while (and (not found) (< waited 600))
    (accept-process-output nil 0.1)
    (setq waited (1+ waited) found (mapcar #'flymake-diagnostic-text (flymake-diagnostics))))
  (tell 'remarks found))
(tell 'hover (plist-get (plist-get (jsonrpc-request (eglot--current-server-or-lose)
  :textDocument/hover (eglot--TextDocumentPositionParams)) :contents) :value))
(let ((actions (append (eglot-code-actions (point) (point)) nil)))
  (tell 'actions (mapcar (lambda (action) (plist-get action :title)) actions))
  (eglot--apply-workspace-edit (plist-get (car actions) :edit)))
(tell 'bib (with-current-buffer (find-buffer-visiting "refs.bib") (buffer-string)))
"""


def has_eglot():
    if shutil.which("emacs") is None:
        return False
    words = ["emacs", "-q", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    return subprocess.run(words, capture_output=True).returncode == 0


@pytest.mark.skipif(not has_eglot(), reason="emacs with eglot is not installed")
def test_eglot_completes_tells_and_acts(tmp_path):
    (settings,) = re.findall(r"```elisp\n(.*?)```", (ROOT / "docs/editors.md").read_text(), re.S)
    words = [sys.executable, "-m", "mpbert", "lsp", str(make_index(tmp_path))]
    ours = " ".join(map(json.dumps, words))
    settings = settings.replace('"mpbert" "lsp" "/path/to/index"', ours)
    (tmp_path / "try.el").write_text(SCRIPT.replace("SETTINGS", settings))
    text = "\\bibliography{refs}\nÜnï 😀: servers resolve names \\cite{}."
    (tmp_path / "part.tex").write_text(text)
    (tmp_path / "refs.bib").write_text("")
    found = subprocess.run(
        ["emacs", "-q", "--batch", "-l", "try.el"],
        **{"cwd": tmp_path, "env": ENVIRONMENT, "capture_output": True, "text": True},
        timeout=240,
    )
    lines = [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]
    told = {name: value for line in lines for name, value in line.items()}
    assert told["papers"][0] == "Names of hosts", found.stderr
    assert told["text"] == text.replace("{}", f"{{{NAMES}}}")
    message = f"mpbert [undefined-key]: '{NAMES}' is defined in no bibliography"
    assert told["remarks"][0].startswith(message)
    assert told["hover"].startswith("Names of hosts\nAda Lovelace, Cy Roe\n2003")
    assert told["actions"] == ["Add the entry of Lovelace and Roe, 2003: Names of hosts"]
    assert told["bib"] == ENTRY
