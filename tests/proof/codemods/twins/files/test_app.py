import asyncio

import app


def test_change(tmp_path) -> None:
    path = str(tmp_path / "settings.json")
    (tmp_path / "settings.json").write_text("{}")
    assert asyncio.run(app.change(path, "a")) == ({"a": 0}, ["a"])
    assert asyncio.run(app.change(path, "b")) == ({"a": 0, "b": 1}, ["a", "b"])
    assert asyncio.run(app.in_thread(path)) == {"a": 0, "b": 1}
    assert (tmp_path / "settings.json").read_text() == '{\n  "a": 0,\n  "b": 1\n}'


def test_note(tmp_path) -> None:
    path = str(tmp_path / "notes")
    assert asyncio.run(app.note(path, "a")) == path
    assert (tmp_path / "notes").read_text() == "a"
