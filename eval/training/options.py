"""The options and the output that the training commands share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path


def training_parser(description: str | None, sets: str, most: int | None = None) -> argparse.ArgumentParser:
    """`--set`, explained by `sets`, and what every command has; `most` is the default of `--questions`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", required=True, help=sets)
    many = "all" if most is None else str(most)
    parser.add_argument(
        "--questions", type=int, default=most, help=f"questions of each set, from its beginning; default: {many}"
    )
    parser.add_argument("--out", type=Path, help="write weights and figures to this file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def print_found(options: argparse.Namespace, found: Mapping[str, object], table: str) -> None:
    """Print what was found, and write it to the file if one is named."""
    shown = json.dumps(found, indent=2, ensure_ascii=False)
    if options.out is not None:
        options.out.write_text(shown + "\n", encoding="utf-8")
    print(shown if options.json else table)
