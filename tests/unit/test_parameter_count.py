"""How many numbers training sets, as rows of the ledger tell it."""

import numpy as np
import torch
from test_widgets_paper1 import make_ranker, make_split

from qasel.papers import latent_structured, ms_ranker
from qasel.papers.latent_structured.learners import KernelSvm
from qasel.papers.ms_ranker.ranker import PreRanking
from qasel.text import Vectors

CPU = torch.device("cpu")
NO_VECTORS = Vectors("tiny", {}, np.zeros((0, 5), dtype=np.float32))


def test_fixed_vectors_are_not_counted():
    ranker = make_ranker("CA(list)", make_split())
    vectors = ranker.network.vectors.numel()
    everything = sum(tensor.numel() for tensor in ranker.network.parameters())
    ranker.recipe = ranker.recipe.change(vectors_rate=0.0)
    assert ranker.parameter_count == everything - vectors
    ranker.recipe = ranker.recipe.change(vectors_rate=0.1)
    assert ranker.parameter_count == everything


def test_an_agent_has_those_of_its_pre_ranker_too():
    split = make_split()
    recipe = ms_ranker.recipe(scale="quick").change(hidden=4)
    agent = ms_ranker.ROOM.ranker(recipe, NO_VECTORS, CPU)
    agent.prepare(split)
    alone = agent.parameter_count
    agent.first = PreRanking(recipe.before, NO_VECTORS, CPU)
    agent.first.prepare(split)
    assert agent.parameter_count == alone + agent.first.parameter_count > alone > 0


def test_weights_and_support_vectors_are_counted():
    recipe = latent_structured.recipe("LSP", "sample")
    ranker = latent_structured.ROOM.ranker(recipe, NO_VECTORS, CPU)
    ranker.weights = np.zeros(5)
    assert ranker.parameter_count == 5
    ranker = latent_structured.ROOM.ranker(recipe.change(variant="SVM"), NO_VECTORS, CPU)
    ranker.svm = KernelSvm(np.zeros((3, 2)), np.zeros(3), 3)
    assert ranker.parameter_count == 9
