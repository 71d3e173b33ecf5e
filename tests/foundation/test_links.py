import os

import pytest

from mpbert.foundation.links import link


def test_a_linked_file_takes_no_further_room_and_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "file").write_bytes(b"bytes")
    (tmp_path / "leads").symlink_to("file")
    link(tmp_path / "leads", tmp_path / "second")
    assert not (tmp_path / "second").is_symlink()
    assert os.path.samefile(tmp_path / "file", tmp_path / "second")


def test_where_the_file_system_cannot_the_file_is_copied(tmp_path, monkeypatch):
    def cannot(*_):
        raise OSError

    monkeypatch.setattr(os, "link", cannot)
    (tmp_path / "file").write_bytes(b"bytes")
    link(tmp_path / "file", tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == b"bytes"
    assert not os.path.samefile(tmp_path / "file", tmp_path / "second")
    with pytest.raises(FileNotFoundError):
        link(tmp_path / "none", tmp_path / "third")
