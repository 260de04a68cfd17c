"""The one training loop: dev MAP after each epoch, early stopping, best checkpoint, resuming."""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from qasel.errors import QaselError
from qasel.rankers import History
from qasel.training import checkpoint
from qasel.training.devices import joined, seed_all

LAST = "last.safetensors"  # the state after the last epoch, from which a killed run resumes
Keep = Literal["best", "last", "mean"]
KEEP = get_args(Keep)
"""Which weights a network ends with: those of its best dev epoch, those of its last epoch, or a
running mean over about the last `MEMORY` epochs."""
MEMORY = 5
Precision = Literal["float32", "bfloat16"]


Losses = Callable[[Any], dict[str, Tensor]]
OnEpoch = Callable[[list[dict[str, float]]], None] | None
"""Called with the history after each epoch, if given (live curves)."""


class TrainingData(Protocol):
    """What an epoch iterates over: `len` items, in batches whose `index` `[items]` numbers them."""

    device: torch.device

    def __len__(self) -> int: ...

    def batches(self, size: int, shuffle: torch.Generator | None = None) -> Iterator[Any]:
        """Batches of `size` items, in order or shuffled by a (CPU) generator."""


@dataclass(frozen=True)
class Schedule:
    """How long and how to train: `patience` epochs without a better dev MAP end training.

    Every `decay_every` epochs, the learning rates are multiplied by `decay`. With a `warmup`, they
    instead rise linearly from 0 for that share of the epochs, batch by batch, then fall to 0.
    `keep` names the weights that the network ends with (`KEEP`). `precision` is that of matrix
    products in training; weights, losses and ranking are always in float32.
    """

    epochs: int
    patience: int
    batch: int
    seed: int
    decay: float = 1.0
    decay_every: int = 1
    warmup: float = 0.0
    keep: Keep = "best"
    precision: Precision = "float32"

    def rate(self, epochs: float) -> float:
        """Factor of the learning rates after a number of epochs, which may be fractional."""
        if not self.warmup:
            return self.decay ** (int(epochs) // self.decay_every)
        done = epochs / self.epochs
        return min(done / self.warmup, (1 - done) / (1 - self.warmup))


def train(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    losses: Losses,
    data: TrainingData,
    dev_map: Callable[[], float],
    schedule: Schedule,
    folder: Path | None = None,
    on_epoch: OnEpoch = None,
    learnt_from: str = "",
    rate_name: str = "learning_rate",
) -> History:
    """Train `network` in place; it ends with the weights that the schedule says to keep.

    `losses(batch)` returns named losses, of which `loss` is minimised; the history has the mean of
    each over the items. With a `folder`, the state after each epoch is kept there, and a killed run
    resumes from it to the same result, bit for bit. `learnt_from` is a fingerprint of the data and
    all settings.

    Raises `QaselError` if the folder's state was learnt from something else, or a loss is not
    finite, with the advice to make the setting `rate_name` smaller.
    """
    rates = [group["lr"] for group in optimizer.param_groups]
    state = _State(network, optimizer, folder / LAST if folder else None, learnt_from)
    epochs = state.epochs
    total, done = schedule.epochs * len(data), len(epochs) * len(data)
    # Few updates, as each is a message to a notebook's front end.
    with tqdm(total=total, initial=done, desc="training", unit="item", mininterval=0.5) as bar:
        while len(epochs) < min(schedule.epochs, state.best_epoch + schedule.patience):
            started = time.perf_counter()
            row = {"epoch": float(len(epochs) + 1)}
            bar.set_description(f"epoch {len(epochs) + 1}", refresh=False)
            row |= _epoch(network, optimizer, rates, losses, data, schedule, len(epochs) + 1, bar)
            if not math.isfinite(row["loss"]):
                told = f"the loss of epoch {len(epochs) + 1} is {row['loss']}"
                raise QaselError(f"training diverged: {told}; try a smaller {rate_name}")
            network.eval()
            try:
                row["dev_map"] = dev_map()
            except QaselError as error:  # the last steps left weights that are not numbers
                told = f"after epoch {len(epochs) + 1}, {error}"
                raise QaselError(f"training diverged: {told}; try a smaller {rate_name}") from error
            row["seconds"] = time.perf_counter() - started
            state.add(row)
            shown = {"loss": f"{row['loss']:.4f}", "dev_map": f"{row['dev_map']:.4f}"}
            bar.set_postfix(shown, refresh=False)
            if on_epoch:
                on_epoch(epochs)
        bar.total = bar.n  # the true total, if training stopped early
    weights = {"best": state.best, "last": copied(network), "mean": state.mean}
    network.load_state_dict(weights[schedule.keep], strict=False)
    network.eval()
    seconds = sum(row["seconds"] for row in epochs)
    return History(epochs, state.best_epoch, seconds, weights=weights)


def copied(network: nn.Module) -> dict[str, Tensor]:
    """A copy of a network's current weights, but for frozen ones, which never change."""
    frozen = {name for name, weight in network.named_parameters() if not weight.requires_grad}
    weights = network.state_dict().items()
    return {name: weight.detach().clone() for name, weight in weights if name not in frozen}


class _State:
    """A training between two epochs, also in a file: network, optimiser, history, kept weights."""

    def __init__(
        self, network: nn.Module, optimizer: torch.optim.Optimizer, path: Path | None, source: str
    ) -> None:
        self.network, self.optimizer = network, optimizer
        self.path, self.learnt_from = path, source
        self.epochs: list[dict[str, float]] = []
        self.best = self.mean = copied(network)
        if path and path.exists():
            self._read(path)

    @property
    def best_epoch(self) -> int:
        """The epoch with the highest dev MAP, the earliest of equals; 0 before the first epoch."""
        values = [row["dev_map"] for row in self.epochs]
        return values.index(max(values)) + 1 if values else 0

    def add(self, row: dict[str, float]) -> None:
        self.epochs.append(row)
        now = copied(self.network)
        if self.best_epoch == len(self.epochs):
            self.best = now
        # The mean of the first `MEMORY` epochs, then an exponential one.
        share = 1 / min(len(self.epochs), MEMORY)
        self.mean = {
            name: weight.lerp(now[name], share) if weight.is_floating_point() else now[name]
            for name, weight in self.mean.items()
        }
        if self.path:
            self._write(self.path)

    def _write(self, path: Path) -> None:
        tensors = {f"network.{name}": tensor for name, tensor in copied(self.network).items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        tensors |= {f"mean.{name}": tensor for name, tensor in self.mean.items()}
        for parameter, entries in self.optimizer.state_dict()["state"].items():
            for name, value in entries.items():
                tensors[f"optimizer.{parameter}.{name}"] = torch.as_tensor(value)
        checkpoint.save(path, tensors, {"epochs": self.epochs, "learnt_from": self.learnt_from})

    def _read(self, path: Path) -> None:
        tensors, values = checkpoint.load(path)
        checkpoint.require_same(path.parent, values.get("learnt_from"), self.learnt_from)
        network: dict[str, Tensor] = {}
        moments: dict[int, dict[str, Tensor]] = defaultdict(dict)
        self.epochs, self.best, self.mean = values["epochs"], {}, {}
        place = next(self.network.parameters()).device
        parts = {"network": network, "best": self.best, "mean": self.mean}
        for key, tensor in tensors.items():
            part, _, name = key.partition(".")
            if part == "optimizer":
                parameter, _, name = name.partition(".")
                moments[int(parameter)][name] = tensor
            else:
                parts[part][name] = tensor.to(place)
        self.network.load_state_dict(network, strict=False)
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": dict(moments)})


def _epoch(
    network: nn.Module, optimizer: torch.optim.Optimizer, rates: list[float], losses: Losses,
    data: TrainingData, schedule: Schedule, epoch: int, bar: tqdm,
) -> dict[str, float]:  # fmt: skip
    """Train for one pass over the items; returns the mean of each loss, weighted by items."""
    seed_all(schedule.seed, epoch)
    network.train()
    order = torch.Generator().manual_seed(joined(schedule.seed, epoch))
    sums: dict[str, Tensor] = {}
    seen = 0
    place = data.device.type
    half = schedule.precision == "bfloat16"
    for batch in data.batches(schedule.batch, order):
        with torch.autocast(place, torch.bfloat16, enabled=half):
            parts = losses(batch)
        # Half of the batch counts as done, so that neither the first nor the last step has rate 0.
        share = (seen + len(batch.index) / 2) / len(data)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * schedule.rate(epoch - 1 + share)
        optimizer.zero_grad(set_to_none=True)
        parts["loss"].backward()
        optimizer.step()
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + value.detach() * len(batch.index)
        seen += len(batch.index)
        bar.update(len(batch.index))
    return {name: float(value) / len(data) for name, value in sums.items()}
