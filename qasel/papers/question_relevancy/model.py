"""The multi-task network: one layer that all tasks share, a layer and a head for each task."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from qasel.layers.recurrent import last_states
from qasel.papers.question_relevancy.tasks import MAIN_TASK, Pairs, Texts


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
    return last_states(lstm, *texts.words(different))[place]
