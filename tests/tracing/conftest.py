from collections.abc import Iterator

import pytest

from tests.tracing.collector import Collector, collecting


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as one:
        yield one
