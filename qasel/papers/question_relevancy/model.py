"""The network of paper 4, and batches of text pairs from all of its tasks."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from qasel.layers.recurrent import bidirectional
from qasel.text import Vectors, Vocabulary, tokenize
from qasel.text.features.distances import Sides
from qasel.training.batching import Sentences

MAIN_TASK = "main"


class Texts:
    """Numbered texts, each as the vectors of its first `longest` words, on a device."""

    def __init__(
        self, texts: Iterable[str], vectors: Vectors, longest: int, device: torch.device
    ) -> None:
        self.numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        vocabulary = Vocabulary(word for text in self.numbers for word in tokenize(text))
        whole = Sentences.encode(list(self.numbers), vocabulary, device)
        self.sentences = Sentences(whole.tokens, whole.start, whole.length.clamp(max=longest))
        self.matrix = torch.from_numpy(vectors.of(vocabulary.words)).to(device)

    def pairs(self, sides: Sides) -> Tensor:
        """The numbers of the left and the right texts, `[2, pairs]`."""
        numbers = [[self.numbers[text] for text in side] for side in sides]
        return torch.tensor(numbers, device=self.matrix.device)

    def words(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Word vectors `[texts, longest, size]` and lengths `[texts]` of texts by number."""
        words, length = self.sentences.padded(numbers)
        return self.matrix[words], length


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts on the device.

    `features` `[pairs, features]` are standardised; `labels` `[pairs]` are class numbers. `sides`
    `[2, pairs]` are the numbers of both texts in `texts`, for a network that reads texts.
    """

    features: Tensor
    labels: Tensor | None = None
    sides: Tensor | None = None
    texts: Texts | None = None

    def __len__(self) -> int:
        return len(self.features)

    def of(self, index: Tensor) -> "Pairs":
        """The pairs with these numbers `[chosen]`."""
        labels = None if self.labels is None else self.labels[index]
        sides = None if self.sides is None else self.sides[:, index]
        return Pairs(self.features[index], labels, sides, self.texts)


@dataclass(frozen=True)
class TaskBatch:
    """A batch of equally many pairs per task; `index` `[pairs]` numbers the main task's pairs."""

    index: Tensor
    parts: Mapping[str, Pairs]


class TaskData:
    """The training pairs of all tasks.

    An epoch has all pairs of the main task and as many of each other one, repeated only if needed.
    """

    def __init__(self, tasks: Mapping[str, Pairs], device: torch.device) -> None:
        self.tasks, self.device = tasks, device

    def __len__(self) -> int:
        return len(self.tasks[MAIN_TASK])

    def batches(self, size: int, shuffle: torch.Generator | None = None) -> Iterator[TaskBatch]:
        """Yield batches of `size` pairs per task, in order or shuffled by a (CPU) generator."""
        orders = {}
        for name, pairs in self.tasks.items():
            count = len(pairs)
            order = torch.randperm(count, generator=shuffle) if shuffle else torch.arange(count)
            orders[name] = order.repeat(-(-len(self) // count))[: len(self)].to(self.device)
        for start in range(0, len(self), size):
            chosen = {name: order[start : start + size] for name, order in orders.items()}
            parts = {name: self.tasks[name].of(rows) for name, rows in chosen.items()}
            yield TaskBatch(chosen[MAIN_TASK], parts)


class MultiTask(nn.Module):
    """Features → shared layer → a task's own layer → the task's classes (section 2.2).

    `classes` maps task → number of classes. An encoder's encodings of both texts (section 2.3) are
    concatenated with the features.
    """

    # The moments of the main task's features in training, which ranking standardises by.
    mean: Tensor
    deviation: Tensor

    def __init__(
        self, features: int, classes: Mapping[str, int], *, width: int, dropout: float,
        encoder: "PairLSTM | None" = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.classes = dict(classes)
        self.encoder = encoder
        inputs = features + (encoder.size if encoder else 0)

        def layer(inputs: int) -> list[nn.Module]:
            return [nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout)]

        self.shared = nn.Sequential(*layer(inputs))
        own = {t: nn.Sequential(*layer(width), nn.Linear(width, n)) for t, n in classes.items()}
        self.own = nn.ModuleDict(own)
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("deviation", torch.ones(features))

    def forward(self, pairs: Pairs, task: str = MAIN_TASK) -> Tensor:
        """Log probabilities of the task's classes, `[pairs, classes]`."""
        inputs = pairs.features
        if self.encoder:
            inputs = torch.cat([self.encoder(pairs), inputs], 1)
        return self.own[task](self.shared(inputs)).log_softmax(-1)


def moments(features: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each column, `[features]`; the latter is 1 for a constant."""
    deviation, mean = torch.std_mean(features, 0, correction=0)
    return mean, torch.where(deviation > 1e-9, deviation, 1.0)


class PairLSTM(nn.Module):
    """Two stacks of bidirectional LSTMs, one for the left texts and one for the right."""

    def __init__(self, inputs: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.size = 4 * hidden
        # Dropout is between layers; PyTorch warns if there is only one layer.
        between = dropout if layers > 1 else 0.0
        settings = {"batch_first": True, "bidirectional": True, "dropout": between}
        self.left = nn.LSTM(inputs, hidden, layers, **settings)
        self.right = nn.LSTM(inputs, hidden, layers, **settings)

    def forward(self, pairs: Pairs) -> Tensor:
        """The top layer's last states, in both directions, of both texts: `[pairs, size]`."""
        texts, sides = pairs.texts, pairs.sides
        assert texts is not None and sides is not None  # noqa: PT018
        encoded = []
        for lstm, numbers in zip((self.left, self.right), sides, strict=True):
            # A text in several pairs is read only once.
            different, place = numbers.unique(return_inverse=True)
            encoded.append(bidirectional(lstm, *texts.words(different))[1][place])
        return torch.cat(encoded, 1)
