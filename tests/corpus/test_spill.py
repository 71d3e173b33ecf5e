import pyarrow as pa
import pytest

from mpbert.corpus.spill import spilled_sentences


def test_sentences_come_back_by_number_after_the_file_has_no_name(tmp_path):
    papers = [["One.", "Two ä."], [], ["Three."]]
    with spilled_sentences(tmp_path) as spilled:
        numbers = [spilled.add(pa.array(sentences, pa.string())) for sentences in papers]
        spilled.seal()
        arrays = [spilled.get(number) for number in reversed(numbers)]
    assert list(tmp_path.iterdir()) == []
    assert [array.to_pylist() for array in arrays] == papers[::-1]
    assert pa.concat_arrays(arrays).to_pylist() == ["Three.", "One.", "Two ä."]


def test_views_of_the_file_take_no_memory_of_the_pool(tmp_path):
    long = pa.array(["words " * 1000] * 100, pa.string())
    with spilled_sentences(tmp_path) as spilled:
        numbers = [spilled.add(long) for _ in range(10)]
        spilled.seal()
        before = pa.total_allocated_bytes()
        arrays = [spilled.get(number) for number in numbers]
        assert pa.total_allocated_bytes() - before < 100_000
    assert sum(len(array) for array in arrays) == 1000


def test_nothing_is_left_behind_by_an_error(tmp_path):
    with pytest.raises(KeyError), spilled_sentences(tmp_path) as spilled:
        spilled.add(pa.array(["One."], pa.string()))
        raise KeyError
    assert list(tmp_path.iterdir()) == []
