"""Where does evidence help? `python tools/evidence_by_answers.py`.

Evidence links relevant candidates, so a question with only one has nothing to link. This tool
splits the test questions by that, takes their scores from the ledger, and writes
data/evidence-by-answers.csv: the MAP of MS-Ranker and its lead over systems without evidence, with
95 % intervals over questions and seeds.
"""

import pandas as pd

from qasel import load_dataset
from qasel.evaluation import hierarchical_bootstrap
from qasel.papers.ms_ranker import ROOM
from qasel.papers.ms_ranker.recipes import MAIN, PRE_RANKER
from qasel.papers.ms_ranker.report import BY_ANSWERS, DATASETS
from qasel.results.compare import by_seed, paired
from qasel.results.runs import read_runs, shown

if __name__ == "__main__":
    runs = read_runs([ROOM])
    rows = []
    for dataset, data in DATASETS.items():
        test = load_dataset(dataset).test
        for other in ("w/o Evidence", PRE_RANKER):
            systems = shown(ROOM, dataset, MAIN, other, runs=runs)
            if len(systems) < 2:
                continue
            both = paired(*(by_seed(lines, "map") for lines in systems.values()))
            for several in (False, True):
                asked = [q.id for q in test if (q.labels.sum() > 1) == several]
                first, second = (side[asked].to_numpy() for side in both)
                told = hierarchical_bootstrap(first, second)
                rows.append(
                    {
                        "data": data,
                        "relevant candidates": "several" if several else "at most one",
                        "questions": len(asked),
                        "share of questions": len(asked) / len(test),
                        f"{MAIN} over": other,
                        f"MAP of {MAIN}": first.mean(),
                        "difference": told.difference,
                        "low": told.low,
                        "high": told.high,
                        "seeds": told.seeds,
                    }
                )
    frame = pd.DataFrame(rows)
    frame.to_csv(BY_ANSWERS, index=False, float_format="%.4f", lineterminator="\n")
    print(frame.round(3).to_string(index=False))
