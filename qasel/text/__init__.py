"""Text: tokens, vocabulary, word vectors and features of pairs."""

from qasel.text.tokens import PADDING, Vocabulary, content_words, tokenize
from qasel.text.vectors import Vectors, load_vectors

__all__ = ["PADDING", "Vectors", "Vocabulary", "content_words", "load_vectors", "tokenize"]
