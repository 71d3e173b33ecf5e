"""Topic words of the map."""

import numpy as np

from mpbert.serving.topics import topics_of

TITLES = {
    (-1, 0): [
        "Mail in IPv6 hosts",
        "Mail of IPv6",
        "The IPv6 mail relay",
        "A relay for mail",
        "Mail",
    ],
    (1, 0): ["Routing paths", "Routing in hosts", "Paths and routing", "Routing", "Paths again"],
}


def papers(repeats=4):
    rng = np.random.default_rng(1)
    places, titles = [], []
    for centre, found in TITLES.items():
        for title in found * repeats:
            places.append(np.array(centre) + 0.1 * rng.standard_normal(2))
            titles.append(title)
    return np.array(places), titles


def test_each_region_has_the_words_that_set_its_titles_apart():
    positions, titles = papers()
    topics = topics_of(positions, titles)
    left, right = sorted(
        (t for t in topics if t.num_papers > 10), key=lambda topic: topic.x
    )  # a third region may be a part of one
    assert left.words[0] == "mail" and left.x < -0.8
    assert right.words[0] == "routing" and right.x > 0.8
    words = [word for topic in topics for word in topic.words]
    assert len(words) == len(set(words)) and not {"the", "and", "for"} & set(words)
    assert topics == topics_of(positions, titles)


def test_names_keep_their_capitals():
    positions, titles = papers()
    words = {word for topic in topics_of(positions, titles) for word in topic.words}
    assert "IPv6" in words and "Mail" not in words


def test_few_papers_or_papers_at_one_place_have_topics_too_or_none():
    assert topics_of(np.zeros((3, 2)), ["Mail"] * 3) == []
    assert topics_of(np.zeros((0, 2)), []) == []
    (topic,) = topics_of(np.zeros((8, 2)), ["Mail relay"] * 8)
    assert sorted(topic.words) == ["mail", "relay"]
    assert len(topics_of(np.zeros((90, 2)), ["Mail relay"] * 90)) == 1
    assert topics_of(np.zeros((8, 2)), ["数据", "12", "", "a", "b", "c", "d", "e"]) == []
