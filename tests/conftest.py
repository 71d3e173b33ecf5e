"""Fixtures for all tests: a corpus store of real RFCs, built once per session."""

import io
import tarfile
from collections.abc import Callable
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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that rewrites golden files."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Function of a name and a text: the text must be that of tests/golden/NAME."""

    def check(name: str, text: str) -> None:
        path = REPOSITORY / "tests" / "golden" / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"see {path}, or pytest --update-golden"

    return check
