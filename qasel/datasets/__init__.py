"""Data sets (public ones, the bundled sample, a user's own files) and tasks on pairs of texts."""

from qasel.datasets.base import Candidate, Dataset, Question, Split
from qasel.datasets.describe import describe, describe_pairs
from qasel.datasets.fetch import check, fetch
from qasel.datasets.load import load_dataset, load_pairs
from qasel.datasets.sentence_pairs import Pair, PairTask, pairs_of
from qasel.datasets.tables import from_frame, read_questions, to_frame

__all__ = [
    "Candidate",
    "Dataset",
    "Pair",
    "PairTask",
    "Question",
    "Split",
    "check",
    "describe",
    "describe_pairs",
    "fetch",
    "from_frame",
    "load_dataset",
    "load_pairs",
    "pairs_of",
    "read_questions",
    "to_frame",
]
