import asyncio
from unittest import mock
from unittest.mock import MagicMock, patch

import app


def test_lambda(monkeypatch) -> None:
    monkeypatch.setattr(app, "helper", lambda number: 41)
    assert asyncio.run(app.show()) == 42


def test_function(monkeypatch) -> None:
    def fake(number: int) -> int:
        return 41

    monkeypatch.setattr("app.helper", fake)
    assert asyncio.run(app.show()) == 42


@patch("app.helper", return_value=41)
def test_patch(helper) -> None:
    assert asyncio.run(app.show()) == 42
    helper.assert_called_once_with(1)


def test_magic() -> None:
    with mock.patch.object(app, "helper", MagicMock(return_value=41)), patch.object(app.Store, "load", return_value=1):
        assert asyncio.run(app.show()) == 42


def test_side_effect() -> None:
    with mock.patch("app.helper", side_effect=lambda number: 41):
        assert asyncio.run(app.show()) == 42
