"""The contracts of every store hold on tables in partitions too."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest
from tests.programs import PYTHONPATH, ROOT
from tests.stack import GIVEN_PARTS

pytestmark = [pytest.mark.integration, pytest.mark.nightly]


@pytest.mark.timeout(1800)
async def test_the_contracts_of_the_stores_hold_in_partitions() -> None:
    suites = ["tests/contract", "tests/integration/embedded/test_session_fixtures.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "integration", *suites]
    ran = await asyncio.to_thread(
        subprocess.run,
        command,
        env={**os.environ, "PYTHONPATH": PYTHONPATH, GIVEN_PARTS: "4"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout[-4000:]
