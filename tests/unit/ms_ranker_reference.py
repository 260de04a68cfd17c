"""Paper 3's agent as the equations tell it: one candidate, one word at a time."""

import torch


def slow_match(reader, h_q, h_c):
    """Equations 3-11 for one pair, word by word."""
    v1, v2 = reader.of_question.weight[0], reader.of_candidate.weight[0]
    alpha = [[v1 @ q + v2 @ c + reader.of_both @ (q * c) for c in h_c] for q in h_q]
    p_j = torch.stack([max(row[j] for row in alpha) for j in range(len(h_c))]).softmax(0)
    u_q = sum(p * h for p, h in zip(p_j, h_c, strict=True))
    w = torch.cat([part.weight for part in reader.compare], dim=1)
    rows = []
    for j, c in enumerate(h_c):
        p_i = torch.stack([row[j] for row in alpha]).softmax(0)
        u_c = sum(p * h for p, h in zip(p_i, h_q, strict=True))
        rows.append(
            torch.tanh(w @ torch.cat([c, u_c, c * u_c, u_q * u_c]) + reader.compare[0].bias)
        )
    return torch.stack(rows).amax(0)


def slow_walk(agent, vocabulary, question, vectors=None):
    """Equations 1-23 for one question, one candidate at a time: P_post and the mean gates.

    The agent's own word vectors unless others are given.
    """
    vectors = agent.vectors if vectors is None else vectors

    def encode(text):
        (numbers,) = vocabulary.numbers_of([text])
        states, last = agent.reader.encode.gru(vectors[numbers][None])
        return states[0], last[:, 0].flatten()

    h_q, e = encode(question.text)
    told = []
    for candidate in question.candidates:
        h_c, o = encode(candidate.text)
        w1, state = agent.head.of_match.weight, slow_match(agent.reader, h_q, h_c)
        ev = agent.evidence
        if ev:
            alpha = torch.stack([ev.of_word.weight[0] @ h + ev.of_both @ (e * h) for h in h_c])
            u_e = alpha.softmax(0) @ h_c
            rows = [ev.from_words(h) + ev.from_both(h * u_e) for h in h_c]
            state = torch.cat([state, torch.tanh(torch.stack(rows)).amax(0)])
            w1 = torch.cat([w1, agent.head.of_evidence.weight], dim=1)
        hidden = torch.tanh(w1 @ state + agent.head.of_match.bias)
        p = agent.head.act(hidden).softmax(0)[1]
        gate = torch.zeros(())
        if ev and (p > agent.threshold or not agent.action):
            new = p * o if agent.action else o
            g = torch.full_like(e, 0.5)
            if ev.gated:
                g = torch.sigmoid(ev.of_old.weight @ e + ev.of_new.weight @ new)
            e, gate = (1 - g) * e + g * new, g.mean()
        told.append((p, gate))
    return told
