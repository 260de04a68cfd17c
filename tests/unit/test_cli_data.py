"""The `qasel` command's skeleton and `qasel data`: statuses, and one clear line for each fault."""

import importlib
import re
import subprocess
import sys

import pytest

from qasel import cli
from qasel.datasets.registry import COLLECTIONS


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("QASEL_DATA", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")


def qasel(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_list_names_every_collection(capsys, tmp_path):
    status, out, err = qasel(capsys, "data", "list", "--data-dir", tmp_path)
    assert (status, err) == (0, "")
    assert all(re.search(f"^{re.escape(name)} ", out, re.MULTILINE) for name in COLLECTIONS)
    row = r"^sample +all, answered\*, mixed, related +6 of 6 +bundled"
    assert re.search(row, out, re.MULTILINE)
    assert re.search("^fnc-1 +pairs +0 of 4 +by hand", out, re.MULTILINE)


def test_describe_the_sample(capsys):
    status, out, err = qasel(capsys, "data", "describe", "sample")
    assert (status, err) == (0, "")
    assert out.startswith("sample, protocol answered\nsplit  questions  answered  mixed  pairs")
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["train", "dev", "test"]


def test_describe_ones_own_folder(capsys, tmp_path):
    (tmp_path / "test.tsv").write_text("question\tcandidate\tlabel\nq\ta\t1\nq\tb\t0\n")
    status, out, _ = qasel(capsys, "data", "describe", tmp_path, "--protocol", "mixed")
    assert status == 0
    assert out.splitlines()[2].split()[:6] == ["test", "1", "1", "1", "2", "1"]


def test_check_everything_without_data(capsys, tmp_path):
    status, out, _ = qasel(capsys, "data", "check", "--data-dir", tmp_path)
    assert status == 0
    assert "absent" in out


def test_check_a_changed_file(capsys, tmp_path):
    (tmp_path / "wikiqa").mkdir()
    (tmp_path / "wikiqa" / "WikiQA-dev.tsv").write_text("changed")
    status, out, err = qasel(capsys, "data", "check", "wikiqa", "--data-dir", tmp_path)
    assert status == 2
    assert re.search("wikiqa +wrong sha256 +wikiqa/WikiQA-dev.tsv", out)
    assert "WikiQA-dev.tsv: wrong sha256; delete it" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["data"], "Missing command; see `qasel data --help`"),
        (["data", "fetch"], "Missing argument"),
        (["data", "list", "--nope"], "No such option"),
        (["data", "fetch", "wikki"], "did you mean 'wikiqa'"),
        (["data", "check", "wikki"], "unknown data set 'wikki'"),
        (["data", "check", "mnli", "--data-dir", "{tmp}"], "no file of mnli is here"),
        (["data", "describe", "sample", "--protocol", "raw"], "unknown protocol of sample 'raw'"),
        (["data", "describe", "wikiqa", "--data-dir", "{tmp}"], "qasel data fetch wikiqa"),
        (["data", "describe", "{tmp}/none"], "no such folder"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, monkeypatch, tmp_path, arguments, message):
    monkeypatch.setattr("qasel.locations.DATA", tmp_path)
    arguments = [argument.format(tmp=tmp_path) for argument in arguments]
    status, _, err = qasel(capsys, *arguments)
    assert status == 2
    assert err.startswith("qasel: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_folder_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = qasel(capsys, "data", "fetch", "wikiqa", "--data-dir", tmp_path / "file")
    assert status == 2
    assert err.startswith("qasel: error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (KeyboardInterrupt(), 130),
        (PermissionError(13, "Permission denied", "there"), 2),
        (OSError("odd"), 2),
    ],
)
def test_faults_of_the_machine(capsys, monkeypatch, fault, status):
    def fail(*arguments, **options):
        raise fault

    monkeypatch.setattr(importlib.import_module("qasel.datasets.fetch"), "check", fail)
    got, _, err = qasel(capsys, "data", "list")
    assert got == status
    assert err.count("\n") <= 1
    assert "Traceback" not in err


def test_help_is_quick_since_nothing_heavy_is_imported():
    code = "import sys, qasel.cli; heavy = {'torch', 'pandas', 'numpy', 'dask'}; "
    code += "print(sorted(heavy & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
