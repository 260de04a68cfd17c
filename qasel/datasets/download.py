"""One file over HTTP: resumed where it broke off, told by a bar, whole or not there at all."""

import re
import time
from pathlib import Path

from qasel.errors import QaselError

TRIES = 3
"""Connections made before giving up; each goes on where the last one broke off."""

PAUSE = 1.0
"""Seconds before the second try; doubled for each later one."""

_CHUNK = 1 << 14  # a piece cut short is lost with its connection, so pieces are small
_TIMEOUT = (15, 60)  # seconds to connect, and between two pieces


class _BrokenOffError(Exception):
    """The file did not come whole, though the server told of no error."""


def download(url: str, target: Path, *, progress: bool | None = None) -> Path:
    """Fetch `url` into `target` by way of `target.part`, which a later call goes on with.

    `progress` None shows the bar on a terminal only.

    Raises `QaselError` when the server cannot be reached, answers with an error
    or breaks off `TRIES` times; what was fetched stays in `target.part`.
    """
    import requests  # slow to import, and wanted by this one function

    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            _one_try(url, part, progress)
            part.replace(target)
            return target
        except requests.HTTPError as error:
            answer = error.response
            assert answer is not None  # as it comes of an answer's status
            status = answer.status_code
            reason = f"the server answers {status} {answer.reason}"
            if status < 500 and status != 429:
                break  # asking again would not help
        except (requests.RequestException, _BrokenOffError) as error:
            reason = _reason(error)
    raise QaselError(f"cannot download {url}: {reason}")


def _one_try(url: str, part: Path, progress: bool | None) -> None:
    """Add to `part` until it is whole; raises what `download` catches where it is not."""
    import requests
    from tqdm.auto import tqdm

    start = part.stat().st_size if part.exists() else 0
    # `identity`: the range and the sizes must count the file's own bytes, not compressed ones.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        known = re.search(r"/(\d+)$", response.headers.get("Content-Range", ""))
        if response.status_code == 416:  # nothing after `start`: whole already, or another file
            if known and int(known[1]) == start:
                return
            part.unlink(missing_ok=True)
            raise _BrokenOffError("the part fetched before does not fit; starting anew")
        response.raise_for_status()
        begins = re.match(rf"bytes {start}-", response.headers.get("Content-Range", ""))
        if response.status_code != 206 or not begins:
            start = 0  # a server that knows no ranges sends the file from its beginning
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        bar = tqdm(
            total=total,
            initial=start,
            unit="B",
            unit_scale=True,
            desc=part.name.removesuffix(".part"),
            disable=None if progress is None else not progress,
        )
        with bar, part.open("ab" if start else "wb") as file:
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    if total is not None and part.stat().st_size < total:
        raise _BrokenOffError(f"broke off after {part.stat().st_size} of {total} bytes")


def _reason(error: Exception) -> str:
    """Short words for the nested messages of the HTTP library."""
    import requests

    if isinstance(error, requests.Timeout):
        return "the server does not answer in time"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy refuses or cannot be reached"
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate cannot be verified"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off; the next call goes on from there"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached (is there a network?)"
    return str(error)
