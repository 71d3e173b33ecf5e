"""What tests of commands share."""

import pytest

from mpbert.cli import main


@pytest.fixture
def run(capsys):
    """Function of the words of a command: its exit code, and what it prints and complains."""

    def act(*words):
        code = main([*map(str, words)])
        return code, *capsys.readouterr()

    return act
