"""The examples of docs/archive.md, as they stand there, on an archive."""

import re

import pytest
from conftest import LAKE, ROOT, history, lake, run

PAGES = ["docs/archive.md", "docs/archive.ko.md"]


def blocks(page, mark):
    text = (ROOT / page).read_text()
    return re.findall(rf"```{mark}\n(.*?)\n```", text, re.S)


@pytest.fixture
def filled(store, archive):
    store.put(history(days=3))
    lake("export", "--store", store.file, "--lake", archive).ok()
    return archive


def test_duckdb_reads_it(filled):
    import duckdb

    (sql,) = blocks(PAGES[0], "sql duckdb")
    database = duckdb.connect()
    try:
        import duckdb_extensions

        for name in ("delta",):
            duckdb_extensions.import_extension(name, con=database)
    except ImportError:
        database.execute("INSTALL delta")
    database.execute("LOAD delta")
    found = database.execute(sql.replace("LAKE", str(filled))).fetchall()
    assert len(found) == 4 and all(row[3] == 48 for row in found), found


@pytest.mark.parametrize("mark,name,expected", [
    ("python pandas", "hourly", 4 * 72), ("python polars", "warned", 6), ("python spectra", "strongest_hz", 48),
])
def test_python_reads_it(filled, mark, name, expected):
    (code,) = blocks(PAGES[0], mark)
    names = {}
    exec(code.replace("LAKE", str(filled)), names)  # noqa: S102: the page's own example
    assert len(names[name]) == expected


def test_both_pages_show_the_same_examples():
    for mark in ("sql duckdb", "python pandas", "python polars", "python spectra", "sh"):
        assert blocks(PAGES[0], mark) == blocks(PAGES[1], mark), mark


def test_the_readme_of_the_archive_stands_in_it(filled):
    text = (filled / "README.md").read_text()
    assert "never by a glob" in text
    for table in ("events", "spectra", "judgements", "episodes", "follow_ups"):
        assert f"`{table}`" in text


def test_every_option_and_table_of_the_page_exists():
    page = (ROOT / PAGES[0]).read_text()
    commands = ["export", "run", "status", "verify", "files", "vacuum", "slice", "import", "columns"]
    help_texts = "".join(lake(command, "--help").ok().stdout for command in commands)
    others = {"--whole", "--slice", "--config", "--out", "--release", "--locked", "--manifest-path", "--period", "--start",
              "--rate", "--rpm", "--bearing", "--equipment", "--bearing-name", "--jsonl", "--log"}
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)) - others:
        assert option in help_texts, option
