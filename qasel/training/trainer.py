"""The one training loop: dev MAP after each epoch, early stopping, best checkpoint, resume."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from qasel.errors import QaselError
from qasel.rankers.base import History
from qasel.training import checkpoint
from qasel.training.devices import joined, seed_all


class TrainingData(Protocol):
    """What an epoch goes through, such as an `EncodedSplit`: `len` counts its items.

    A batch tells the numbers of its items, `index` `[items]`; the rest is for the losses.
    """

    device: torch.device

    def __len__(self) -> int: ...

    def batches(self, size: int, shuffle: torch.Generator | None = None) -> Iterator[Any]:
        """Batches of `size` items, in order or shuffled by a (CPU) generator."""
        ...


LAST = "last.safetensors"
"""The state after the last epoch, from which a killed run goes on."""


@dataclass(frozen=True)
class Schedule:
    """How long and how to train: `patience` epochs without a better dev MAP end it.

    After every `decay_every` epochs the learning rates are multiplied by `decay`. With a `warmup`
    they go with each batch instead: up from 0 for that share of the epochs, then down to 0, both
    in straight lines, as is usual for transformers.
    """

    epochs: int
    patience: int
    batch: int
    seed: int
    decay: float = 1.0
    decay_every: int = 1
    warmup: float = 0.0

    def rate(self, epochs: float) -> float:
        """What the learning rates are multiplied by after so many epochs, a part of one counted."""
        if not self.warmup:
            return self.decay ** (int(epochs) // self.decay_every)
        done = epochs / self.epochs
        return min(done / self.warmup, (1 - done) / (1 - self.warmup))


def train(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    losses: Callable[[Any], dict[str, Tensor]],
    data: TrainingData,
    dev_map: Callable[[], float],
    schedule: Schedule,
    folder: Path | None = None,
    on_epoch: Callable[[list[dict[str, float]]], None] | None = None,
    learnt_from: str = "",
    rate_name: str = "learning_rate",
) -> History:
    """Train `network` in place; it ends with the weights of its best dev epoch.

    `losses(batch)` gives named losses, of which `loss` is minimised; all are
    kept in the history (means over items: questions, or pairs). With a `folder`, the state
    after each epoch is kept there, and a run that was killed goes on from it
    to the same result, bit for bit. `on_epoch` sees the history so far (live
    curves). `learnt_from` stands for all that is learnt from, and how: raises `QaselError` if the
    folder's state is of a run with another, and for a loss that is not finite: that error tells
    to make the setting `rate_name` smaller.
    """
    last = folder / LAST if folder else None
    best = _Best(network)
    epochs: list[dict[str, float]] = []
    rates = [group["lr"] for group in optimizer.param_groups]
    if last and last.exists():
        epochs = _resume(last, network, optimizer, best, learnt_from)
    bar = tqdm(total=schedule.epochs, initial=len(epochs), desc="training", unit="epoch")
    with bar:
        while not _finished(epochs, schedule):
            started = time.perf_counter()
            row = {"epoch": float(len(epochs) + 1)}
            row |= _epoch(network, optimizer, rates, losses, data, schedule, len(epochs) + 1)
            if not math.isfinite(row["loss"]):
                raise QaselError(
                    f"training diverged: the loss of epoch {len(epochs) + 1} is {row['loss']}; "
                    f"try a smaller {rate_name}"
                )
            network.eval()
            row["dev_map"] = dev_map()
            row["seconds"] = time.perf_counter() - started
            epochs.append(row)
            best.offer(network, row)
            if last:
                _keep(last, network, optimizer, best, epochs, learnt_from)
            bar.update()
            bar.set_postfix(loss=f"{row['loss']:.4f}", dev_map=f"{row['dev_map']:.4f}")
            if on_epoch:
                on_epoch(epochs)
    best.restore(network)
    return History(epochs, best.epoch, sum(row["seconds"] for row in epochs))


def forget(folder: Path) -> None:
    """Remove the state of a training that is over and whose model is saved."""
    (folder / LAST).unlink(missing_ok=True)


class _Best:
    """The weights of the epoch with the highest dev MAP (the earliest of equals)."""

    def __init__(self, network: nn.Module) -> None:
        self.epoch, self.dev_map = 0, -1.0
        self.weights = network.state_dict()

    def offer(self, network: nn.Module, row: dict[str, float]) -> None:
        if row["dev_map"] > self.dev_map:
            self.epoch, self.dev_map = int(row["epoch"]), row["dev_map"]
            self.weights = {name: w.detach().clone() for name, w in network.state_dict().items()}

    def restore(self, network: nn.Module) -> None:
        network.load_state_dict(self.weights)
        network.eval()


def _finished(epochs: list[dict[str, float]], schedule: Schedule) -> bool:
    if len(epochs) >= schedule.epochs:
        return True
    values = [row["dev_map"] for row in epochs]
    return bool(values) and len(values) - 1 - values.index(max(values)) >= schedule.patience


def _epoch(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    rates: list[float],
    losses: Callable[[Any], dict[str, Tensor]],
    data: TrainingData,
    schedule: Schedule,
    epoch: int,
) -> dict[str, float]:
    """One pass over the items; the mean of each loss, weighted by items."""
    seed_all(schedule.seed, epoch)
    network.train()
    order = torch.Generator().manual_seed(joined(schedule.seed, epoch))
    sums: dict[str, Tensor] = {}
    seen = 0
    with tqdm(total=len(data), desc=f"epoch {epoch}", leave=False, unit="item") as bar:
        for batch in data.batches(schedule.batch, order):
            with _precision(data.device):
                parts = losses(batch)
            # Half of the batch counted: neither the first step nor the last is one of rate 0.
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


def _precision(device: torch.device) -> AbstractContextManager[Any]:
    """bfloat16 products on a GPU, float32 on a CPU."""
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def _keep(
    path: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    best: _Best,
    epochs: list[dict[str, float]],
    learnt_from: str,
) -> None:
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    tensors |= {f"best.{name}": tensor for name, tensor in best.weights.items()}
    tensors |= checkpoint.optimizer_tensors(optimizer)
    values = {
        "epochs": epochs,
        "best_epoch": best.epoch,
        "best_dev_map": best.dev_map,
        "learnt_from": learnt_from,
    }
    # safetensors refuses tensors that share memory.
    checkpoint.save(path, {name: tensor.clone() for name, tensor in tensors.items()}, values)


def _resume(
    path: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    best: _Best,
    learnt_from: str,
) -> list[dict[str, float]]:
    tensors, values = checkpoint.load(path)
    checkpoint.require_same(path.parent, values, learnt_from)
    kept: dict[str, dict[str, Tensor]] = {"network": {}, "best": {}}
    for key, tensor in tensors.items():
        part, _, name = key.partition(".")
        if part in kept:
            kept[part][name] = tensor
    network.load_state_dict(kept["network"])
    checkpoint.restore_optimizer(optimizer, tensors)
    best.weights = kept["best"]
    best.epoch, best.dev_map = values["best_epoch"], values["best_dev_map"]
    return values["epochs"]
