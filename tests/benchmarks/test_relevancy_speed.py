"""Training speed of paper 4's network with all its tasks, against a task at a time: `make bench`.

On SemEval's subtask B with QA, FNC-1 and MultiNLI where `QASEL_DATA` is set, and on the bundled
sample with QA.
"""

import time

import pytest
import torch

from qasel.errors import QaselError
from qasel.papers.question_relevancy import ROOM, recipe
from qasel.results.measure import vectors_for

EPOCHS = 5


def epoch(model, data):
    """Seconds of an epoch, the fastest of a few."""
    optimizer = torch.optim.SGD(model.network.parameters(), lr=model.recipe.learning_rate)
    taken = []
    for number in range(EPOCHS):
        started = time.perf_counter()
        order = torch.Generator().manual_seed(number)
        for batch in data.batches(model.recipe.batch, order):
            loss = model.losses(batch)["loss"]
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        taken.append(time.perf_counter() - started)
    return min(taken)


@pytest.mark.parametrize("name", ["sample", "semeval-cqa"])
def test_all_tasks_against_one(name, capsys):
    most = "MTL-MLP (ALL)" if name == "semeval-cqa" else "MTL-MLP (QA)"
    told = []
    for variant in ("STL-MLP", most):
        settings = recipe(variant, name)
        try:
            loaded = settings.load()
        except QaselError as error:
            pytest.skip(str(error))
        model = ROOM.ranker(settings, vectors_for(settings, loaded), torch.device("cpu"))
        started = time.perf_counter()
        data = model.prepare(loaded.train, loaded.tasks)
        features = time.perf_counter() - started
        seconds = epoch(model, data)
        pairs = len(data) * len(data.tasks)
        told.append((variant, features, seconds, pairs, len(data.tasks)))
    (_, _, alone, _, _), (_, _, together, _, tasks) = told
    with capsys.disabled():
        for variant, features, seconds, pairs, _ in told:
            print(
                f"\n{name}, {variant}: features and cache {features:.1f} s, an epoch of {pairs} "
                f"pairs {1e3 * seconds:.0f} ms, {pairs / seconds:,.0f} pairs a second",
                end="",
            )
        print(f"; {tasks} tasks cost {together / alone:.1f} times one")
