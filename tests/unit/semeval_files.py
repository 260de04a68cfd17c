"""Small files of SemEval Task 3 for tests, and what is in a split, in the order of its file."""

DTD = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE xml [
<!ELEMENT xml (Thread*)>
<!ATTLIST Thread THREAD_SEQUENCE CDATA #REQUIRED>
]>
"""


def thread(qid, labels="Good Bad", attributes="", subject="Visa", body="How\n  long &amp; where?"):
    """A thread with one comment a label, `-` for a label that is not given."""
    comments = "".join(
        f'\n<RelComment RELC_ID="{qid}_C{i}"'
        + ("" if label == "-" else f' RELC_RELEVANCE2RELQ="{label}"')
        + f">\n<RelCText>{qid} says {i}</RelCText></RelComment>"
        for i, label in enumerate(labels.split(), 1)
    )
    question = f"<RelQSubject>{subject}</RelQSubject><RelQBody>{body}</RelQBody>"
    return (
        f'\n<Thread THREAD_SEQUENCE="{qid}" {attributes}>'
        f'<RelQuestion RELQ_ID="{qid}">{question}</RelQuestion>{comments}\n</Thread>'
    )


def full(qid, *rest):
    """A thread as the file of all subtasks has it."""
    original = "<OrgQSubject>o</OrgQSubject><OrgQBody>o</OrgQBody>"
    return f'\n<OrgQuestion ORGQ_ID="Q1">{original}{thread(qid, *rest)}\n</OrgQuestion>'


def xml(*threads, head=DTD):
    return f'{head}<xml version="1.0">{"".join(threads)}\n</xml>\n'


def in_order(split):
    """What a split holds, without the shuffling of candidates."""
    return {
        question.id: (
            question.text,
            [
                (candidate.id, candidate.text, candidate.label)
                for candidate in sorted(question.candidates, key=lambda candidate: candidate.place)
            ],
        )
        for question in split
    }
