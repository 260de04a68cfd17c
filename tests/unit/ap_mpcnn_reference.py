"""AP-MPCNN as the text tells it: one pair, one width, one filter at a time, nothing shared."""

import math

import torch


def slow_cosine(x, y):
    lengths = math.sqrt(sum(v * v for v in x)) * math.sqrt(sum(v * v for v in y))
    return sum(a * b for a, b in zip(x, y, strict=True)) / lengths if lengths > 1e-8 else 0.0


def slow_attention(one, other):
    """Equations 1-10 for one sentence: words `[n][d]` → `[n][2d]`."""
    sums = [sum(slow_cosine(x, y) for y in other) for x in one]
    total = sum(math.exp(e) for e in sums)
    weights = [math.exp(e) / total for e in sums]
    return [x + [a * v for v in x] for a, x in zip(weights, one, strict=True)], weights


def slow_group(convolution, sentence, wide):
    """Equations 11 and 12: the largest tanh of each filter over the windows, `[F]`."""
    width, size = convolution.kernel_size[0], len(sentence[0])
    nothing = [0.0] * size
    if wide:
        padded = [nothing] * (width - 1) + sentence + [nothing] * (width - 1)
    else:
        padded = sentence + [nothing] * max(width - len(sentence), 0)
    found = []
    for weight, bias in zip(convolution.weight.tolist(), convolution.bias.tolist(), strict=True):
        values = []
        for first in range(len(padded) - width + 1):
            window = padded[first : first + width]
            product = sum(weight[i][k] * window[k][i] for k in range(width) for i in range(size))
            values.append(math.tanh(product + bias))
        found.append(max(values))
    return found


def slow_distance(x, y):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def slow_compare(one, other, difference="sum"):
    """Figures 6 and 7: blocks of two sentences, `[M][F]` each."""
    features = []
    for number in range(len(one[0])):
        x, y = [group[number] for group in one], [group[number] for group in other]
        features += [slow_cosine(x, y), slow_distance(x, y)]
    for x in one:
        for y in other:
            gaps = [abs(a - b) for a, b in zip(x, y, strict=True)]
            absolute = {"sum": [sum(gaps)], "mean": [sum(gaps) / len(gaps)], "vector": gaps}
            features += [slow_cosine(x, y), slow_distance(x, y), *absolute[difference]]
    return features


def slow_overlap(question, answer, idf, content):
    """Equations 16-19, from the words themselves."""
    features = []
    for weigh in (lambda word: 1.0, idf):
        for keep in (lambda word: True, content):
            q, a = {w for w in question if keep(w)}, {w for w in answer if keep(w)}
            features.append(sum(weigh(w) for w in q & a) / max(len(q) + len(a), 1))
    return features


def slow_compared(model, question, answer, overlap=()):
    """H_v of one pair of word numbers."""
    one, other = (model.words(torch.tensor(numbers)).tolist() for numbers in (question, answer))
    if model.attention:
        one, other = slow_attention(one, other)[0], slow_attention(other, one)[0]
    blocks = [
        [slow_group(c, sentence, model.convolution.wide) for c in model.convolution.convolutions]
        for sentence in (one, other)
    ]
    return torch.tensor([*slow_compare(*blocks, model.difference), *overlap])


def slow_score(model, compared):
    """Equations 22 and 23: f(q, p)."""
    hidden = torch.tanh(model.hidden.weight @ compared + model.hidden.bias)
    return torch.sigmoid(model.output.weight @ hidden + model.output.bias)[0]
