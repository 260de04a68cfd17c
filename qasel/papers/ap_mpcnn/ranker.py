"""Paper 5 as a ranker: the model, its losses, its words' tables and its optimiser."""

import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.datasets.base import Split
from qasel.papers.ap_mpcnn.inside import Inside, look
from qasel.papers.ap_mpcnn.model import APMPCNN
from qasel.papers.ap_mpcnn.negatives import CountedLists, choose, triplet_loss
from qasel.papers.ap_mpcnn.recipes import APMPCNNRecipe
from qasel.text import Vocabulary, tokenize
from qasel.text.features.overlap import Idf
from qasel.training.batching import Batch
from qasel.training.neural import NeuralRanker
from qasel.training.trainer import Schedule


class APMPCNNRanker(NeuralRanker):
    """Any variant of paper 5."""

    recipe_type = APMPCNNRecipe
    recipe: APMPCNNRecipe
    network: APMPCNN
    vocabulary: Vocabulary

    def build(self, vectors: Tensor) -> APMPCNN:
        """The network in the recipe's sizes, with the recipe's parts."""
        sizes = {"filters", "widths", "hidden", "dropout", "difference"}
        settings = self.recipe.model_dump(include=sizes | {"attention", "wide", "sparse"})
        return APMPCNN(vectors, train_vectors=self.recipe.vectors_rate > 0, **settings)

    def prepare(self, *splits: Split) -> None:
        """Take the words of some splits; idf is that of the first one's candidates."""
        texts = [c.text for question in splits[0] for c in question.candidates]
        idf = Idf.of(texts) if self.recipe.sparse else None
        super().prepare(*splits)
        if idf:
            self.network.count_words(self.vocabulary.words, idf)

    def training_data(self, split: Split) -> CountedLists:
        """The lists of a split that have what the loss needs."""
        return CountedLists(self._on_device(split), self.recipe.pairwise)

    def optimizer(self) -> torch.optim.Optimizer:
        """Adam, the regularisation as its weight decay; the word vectors have none."""
        adam = super().optimizer()
        adam.param_groups[0]["weight_decay"] = self.recipe.regularization
        return adam

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The triplet loss, or cross entropy where ranking is not pairwise."""
        r = self.recipe
        log_odds, hidden = self.network.with_hidden(batch)
        if not r.pairwise:
            wanted = batch.labels[batch.mask]
            return {"loss": F.binary_cross_entropy_with_logits(log_odds[batch.mask], wanted)}
        f = log_odds.sigmoid()
        triplets = choose(f, batch.labels, batch.mask, r.negatives, r.negatives_by, hidden)
        return {"loss": triplet_loss(f, triplets, r.margin)}

    def scores(self, batch: Batch) -> Tensor:
        """Log odds: they sort as f(q, p) does, and never saturate."""
        return self.network(batch)

    def schedule(self) -> Schedule:
        """A fixed number of epochs; the learning rate falls in steps."""
        r = self.recipe
        return Schedule(r.epochs, r.epochs, r.batch, r.seed, r.decay, r.decay_every)

    def inside(self, question: str, answer: str, off: str = "") -> Inside:
        """A pair, typed or taken from the data, from inside, with one part `off` (see `look`)."""
        tile = self.pair(question, answer)
        return look(self.network, tile, (tokenize(question), tokenize(answer)), off)

    def _extend(self, vocabulary: Vocabulary, words: list[str]) -> None:
        known = len(vocabulary)
        super()._extend(vocabulary, words)
        self.network.add_words(vocabulary.words[known:])
