"""Data sets: real ones, the bundled sample and a user's own files, read into `Dataset`."""

from qasel.datasets.base import Candidate, Dataset, Question, Split
from qasel.datasets.load import load_dataset

__all__ = ["Candidate", "Dataset", "Question", "Split", "load_dataset"]
