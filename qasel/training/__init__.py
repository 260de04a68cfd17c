"""One trainer for all neural rankers: batches, seeds, devices, checkpoints, recipes."""

from qasel.training.devices import DEVICES, describe_device, resolve_device, seed_all
from qasel.training.neural import NeuralRanker
from qasel.training.recipe import Recipe

__all__ = ["DEVICES", "NeuralRanker", "Recipe", "describe_device", "resolve_device", "seed_all"]
