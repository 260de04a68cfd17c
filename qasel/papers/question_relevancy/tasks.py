"""Several tasks in one training: a batch holds pairs of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from qasel.text import Vectors, Vocabulary, tokenize
from qasel.training.batching import Sentences

MAIN_TASK = "main"


class Texts:
    """Texts as vectors of their first words, on a device."""

    def __init__(
        self, texts: Iterable[str], vectors: Vectors, longest: int, device: torch.device
    ) -> None:
        texts = list(dict.fromkeys(texts))
        vocabulary = Vocabulary(word for text in texts for word in tokenize(text))
        whole = Sentences.encode(texts, vocabulary, device)
        self.sentences = Sentences(whole.tokens, whole.start, whole.length.clamp(max=longest))
        self.matrix = torch.from_numpy(vectors.of(vocabulary.words)).to(device)
        self._number = {text: number for number, text in enumerate(texts)}

    def numbers(self, texts: Sequence[str]) -> Tensor:
        """The numbers of texts, `[texts]`."""
        return torch.tensor([self._number[text] for text in texts], device=self.matrix.device)

    def words(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors `[texts, longest, size]` and lengths `[texts]` of the texts numbered so."""
        words, length = self.sentences.padded(numbers)
        return self.matrix[words], length


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts on the device.

    `features` `[pairs, features]`, standardised; `left` and `right` `[pairs]` are numbers in
    `texts`, for a network that reads them; `labels` `[pairs]` are class numbers, where known.
    """

    features: Tensor
    left: Tensor | None = None
    right: Tensor | None = None
    labels: Tensor | None = None
    texts: Texts | None = None

    def __len__(self) -> int:
        return len(self.features)

    def of(self, index: Tensor) -> "Pairs":
        """The pairs with these numbers `[chosen]`."""
        left, right, labels = (
            None if part is None else part[index] for part in (self.left, self.right, self.labels)
        )
        return Pairs(self.features[index], left, right, labels, self.texts)


@dataclass(frozen=True)
class TaskBatch:
    """Pairs of the main task, numbered by `index` `[pairs]`, and as many of each other task."""

    index: Tensor
    parts: Mapping[str, Pairs]


class TaskData:
    """The training pairs of all tasks; an epoch goes once through those of the main one.

    Each epoch draws as many pairs of every auxiliary task anew, without repeats where a task
    has that many.
    """

    def __init__(self, tasks: Mapping[str, Pairs], device: torch.device) -> None:
        self.tasks, self.device = tasks, device

    def __len__(self) -> int:
        return len(self.tasks[MAIN_TASK])

    def batches(self, size: int, shuffle: torch.Generator | None = None) -> Iterator[TaskBatch]:
        """Batches of `size` pairs a task, in order or shuffled by a (CPU) generator."""
        orders = {}
        for name, pairs in self.tasks.items():
            count = len(pairs)
            order = torch.randperm(count, generator=shuffle) if shuffle else torch.arange(count)
            orders[name] = order.repeat(-(-len(self) // count))[: len(self)].to(self.device)
        for start in range(0, len(self), size):
            chosen = {name: order[start : start + size] for name, order in orders.items()}
            parts = {name: self.tasks[name].of(rows) for name, rows in chosen.items()}
            yield TaskBatch(chosen[MAIN_TASK], parts)
