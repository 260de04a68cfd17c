"""Texts as an encoder's subword pieces: what a `Vocabulary` is for words."""

from collections.abc import Sequence

from qasel.text.encoders import Encoder


class Subwords:
    """Numbers of texts by the tokenizer of an encoder, without special tokens.

    A text is cut to what the encoder can read of it at once. An empty one has no pieces.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.longest = encoder.longest - encoder.alone.specials

    def numbers(self, text: str) -> list[int]:
        """The numbers of a text's pieces."""
        return self.numbers_of([text])[0]

    def numbers_of(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of many texts' pieces, in one go."""
        if not texts:
            return []
        found = self.encoder.tokenizer(
            list(texts),
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        return [row[: self.longest] for row in found["input_ids"]]
