"""Paper 4's distances as the formulas tell them: one pair, one coordinate at a time."""

import math
from collections import Counter

from qasel.text import tokenize


def slow_distances(one, other, vectors, trigrams="characters"):
    """The fourteen numbers of a pair of texts, in the order of `NAMES`."""
    words, others = tokenize(one), tokenize(other)
    cut = characters if trigrams == "characters" else in_a_row
    return [
        *compared(mean(words, vectors), mean(others, vectors)),
        *of_sets(set(words), set(others)),
        *of_sets(set(cut(words)), set(cut(others))),
    ]


def slow_tfidf_distances(one, other, corpus, trigrams="characters"):
    """The eight numbers of a pair of texts, in the order of `TFIDF_NAMES`."""
    found = []
    for cut in (list, characters if trigrams == "characters" else in_a_row):
        known = [set(cut(tokenize(text))) for text in dict.fromkeys(corpus)]
        x, y = (weighted(Counter(cut(tokenize(text))), known) for text in (one, other))
        union = sorted(x | y)
        found += compared(*([side.get(thing, 0.0) for thing in union] for side in (x, y)), 0.01)
    return found


def weighted(counts, known):
    """tf-idf of a bag's things, divided by the length of all."""
    idf = {
        thing: math.log((1 + len(known)) / (1 + sum(thing in text for text in known))) + 1
        for thing in counts
    }
    length = math.sqrt(sum((counts[thing] * idf[thing]) ** 2 for thing in counts))
    return {thing: counts[thing] * idf[thing] / length for thing in counts}


def mean(words, vectors):
    rows = vectors.of(words).tolist()
    return [sum(row[i] for row in rows) / max(len(rows), 1) for i in range(vectors.size)]


def characters(words):
    return [f" {word} "[i : i + 3] for word in words for i in range(len(word))]


def in_a_row(words):
    return [words[i : i + 3] for i in range(len(words) - 2)]


def of_sets(x, y):
    union = x | y
    either = [[float(thing in side) for thing in union] for side in (x, y)]
    return [*compared(*either), len(x & y) / len(union) if union else 0.0]


def compared(x, y, least=0.5):
    """Cosine, Manhattan, Bhattacharyya and Euclidean distance of two lists of numbers."""
    both = list(zip(x, y, strict=True))
    lengths = math.sqrt(sum(a * a for a in x)) * math.sqrt(sum(b * b for b in y))
    return [
        1 - sum(a * b for a, b in both) / lengths if lengths else 1.0,
        sum(abs(a - b) for a, b in both),
        -math.log(max(sum(math.sqrt(a * b) for a, b in both if a * b > 0), least)),
        math.sqrt(sum((a - b) ** 2 for a, b in both)),
    ]
