"""Equal input and version give byte-equal answers, whatever the process and its hash seed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import asyncio, hashlib
from agentic_rag.answering.runs.answer_codec import encode
from tests.unit.answering.answering_world import World
from tests.unit.answering.test_ask import _handbook

QUESTIONS = (
    "At which wave height is crew transfer suspended?",
    "Who founded Corrand Tidal and when was Otter Voe commissioned?",
    "What is the boiling point of ethanol?",
    "Show document Staff handbook",
)

async def main():
    world = World(_handbook())
    digest = hashlib.sha256()
    for question in QUESTIONS:
        digest.update(encode((await world.ask(question)).answer))
    await world.recorder.aclose()
    print(digest.hexdigest())

asyncio.run(main())
"""


def _answers(seed: int) -> str:
    path = f"{ROOT / 'core'}:{ROOT}"
    environment = {"PYTHONHASHSEED": str(seed), "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_answers_do_not_depend_on_process_or_hash_seed() -> None:
    digests = {_answers(seed) for seed in (0, 4242)}
    assert len(digests) == 1
    assert len(digests.pop()) == 64
