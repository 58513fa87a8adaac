import asyncio

import app


def test_backup(tmp_path):
    for name in ("source", "folder"):
        (tmp_path / name).mkdir()
    (tmp_path / "source" / "a").write_text("1")
    assert asyncio.run(app.backup(tmp_path / "source", tmp_path / "folder")) == 1


def test_copied(tmp_path):
    assert app.copied(tmp_path, tmp_path) == []
