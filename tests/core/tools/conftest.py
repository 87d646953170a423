"""A wallet on a sandbox network of its own, as tools are given it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tool_house import House, open_house


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with ExitStack() as opened:
        yield open_house(tmp_path, opened)
