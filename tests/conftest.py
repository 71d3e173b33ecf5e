"""Fixtures for all tests: a corpus store of real RFCs, built once per session."""

import io
import tarfile
from pathlib import Path

import pytest

from mpbert.commands import build_corpus

REPOSITORY = Path(__file__).parents[1]
RFC_ARCHIVE = REPOSITORY / "datasets" / "rfc" / "rfc-593.tar.xz"


@pytest.fixture(scope="session")
def rfc_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Archive of the 120 RFCs of fixtures/rfc_sample.txt, which cite one another often."""
    sample = (REPOSITORY / "tests" / "fixtures" / "rfc_sample.txt").read_text().lower().split()
    wanted = {f"{paper_id}.{kind}" for paper_id in sample for kind in ("json", "txt")}
    path = tmp_path_factory.mktemp("rfc") / "rfc-120.tar"
    with tarfile.open(RFC_ARCHIVE, "r|xz") as archive, tarfile.open(path, "w") as part:
        for member in archive:
            if Path(member.name).name in wanted:
                part.addfile(member, io.BytesIO(archive.extractfile(member).read()))
    return path


@pytest.fixture(scope="session")
def rfc_corpus(rfc_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store of those 120 RFCs: 80 train, 14 valid, 26 test."""
    output = tmp_path_factory.mktemp("corpus") / "rfc"
    build_corpus.run(build_corpus.Config(rfc_archive, output, reader="rfc"))
    return output
