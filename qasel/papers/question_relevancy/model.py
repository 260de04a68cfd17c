"""The network of paper 4 and the tasks that it learns: pairs of texts in batches, a task each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from qasel.layers.recurrent import bidirectional
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


class MultiTask(nn.Module):
    """From what is known of a pair to the classes of a task (section 2.2).

    Features → shared layer → the task's own layer → its classes. With an encoder (section 2.3),
    what it makes of both texts joins the features. `classes` is task → number of classes.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        features: int,
        classes: Mapping[str, int],
        *,
        width: int,
        dropout: float,
        encoder: "PairLSTM | None" = None,
    ) -> None:
        super().__init__()
        self.classes = dict(classes)
        self.encoder = encoder
        inputs = features + (encoder.size if encoder else 0)
        self.shared = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout))
        self.own = nn.ModuleDict(
            {
                task: nn.Sequential(
                    nn.Linear(width, width),
                    nn.ReLU(),
                    nn.Dropout(dropout),
                    nn.Linear(width, number),
                )
                for task, number in classes.items()
            }
        )
        # How the main task's features are standardised: needed to rank.
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("deviation", torch.ones(features))

    def forward(self, pairs: Pairs, task: str = MAIN_TASK) -> Tensor:
        """Log probabilities of the task's classes, `[pairs, classes]`."""
        known = pairs.features
        if self.encoder:
            known = torch.cat([self.encoder(pairs), known], 1)
        return self.own[task](self.shared(known)).log_softmax(-1)


def moments(features: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation `[features]` of each column; 1 for the deviation of a constant one."""
    deviation, mean = torch.std_mean(features, 0, correction=0)
    return mean, torch.where(deviation > 1e-9, deviation, 1.0)


class PairLSTM(nn.Module):
    """Two stacks of bidirectional LSTMs, one for the left texts and one for the right."""

    def __init__(self, inputs: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.size = 4 * hidden
        # Dropout is between layers; PyTorch warns where it has no place.
        between = dropout if layers > 1 else 0.0
        settings = {"batch_first": True, "bidirectional": True, "dropout": between}
        self.left = nn.LSTM(inputs, hidden, layers, **settings)
        self.right = nn.LSTM(inputs, hidden, layers, **settings)

    def forward(self, pairs: Pairs) -> Tensor:
        """The encodings of both texts of each pair, `[pairs, size]`."""
        sides = ((self.left, pairs.left), (self.right, pairs.right))
        return torch.cat([_encoded(lstm, pairs.texts, numbers) for lstm, numbers in sides], 1)


def _encoded(lstm: nn.LSTM, texts: Texts | None, numbers: Tensor | None) -> Tensor:
    """The top layer's last states both ways, `[pairs, 2 hidden]`; each text is read once."""
    assert texts is not None and numbers is not None  # noqa: PT018
    different, place = numbers.unique(return_inverse=True)
    return bidirectional(lstm, *texts.words(different))[1][place]
