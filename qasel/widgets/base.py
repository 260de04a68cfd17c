"""What every explorer is: controls above one picture in HTML, which stands alone when saved.

How to write one:

* A subclass of `Explorer` makes its controls, calls `super().__init__(rows, watched)` last, and
  has a method `view` that returns the picture for the controls' present values as HTML. One about
  a question that the reader picks or types subclasses `QuestionExplorer` and reads
  `self.question`; one about its candidates, `CandidateExplorer`.
* Text from data or from the reader goes through `escape` (or `words`, which does so); a
  `QaselError` raised in `view` is shown to the reader in place of the picture.
* Only inline styles: `<style>` and scripts are dropped where a notebook is not trusted, and
  some sites drop styles altogether, so no meaning may hang on a colour alone.
* No `print`, `Output` or `interactive`: what they write would end up in the saved notebook.

A saved notebook holds the picture of the moment when the cell ran, as `text/html`.
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
"""The value of `QuestionExplorer.choice` when the reader types a question."""


class Explorer(widgets.VBox):
    """Rows of controls, one below the other, and under them a picture.

    A change of the value of a control in `watched` draws the picture anew.
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
        """The picture for the present values of the controls, as HTML."""

    def refresh(self, _change: Any = None) -> None:
        """Draw the picture; a `QaselError` is shown in its place."""
        try:
            picture = self.view()
        except QaselError as error:
            picture = notice(str(error))
        # Widgets have lines as high as a button.
        self.picture.value = f'<div style="line-height:1.4">{picture}</div>'

    def static(self) -> str:
        """The picture that is saved: that of the moment, and a word on what it is."""
        return (
            f'<div>{self.picture.value}<p><small style="color:{GREY}">{self.hint}</small></p></div>'
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": repr(self), "text/html": self.static(), _VIEW: view}


class QuestionExplorer(Explorer):
    """An explorer about one question of a split, or one that the reader types.

    `self.question` is the question chosen; `self.typed` tells whether the reader typed it.
    `rows` and `watched` are the subclass's further controls. `first` is the id of the
    question shown at the start. Raises `QaselError` when the split does not have it, or has none.
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
        """Show the fields for a question of one's own where one is chosen, and draw."""
        self.own.layout.display = None if self.typed else "none"
        super().refresh(change)

    @property
    def typed(self) -> bool:
        """Whether the reader types the question."""
        return self.choice.value == OWN

    @property
    def question(self) -> Question:
        """The question picked or typed; `QaselError` while one that is typed is not complete."""
        if not self.typed:
            return self.split[self.choice.value]
        text = self.text.value.strip()
        lines = [line.strip() for line in self.lines.value.splitlines()]
        lines = [line for line in lines if line.lstrip("+").strip()]
        if not text or not lines:
            raise QaselError("Type a question, and paste its candidates, one a line.")
        known = any(line.startswith("+") for line in lines)
        candidates = []
        for place, line in enumerate(lines):
            label = int(line.startswith("+")) if known else None
            candidates.append(Candidate(f"typed-{place}", line.lstrip("+").strip(), label, place))
        return Question("typed", text, tuple(candidates))


def notice(text: str) -> str:
    """A message to the reader, as HTML."""
    return f'<p style="color:{VERMILLION}">{escape(text)}</p>'


def number(value: float, sign: str = "") -> str:
    """Three digits, and a real minus sign."""
    return f"{round(value, 3) + 0.0:{sign}.3f}".replace("-", "−")


def short(value: float) -> str:
    """Three significant digits, more only before the point, and a real minus sign."""
    shown = f"{value:.0f}" if abs(value) >= 100 else f"{value + 0.0:.3g}"
    return shown.replace("-", "−")


def cut(text: str, length: int) -> str:
    """The beginning of a text that is longer than `length` characters."""
    return text if len(text) <= length else f"{text[:length].rstrip()} …"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table of cells that are HTML already, left-aligned at the top."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f'<{tag} style="{_CELL}">{c}</{tag}>' for c in cells) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    top = f"<thead>{line('th', head)}</thead>" if any(head) else ""
    told = f"<caption>{caption}</caption>" if caption else ""
    return f"<table>{told}{top}<tbody>{body}</tbody></table>"


def listing(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> HTML:
    """A table of plain texts for a notebook to show; escaped and, unlike pandas's, left-aligned."""
    cells = [[escape(str(cell)) for cell in row] for row in rows]
    return HTML(table([escape(title) for title in head], cells))


def bar(share: float, colour: str = GREY, width: int = 90) -> str:
    """A horizontal bar `share` (0 to 1) of `width` pixels long."""
    pixels = round(width * min(max(share, 0.0), 1.0))
    style = f"display:inline-block;height:8px;width:{pixels}px;background-color:{colour}"
    return f'<span style="{style}"></span>'


def shade(text: str, weight: float) -> str:
    """Text on a blue ground, the stronger the larger `weight` (0 to 1); escaped."""
    share = min(max(weight, 0.0), 1.0)
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(SKY))
    style = f"background-color:{to_hex((red, green, blue))};color:{INK};padding:0 2px"
    return f'<span style="{style}">{escape(text)}</span>'


def words(text: str, mark: Callable[[str], bool]) -> str:
    """Escaped text in which the words for which `mark(lower-cased word)` holds stand out."""
    pieces = []
    for word in text.split():
        core = word.strip(".,;:!?\"'()[]`").lower()
        pieces.append(f"<b>{shade(word, 0.45)}</b>" if mark(core) else escape(word))
    return " ".join(pieces)


MARKS = {1: "✓", 0: "✗", None: "?"}
"""How a label is shown: right, wrong, not known."""


class CandidateExplorer(QuestionExplorer):
    """An explorer about a candidate of the question, or one of each of several `kinds`.

    A kind has a dropdown of that name, which offers the candidates with the kind's labels in the
    order of `ordered` and opens with the first right one, if there is one. A subclass has a method
    `picture_of(question, *candidates)`, one candidate per kind, in place of `view`.
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
        """Draw, but not while candidates are offered, which changes several controls."""
        if not self._offering:
            super().refresh(change)

    def view(self) -> str:
        """Offer the candidates of a question that was just chosen, then draw."""
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
        """The candidates as they are offered: in the order of their file."""
        return sorted(question.candidates, key=lambda candidate: candidate.place)
