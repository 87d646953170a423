from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from house import House

from tidegate.core.runtime import Runtime


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    built = House(tmp_path)
    yield built
    built.close()


@pytest.fixture
def runtime(house: House) -> Runtime:
    """On the sandbox under the balanced preset, with 100 SUI and 1,000 USDC."""
    runtime = house.open()
    runtime.network()
    return runtime
