"""Pins the images of the Dockerfile and the compose files by digest, as their registries tell it to the `docker` on
PATH (with buildx; no engine need run): ``python -m scripts.pin_images``. With ``--check`` it names those that are not
pinned so, and ends with 1; without it, it ends with 2 and changes nothing where one digest cannot be had. A tag and its
digest stand side by side: take away the digest where you change the tag. ``--refresh`` asks for every digest again, as
for a tag whose image was built anew, and names those that changed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
FILES = tuple(ROOT / name for name in ("Dockerfile", "docker-compose.yml", "docker-compose.dev.yml"))
OURS = "agentic-rag:local"
"""Built here, of a base that is pinned."""
NAMED = re.compile(r"^(?P<before># syntax=|ARG PYTHON=| +image: )(?P<image>\S+)$", re.M)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
ANSWER_SECONDS = 120.0


def unpinned(text: str) -> set[str]:
    """The images of a file that are named without a digest."""
    named = {one["image"] for one in NAMED.finditer(text)}
    return {image for image in named if image != OURS and not re.search(f"@{DIGEST.pattern}$", image)}


def without_digests(text: str) -> str:
    """The file with each image named by its tag alone."""
    return NAMED.sub(lambda found: re.sub(f"@{DIGEST.pattern}$", "", found[0]), text)


def pinned(text: str, digests: dict[str, str]) -> str:
    """The file with the digest behind each image that has one in `digests`."""

    def pin(found: re.Match[str]) -> str:
        digest = digests.get(found["image"])
        return f"{found[0]}@{digest}" if digest else found[0]

    return NAMED.sub(pin, text)


def digest_of(image: str) -> str:
    """What the image's registry says. Errors: `SystemExit` 2, told in a line, where it says nothing of use."""
    asked = ["docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", image]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=ANSWER_SECONDS)
    except subprocess.TimeoutExpired:
        _refuse(image, f"its registry gave no answer within {ANSWER_SECONDS:g} s")
    except OSError as error:
        _refuse(image, f"`docker` cannot be run: {error.strerror}")
    told = done.stdout.strip()
    if done.returncode or not DIGEST.fullmatch(told):
        _refuse(image, (done.stderr or told).strip()[-300:])
    return told


def _refuse(image: str, why: str) -> NoReturn:
    print(f"{image}: no digest: {' '.join(why.split())}; no file was changed", file=sys.stderr)
    raise SystemExit(2)


def pin(files: Iterable[Path], ask: Callable[[str], str] = digest_of, *, refresh: bool = False) -> dict[str, str]:
    """Pin every image of the files: all or none. With `refresh` also those that are pinned already.

    Returns the digests that were written and did not stand there before, by image.
    """
    before = {path: path.read_text("utf-8") for path in files}
    texts = {path: without_digests(text) if refresh else text for path, text in before.items()}
    digests = {image: ask(image) for image in sorted(set[str]().union(*map(unpinned, texts.values())))}
    for path, text in texts.items():
        path.write_text(pinned(text, digests), "utf-8")
    stated = {one["image"] for text in before.values() for one in NAMED.finditer(text)}
    return {image: digest for image, digest in digests.items() if f"{image}@{digest}" not in stated}


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m scripts.pin_images", description=__doc__)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="change nothing")
    how.add_argument("--refresh", action="store_true", help="ask for the digests that are stated already too")
    given = parser.parse_args()
    if given.check:
        left = [f"{path.name}: {image}" for path in FILES for image in sorted(unpinned(path.read_text("utf-8")))]
        print("\n".join(left) or "every image is pinned by digest")
        return int(bool(left))
    for image, digest in pin(FILES, refresh=given.refresh).items():
        print(f"{image} is {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
