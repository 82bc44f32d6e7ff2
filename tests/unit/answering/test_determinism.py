"""Equal input and version give byte-equal answers, whatever the process and its hash seed."""

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.test_ask import _handbook

from agentic_rag.answering.runs.answer_codec import encode

ROOT = Path(__file__).parents[3]
PROGRAM = "import asyncio; from tests.unit.answering import test_determinism as t; print(asyncio.run(t.digest()))"
QUESTIONS = (
    "At which wave height is crew transfer suspended?",
    "Who founded Corrand Tidal and when was Otter Voe commissioned?",
    "What is the boiling point of ethanol?",
    "Show document Staff handbook",
)


async def digest() -> str:
    """Of the stored answers to all questions."""
    world = World(_handbook())
    told = hashlib.sha256()
    for question in QUESTIONS:
        told.update(encode((await world.ask(question)).answer))
    await world.recorder.aclose()
    return told.hexdigest()


@pytest.mark.slow
def test_answers_do_not_depend_on_process_or_hash_seed() -> None:
    other = "4242" if os.environ.get("PYTHONHASHSEED") != "4242" else "0"
    environment = {"PYTHONHASHSEED": other, "PYTHONPATH": f"{ROOT / 'core'}:{ROOT}"}
    command = [sys.executable, "-c", PROGRAM]

    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    assert len(done.stdout.strip()) == 64
    assert done.stdout.strip() == asyncio.run(digest())
