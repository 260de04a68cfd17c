"""Base classes of all explorers: controls above one HTML picture, which stands alone when saved.

How to write an explorer:

* Subclass `Explorer`: create the controls, call `super().__init__(rows, watched)` last, and add a
  method `view` that returns the picture for the current values of the controls as HTML. Subclass
  `QuestionExplorer` for a question that the reader picks or types (`self.question`), and
  `CandidateExplorer` for its candidates.
* Pass text from data or the reader through `escape` (or `words`, which escapes). A `QaselError`
  raised in `view` is shown to the reader in place of the picture.
* Use inline styles only: untrusted notebooks drop `<style>` and scripts. Some sites drop all
  styles, so a colour must never be the only carrier of a meaning.
* Do not use `print`, `Output` or `interactive`: their output would end up in the saved notebook.

A saved notebook holds the picture at the time the cell ran, as `text/html`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, ClassVar

import ipywidgets as widgets
from IPython.display import HTML
from matplotlib.colors import to_hex, to_rgb

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.figures.style import GREY, INK, SKY, VERMILLION

_VIEW = "application/vnd.jupyter.widget-view+json"
_CELL = "text-align:left;vertical-align:top;padding:4px 8px;white-space:normal"
_WIDE = {"layout": {"width": "min(48rem, 100%)"}}
OWN = -1
"""Value of `QuestionExplorer.choice` when the reader types a question."""


class Explorer(widgets.VBox):
    """Rows of controls, one below the other, above a picture.

    The picture is redrawn whenever the value of a control in `watched` changes.
    """

    hint = "Run this notebook to change the choices: this is a picture of the first one."

    def __init__(self, rows: Iterable[widgets.Widget], watched: Iterable[widgets.Widget]) -> None:
        self.picture = widgets.HTML(layout=widgets.Layout(width="100%"))
        super().__init__([*rows, self.picture])
        for control in watched:
            control.observe(self.refresh, names="value")
        self.refresh()

    @abstractmethod
    def view(self) -> str:
        """Return the picture for the current values of the controls, as HTML."""

    def refresh(self, _change: Any = None) -> None:
        """Draw the picture; a `QaselError` is shown in its place."""
        try:
            picture = self.view()
        except QaselError as error:
            picture = notice(str(error))
        # In widgets, lines of text are as high as a button by default.
        self.picture.value = f'<div style="line-height:1.4">{picture}</div>'

    def static(self) -> str:
        """Return the HTML that a notebook saves: the current picture, with `hint` below it."""
        return (
            f'<div>{self.picture.value}<p><small style="color:{GREY}">{self.hint}</small></p></div>'
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": repr(self), "text/html": self.static(), _VIEW: view}


class QuestionExplorer(Explorer):
    """An explorer of one question, picked from a split or typed by the reader.

    `self.question` is the chosen question; `self.typed` tells whether the reader typed it.
    `rows` and `watched` are further controls of a subclass. `first` is the id of the question
    shown at the start. Raises `QaselError` if it is not in the split, or the split is empty.
    """

    def __init__(
        self,
        split: Split,
        rows: Iterable[widgets.Widget] = (),
        watched: Iterable[widgets.Widget] = (),
        first: str | None = None,
    ) -> None:
        self.split = split
        ids = [question.id for question in split]
        if not ids:
            raise QaselError(f"{split.name} has no question to explore")
        if first is not None and first not in ids:
            raise QaselError(f"{split.name} has no question {first!r}")
        options = [("✎ type your own question …", OWN)]
        options += [(question.text, i) for i, question in enumerate(split)]
        start = ids.index(first) if first is not None else 0
        self.choice = widgets.Dropdown(
            options=options, value=start, description="Question", **_WIDE
        )
        typed = _WIDE | {"continuous_update": False}
        self.text = widgets.Text(description="Yours", placeholder="a question", **typed)
        told = "one candidate per line; begin a line with + if it is a right answer"
        self.lines = widgets.Textarea(description="Candidates", placeholder=told, rows=5, **typed)
        show = widgets.Button(description="Show", button_style="primary")
        show.on_click(self.refresh)
        self.own = widgets.VBox([self.text, self.lines, show])
        fields = (self.choice, self.text, self.lines)
        super().__init__([self.choice, self.own, *rows], [*fields, *watched])

    def refresh(self, change: Any = None) -> None:
        """Show the input fields only while the reader types a question, and redraw."""
        self.own.layout.display = None if self.typed else "none"
        super().refresh(change)

    @property
    def typed(self) -> bool:
        """Whether the reader types the question."""
        return self.choice.value == OWN

    @property
    def question(self) -> Question:
        """The question picked or typed; raises `QaselError` while a typed one is incomplete."""
        if not self.typed:
            return self.split[self.choice.value]
        text = self.text.value.strip()
        lines = [line.strip() for line in self.lines.value.splitlines()]
        lines = [line for line in lines if line.lstrip("+").strip()]
        if not text or not lines:
            raise QaselError("Type a question, and paste its candidates, one per line.")
        known = any(line.startswith("+") for line in lines)
        candidates = []
        for place, line in enumerate(lines):
            label = int(line.startswith("+")) if known else None
            candidates.append(Candidate(f"typed-{place}", line.lstrip("+").strip(), label, place))
        return Question("typed", text, tuple(candidates))


def notice(text: str) -> str:
    """Return a message to the reader, as HTML."""
    return f'<p style="color:{VERMILLION}">{escape(text)}</p>'


def number(value: float, sign: str = "") -> str:
    """Format with three decimals and a real minus sign."""
    return f"{round(value, 3) + 0.0:{sign}.3f}".replace("-", "−")


def short(value: float) -> str:
    """Format with three significant digits, more only before the point, and a real minus sign."""
    shown = f"{value:.0f}" if abs(value) >= 100 else f"{value + 0.0:.3g}"
    return shown.replace("-", "−")


def cut(text: str, length: int) -> str:
    """Shorten a text that has more than `length` characters."""
    return text if len(text) <= length else f"{text[:length].rstrip()} …"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table of cells that are already HTML, aligned to the left and the top."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f'<{tag} style="{_CELL}">{c}</{tag}>' for c in cells) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    top = f"<thead>{line('th', head)}</thead>" if any(head) else ""
    told = f"<caption>{caption}</caption>" if caption else ""
    return f"<table>{told}{top}<tbody>{body}</tbody></table>"


def listing(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> HTML:
    """Return a table of plain text for a notebook; escaped and, unlike in pandas, left-aligned."""
    cells = [[escape(str(cell)) for cell in row] for row in rows]
    return HTML(table([escape(title) for title in head], cells))


def bar(share: float, colour: str = GREY, width: int = 90) -> str:
    """Return a horizontal bar, `share` (0 to 1) times `width` pixels long."""
    pixels = round(width * min(max(share, 0.0), 1.0))
    style = f"display:inline-block;height:8px;width:{pixels}px;background-color:{colour}"
    return f'<span style="{style}"></span>'


def shade(text: str, weight: float) -> str:
    """Return escaped text on a blue background, stronger for a larger `weight` (0 to 1)."""
    share = min(max(weight, 0.0), 1.0)
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(SKY))
    style = f"background-color:{to_hex((red, green, blue))};color:{INK};padding:0 2px"
    return f'<span style="{style}">{escape(text)}</span>'


def words(text: str, mark: Callable[[str], bool]) -> str:
    """Return escaped text that highlights the words for which `mark(lower-cased word)` is true."""
    pieces = []
    for word in text.split():
        core = word.strip(".,;:!?\"'()[]`").lower()
        pieces.append(f"<b>{shade(word, 0.45)}</b>" if mark(core) else escape(word))
    return " ".join(pieces)


MARKS = {1: "✓", 0: "✗", None: "?"}
"""Label → symbol: relevant, non-relevant, unknown."""


class CandidateExplorer(QuestionExplorer):
    """An explorer of one candidate of the question, or one for each of several `kinds`.

    `kinds` maps names to labels. Each kind has a dropdown that offers the candidates with its
    labels, in the order of `ordered`, and starts at the first relevant one, if any. Subclasses
    define `picture_of(question, *candidates)`, one candidate per kind, instead of `view`.
    """

    kinds: ClassVar[Mapping[str, Sequence[int | None]]] = {"Candidate": (1, 0, None)}
    picture_of: Callable[..., str]

    def __init__(
        self,
        split: Split,
        rows: Iterable[widgets.Widget] = (),
        watched: Iterable[widgets.Widget] = (),
        first: str | None = None,
    ) -> None:
        self._offered: Question | None = None
        self._offering = False
        self.picks = [widgets.Dropdown(description=kind, **_WIDE) for kind in self.kinds]
        super().__init__(split, [*self.picks, *rows], [*self.picks, *watched], first)

    def refresh(self, change: Any = None) -> None:
        """Redraw, but not while `offer` changes several controls."""
        if not self._offering:
            super().refresh(change)

    def view(self) -> str:
        """Offer the candidates of a newly chosen question, then return the picture."""
        question = self.question
        if question != self._offered:
            self._offering = True
            try:
                self.offer(question)
            finally:
                self._offering = False
            self._offered = question
        for kind, pick in zip(self.kinds, self.picks, strict=True):
            if pick.value is None:
                raise QaselError(
                    f"There is no {kind.lower()} candidate: pick another question, or type "
                    "candidates of both kinds, the lines of the right ones beginning with +."
                )
        return self.picture_of(question, *(pick.value for pick in self.picks))

    def offer(self, question: Question) -> None:
        """Put the candidates of a question into the dropdowns."""
        ranked = self.ordered(question)
        for pick, labels in zip(self.picks, self.kinds.values(), strict=True):
            offered = [candidate for candidate in ranked if candidate.label in labels]
            pick.set_trait("options", [(f"{MARKS[c.label]} {c.text}", c) for c in offered])
            best = [c for c in offered if c.label == 1] or offered
            pick.value = best[0] if best else None

    def ordered(self, question: Question) -> list[Candidate]:
        """Return the candidates in the order in which they are offered: file order."""
        return sorted(question.candidates, key=lambda candidate: candidate.place)
