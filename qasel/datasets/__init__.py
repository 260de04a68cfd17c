"""Data sets: real ones, the bundled sample and a user's own files, read into `Dataset`."""

from qasel.datasets.base import Candidate, Dataset, Question, Split
from qasel.datasets.describe import describe
from qasel.datasets.fetch import check, fetch
from qasel.datasets.load import load_dataset
from qasel.datasets.tables import read_questions

__all__ = [
    "Candidate",
    "Dataset",
    "Question",
    "Split",
    "check",
    "describe",
    "fetch",
    "load_dataset",
    "read_questions",
]
