"""Cut the word vectors of the bundled sample: `python tools/sample_vectors.py`.

Needs glove.6B.100d and explosion-md.300d where `qasel.load_vectors` finds them.
The sample's words have GloVe's vectors (public domain, PDDL 1.0). Some copies of GloVe lack
numbers, 's and other words; these get spaCy's vectors (CC0), mapped by a linear regression. The
most frequent English words are added, so that questions typed by a reader have vectors too.
"""

import numpy as np

from qasel.datasets import load_dataset
from qasel.locations import DATA
from qasel.text import load_vectors, tokenize

FREQUENT = 4000


def main() -> None:
    """Write data/sample/vectors.npz."""
    vectors = load_vectors("glove.6B.100d+explosion-md.300d")
    sets = [load_dataset("sample", protocol) for protocol in ("all", "related")]
    texts = [text for data in sets for split in data.splits.values() for text in split.texts]
    words = {word for text in texts for word in tokenize(text)} | set(list(vectors.rows)[:FREQUENT])
    known = sorted(word for word in words if word in vectors)
    matrix = vectors.of(known).astype(np.float16)
    np.savez_compressed(DATA / "sample" / "vectors.npz", words=np.array(known), vectors=matrix)
    print(f"{len(known)} words; without a vector: {sorted(words - set(known))}")


if __name__ == "__main__":
    main()
