"""Downloads from a server on this machine: whole, checked, unpacked within bounds."""

import gzip
import hashlib
import http.server
import importlib
import io
import tarfile
import threading
import zipfile

import pytest

from qasel.cli import main
from qasel.datasets import check, fetch
from qasel.datasets.fetch import download, unpack
from qasel.datasets.registry import COLLECTIONS, Collection
from qasel.errors import QaselError

# Not an `import`: in the package, the name stands for the function.
fetch_module = importlib.import_module("qasel.datasets.fetch")

GOOD = {
    "Toy/toy-train.tsv": b"question\tcandidate\r\nq\ta\r\n",
    "Toy/LICENSE.txt": b"free",
    "__MACOSX/Toy/._toy-train.tsv": b"junk",
}


class Server:
    """Files over HTTP; `cut` breaks each answer off after that many bytes."""

    def __init__(self):
        self.files, self.asked, self.cut, self.status = {}, 0, None, None
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, request):
        data = self.files.get(request.path.lstrip("/"))
        self.asked += 1
        if self.status or data is None:
            request.send_error(self.status or 404)
            return
        request.send_response(200)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data[: self.cut])


@pytest.fixture
def server(monkeypatch):
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def toy(server, monkeypatch):
    """A collection `toy` that the server has, with the sha256 of its one main file."""

    def make(data, hash_=None, unpack=True):
        server.files["toy.zip"] = data
        known = Collection(
            name="toy",
            title="a toy",
            folder="toy",
            source="here",
            licence="free",
            citation="nobody",
            url=f"{server.url}/toy.zip",
            hash=hash_,
            files=("toy-train.tsv",) if unpack else ("toy.zip",),
        )
        monkeypatch.setitem(COLLECTIONS, "toy", known)
        sums = {"toy/toy-train.tsv": {"sha256": SHA256, "bytes": 28}}
        monkeypatch.setattr(fetch_module, "checksums", lambda: {"toy": sums})

    return make


SHA256 = hashlib.sha256(GOOD["Toy/toy-train.tsv"]).hexdigest()


def zipped(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def tarred(*members, mode="w:bz2"):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, data, kind, link in members:
            info = tarfile.TarInfo(name)
            info.size, info.type, info.linkname = len(data), kind, link
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def files_below(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


# The download.


def test_a_download_is_whole_or_not_there(server, tmp_path):
    url = f"{server.url}/f"
    server.files["f"], server.cut = bytes(range(256)) * 600, 1 << 14
    with pytest.raises(QaselError, match="the connection broke off; by hand"):
        download(url, None, tmp_path, "by hand")
    assert files_below(tmp_path) == []
    server.cut = None
    assert download(url, None, tmp_path, "by hand").read_bytes() == server.files["f"]
    assert files_below(tmp_path) == ["f"]


@pytest.mark.parametrize("status", [404, 403, 503])
def test_a_server_that_refuses(server, tmp_path, status):
    server.status = status
    with pytest.raises(QaselError, match=f"the server answers {status} .*; by hand"):
        download(f"{server.url}/f", None, tmp_path, "by hand")
    assert files_below(tmp_path) == []


# From the source to the data folder.


def test_fetch_unpacks_checks_and_leaves_only_the_files(server, toy, tmp_path):
    toy(zipped(GOOD))
    assert fetch("toy", tmp_path) == [tmp_path / "toy" / "toy-train.tsv"]
    assert files_below(tmp_path) == ["toy/LICENSE.txt", "toy/toy-train.tsv"]
    assert [(file.file, file.status) for file in check("toy", tmp_path)] == [
        ("toy/toy-train.tsv", "ok")
    ]
    fetch("toy", tmp_path)
    assert server.asked == 1, "what is there is not fetched again"


def test_fetch_uses_qasel_data_or_the_cache(toy, tmp_path, monkeypatch):
    toy(zipped(GOOD))
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache" / name)
    monkeypatch.setenv("QASEL_DATA", str(tmp_path / "named"))
    assert fetch("toy")[0].is_relative_to(tmp_path / "named")
    monkeypatch.delenv("QASEL_DATA")
    assert fetch("toy")[0].is_relative_to(tmp_path / "cache" / "qasel")


def test_the_command_tells_source_licence_and_files(toy, tmp_path, capsys):
    toy(zipped(GOOD))
    assert main(["data", "fetch", "toy", "--data-dir", str(tmp_path)]) == 0
    file = tmp_path / "toy" / "toy-train.tsv"
    assert capsys.readouterr().out == f"toy: here. Licence: free. Cite: nobody.\n{file}\n"


def test_fetch_keeps_an_archive_that_is_read_as_it_is(server, toy, tmp_path):
    data = zipped(GOOD)
    toy(data, f"sha256:{hashlib.sha256(data).hexdigest()}", unpack=False)
    assert fetch("toy", tmp_path)[0].read_bytes() == data
    assert files_below(tmp_path) == ["toy/toy.zip"]
    fetch("toy", tmp_path)
    assert server.asked == 1


@pytest.mark.parametrize(
    ("members", "hash_", "message"),
    [
        (GOOD | {"Toy/toy-train.tsv": b"changed"}, None, "toy-train.tsv is not the published file"),
        ({"Toy/other": b""}, None, "the archive has no file toy-train.tsv"),
        (GOOD, "md5:" + "0" * 32, "not the published file .its md5 differs"),
        (GOOD | {"../evil": b"x"}, None, "leads out of the folder"),
        (None, None, "neither a zip nor a tar"),
    ],
)
def test_a_wrong_archive_leaves_nothing_behind(toy, tmp_path, members, hash_, message):
    toy(b"<html>moved</html>" if members is None else zipped(members), hash_)
    with pytest.raises(QaselError, match=message):
        fetch("toy", tmp_path / "data")
    assert files_below(tmp_path) == []
    assert [path.name for path in (tmp_path / "data").rglob("*")] == ["toy"]


def test_a_wrong_archive_leaves_the_files_of_before(toy, tmp_path):
    toy(zipped(GOOD | {"Toy/toy-train.tsv": b"changed"}))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "toy-train.tsv").write_bytes(b"mine")
    with pytest.raises(QaselError):
        fetch("toy", tmp_path)
    assert (tmp_path / "toy" / "toy-train.tsv").read_bytes() == b"mine"


def test_no_network_is_one_clear_error_with_the_manual_way(server, toy, tmp_path):
    toy(b"")
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(QaselError) as error:
        fetch("toy", tmp_path)
    message = str(error.value)
    assert "cannot download http" in message
    assert "cannot be reached" in message
    assert f"by hand, unpack it into {tmp_path / 'toy'}" in message
    assert "qasel data check toy" in message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sample", "bundled"),
        ("mnli", "no download is built in.*qasel data check mnli"),
        ("wikiq", "did you mean 'wikiqa'"),
    ],
)
def test_what_cannot_be_fetched_says_so(name, message, tmp_path):
    with pytest.raises(QaselError, match=message):
        fetch(name, tmp_path)


# Archives.

LINK, HARD, FILE = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.REGTYPE


def zip_link(target):
    info = zipfile.ZipInfo("a/link")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/file", b"x")
        archive.writestr(info, target)
    return file.getvalue()


HOSTILE = {
    "zip, dots": zipped({"a/ok": b"", "../evil": b""}),
    "zip, dots inside": zipped({"a/b/../../evil": b""}),
    "zip, absolute": zipped({"/tmp/evil": b""}),
    "zip, backslashes": zipped({"..\\evil": b""}),
    "zip, drive": zipped({"C:\\evil": b""}),
    "tar, dots": tarred(("ok", b"", FILE, ""), ("../evil", b"", FILE, "")),
    "tar, absolute": tarred(("/tmp/evil", b"", FILE, "")),
    "tar, link": tarred(("a/link", b"", LINK, "../../evil")),
    "tar, absolute link": tarred(("a/link", b"", LINK, "/etc/passwd")),
    "tar, hard link": tarred(("a/link", b"", HARD, "../evil")),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_an_archive_that_leads_out_is_refused_before_anything_is_written(tmp_path, case):
    (tmp_path / "pack").write_bytes(HOSTILE[case])
    with pytest.raises(QaselError, match="refused"):
        unpack(tmp_path / "pack", tmp_path / "in" / "here")
    assert files_below(tmp_path) == ["pack"]


def test_a_zip_makes_no_links(tmp_path):
    (tmp_path / "pack").write_bytes(zip_link("/etc/passwd"))
    link = unpack(tmp_path / "pack", tmp_path / "out")["link"]
    assert not link.is_symlink()
    assert link.read_text() == "/etc/passwd"


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2"])
def test_a_tar_is_unpacked_and_harmless_links_are_left_out(tmp_path, mode):
    data = tarred(("top/a", b"1", FILE, ""), ("top/b", b"", LINK, "a"), mode=mode)
    (tmp_path / "pack").write_bytes(data)
    assert list(unpack(tmp_path / "pack", tmp_path / "out")) == ["a"]
    assert files_below(tmp_path / "out") == ["top/a", "top/b"]  # the link is moved by nobody


@pytest.mark.parametrize(
    "data",
    [
        tarred((".", b"", tarfile.DIRTYPE, ""), ("./a", b"1", FILE, "")),
        zipped({"./": b"", "./a": b"1"}),
    ],
    ids=["tar", "zip"],
)
def test_an_archive_of_the_folder_one_is_in(tmp_path, data):
    (tmp_path / "pack").write_bytes(data)
    assert list(unpack(tmp_path / "pack", tmp_path / "out")) == ["a"]


DAMAGED = {
    "cut zip": zipped(GOOD)[40:],
    "cut tar": tarred(("a", b"x" * 9999, FILE, ""))[:-30],
    "a member without a name": zipped({".": b"x"}),
    "a tar's member without a name": tarred((".", b"x", FILE, "")),
    "a file that is a folder too": zipped({"a/b": b"x", "a/b/c": b"x", "d": b""}),
    "a name that is not UTF-8": zipped({"é": b"x"}).replace("é".encode(), b"\xff\xfe"),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_archive_is_told(tmp_path, data):
    (tmp_path / "pack").write_bytes(data)
    with pytest.raises(QaselError, match="archive"):
        unpack(tmp_path / "pack", tmp_path / "out")


# Checking.


def test_check_tells_every_state_and_minds_contents_only(toy, tmp_path):
    toy(b"")
    path = tmp_path / "toy" / "toy-train.tsv.gz"

    def status():
        return [file.status for file in check("toy", tmp_path)]

    assert status() == ["absent"]
    path.parent.mkdir()
    path.write_bytes(gzip.compress(GOOD["Toy/toy-train.tsv"]))
    assert status() == ["ok"]
    path.write_bytes(gzip.compress(b"other"))
    assert status() == ["wrong sha256"]
    path.write_bytes(gzip.compress(b"other")[:-4])
    assert status() == ["unreadable"]


def test_the_real_files_match_their_checksums(data_dir):
    states = {file.status for file in check("wikiqa", data_dir)}
    states |= {file.status for file in check("vectors", data_dir)}
    assert states == {"ok"}
