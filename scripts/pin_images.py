"""Pins the images of the Dockerfile and the compose files by digest, as their registries tell it to the `docker` on
PATH (with buildx; no engine need run): ``python -m scripts.pin_images``. With ``--check`` it names those that are not
pinned so, and ends with 1. A tag and its digest stand side by side: take away the digest where you change the tag.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = tuple(ROOT / name for name in ("Dockerfile", "docker-compose.yml", "docker-compose.dev.yml"))
OURS = "agentic-rag:local"
"""Built here, of a base that is pinned."""
NAMED = re.compile(r"^(?P<before># syntax=|ARG PYTHON=| +image: )(?P<image>\S+)$", re.M)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def unpinned(text: str) -> set[str]:
    """The images of a file that are named without a digest."""
    named = {one["image"] for one in NAMED.finditer(text)}
    return {image for image in named if image != OURS and not re.search(f"@{DIGEST.pattern}$", image)}


def pinned(text: str, digests: dict[str, str]) -> str:
    """The file with the digest behind each image that has one in `digests`."""

    def pin(found: re.Match[str]) -> str:
        digest = digests.get(found["image"])
        return f"{found[0]}@{digest}" if digest else found[0]

    return NAMED.sub(pin, text)


def digest_of(image: str) -> str:
    """What the image's registry says. Errors: `SystemExit` where it says nothing of use."""
    asked = ["docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", image]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120)
    told = done.stdout.strip()
    if done.returncode or not DIGEST.fullmatch(told):
        raise SystemExit(f"{image}: no digest: {(done.stderr or told).strip()[-300:]}; no file was changed")
    return told


def pin(files: Iterable[Path], ask: Callable[[str], str] = digest_of) -> dict[str, str]:
    """Pin every image of the files: all or none. Returns the digests by image."""
    texts = {path: path.read_text("utf-8") for path in files}
    digests = {image: ask(image) for image in sorted(set[str]().union(*map(unpinned, texts.values())))}
    for path, text in texts.items():
        path.write_text(pinned(text, digests), "utf-8")
    return digests


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m scripts.pin_images", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing")
    if parser.parse_args().check:
        left = [f"{path.name}: {image}" for path in FILES for image in sorted(unpinned(path.read_text("utf-8")))]
        print("\n".join(left) or "every image is pinned by digest")
        return int(bool(left))
    for image, digest in pin(FILES).items():
        print(f"{image} is {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
