"""What tests of the explorers do as a reader would: choose, type, and read the picture."""

import re
from html import unescape

from qasel.widgets.base import OWN


def pick(explorer, split, id):
    """Choose a question of the split by its id."""
    explorer.choice.value = [q.id for q in split].index(id)


def write_own(explorer, text, lines):
    """Type a question, and candidates, one a line."""
    explorer.choice.value = OWN
    explorer.text.value = text
    explorer.lines.value = lines


def plain(html):
    """The text of some HTML."""
    return unescape(re.sub("<.*?>", "", html)).replace("\N{NO-BREAK SPACE}", " ")


def tables(explorer):
    """The cells of each table in the picture, as text, a list a row."""
    found = []
    for body in re.findall("<tbody>(.*?)</tbody>", explorer.picture.value, re.DOTALL):
        rows = [
            re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in body.split("<tr>")[1:]
        ]
        found.append([[plain(cell).strip() for cell in row] for row in rows])
    return found


def told(explorer):
    """The first table, of names and what is said of them."""
    return dict(tables(explorer)[0])
