"""Cut the word vectors of the bundled sample: `python tools/sample_vectors.py`.

Needs glove.6B.100d and explosion-md.300d where `qasel.load_vectors` finds them.
The sample's words have GloVe's vectors (public domain, PDDL 1.0). Some copies of GloVe lack
numbers, 's and other words; these get spaCy's vectors (CC0), mapped by a linear regression. The
most frequent English words are added, so that questions typed by a reader have vectors too.
"""

import numpy as np
from sklearn.linear_model import Ridge

from qasel.datasets import load_dataset
from qasel.locations import DATA
from qasel.text import Vectors, load_vectors, tokenize

FREQUENT = 4000
PENALTY = 100.0


def completed(vectors: Vectors, other: Vectors) -> Vectors:
    """Extend `vectors` by the words that only `other` has, mapped by a ridge regression.

    The regression is fitted on the words that both have.
    """
    shared = [word for word in vectors.rows if word in other]
    new = [word for word in other.rows if word == word.lower() and word not in vectors]
    ridge = Ridge(PENALTY).fit(other.of(shared), vectors.of(shared))
    filled = ridge.predict(other.of(new)).astype(np.float32)
    # A regression shrinks its predictions: scale them to the mean length of the others.
    size = np.linalg.norm(vectors.of(shared), axis=1).mean()
    filled *= size / np.linalg.norm(filled, axis=1, keepdims=True).clip(1e-6)
    return vectors.extended(Vectors(other.name, {word: i for i, word in enumerate(new)}, filled))


def main() -> None:
    """Write data/sample/vectors.npz."""
    vectors = completed(load_vectors("glove.6B.100d"), load_vectors("explosion-md.300d"))
    sets = [load_dataset("sample", protocol) for protocol in ("all", "related")]
    splits = [split for data in sets for split in data.splits.values()]
    texts = [q.text for split in splits for q in split]
    texts += [c.text for split in splits for q in split for c in q.candidates]
    words = {word for text in texts for word in tokenize(text)} | set(list(vectors.rows)[:FREQUENT])
    known = sorted(word for word in words if word in vectors)
    matrix = vectors.of(known).astype(np.float16)
    np.savez_compressed(DATA / "sample" / "vectors.npz", words=np.array(known), vectors=matrix)
    print(f"{len(known)} words; without a vector: {sorted(words - set(known))}")


if __name__ == "__main__":
    main()
