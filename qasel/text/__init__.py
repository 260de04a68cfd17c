"""Text: tokens, vocabulary, word vectors and features of pairs."""

from qasel.text.tokens import content_words, tokenize
from qasel.text.vectors import Vectors, load_vectors
from qasel.text.vocabulary import PADDING, Vocabulary

__all__ = ["PADDING", "Vectors", "Vocabulary", "content_words", "load_vectors", "tokenize"]
