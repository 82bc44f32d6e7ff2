"""A block that bash reads otherwise than dash is noticed without a second run of its programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.acceptance.recorded_commands import NOT_RECORDED, calls, install, replaying

Done = subprocess.CompletedProcess[str]


def both(home: Path, block: str) -> tuple[dict[str, str], Done, dict[str, str], Done]:
    """The terminals in which dash ran a block with one program, and bash was given its replies."""
    (home / "bin").mkdir()
    base = {"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "HOME": str(home)}
    runs = home / "runs"
    terminal = install(home / "recorded", home / "bin", {"tell": ["sh", "-c", f'echo >> {runs}; echo "$@"', "-"]}, base)
    replayed = replaying(terminal)
    shown = [
        subprocess.run([shell, "-euc", block], env=environment, cwd=home, capture_output=True, text=True)
        for shell, environment in (("dash", terminal), ("bash", replayed))
    ]
    return terminal, shown[0], replayed, shown[1]


def test_the_second_shell_is_told_what_the_first_was(tmp_path: Path) -> None:
    block = "tell one\nexport SAID=$(tell 'two words')\nOWN=1 tell \"$SAID\" &\nwait"

    first, of_dash, second, of_bash = both(tmp_path, block)

    assert (of_dash.returncode, of_dash.stdout) == (0, "one\ntwo words\n"), of_dash.stderr
    assert (of_bash.returncode, of_bash.stdout) == (0, of_dash.stdout), of_bash.stderr
    assert calls(second) == calls(first)
    assert ("tell", "two words", "OWN=1", "SAID=two words") in calls(first)
    assert len((tmp_path / "runs").read_text().splitlines()) == 3


def test_a_block_that_shells_read_otherwise_is_noticed(tmp_path: Path) -> None:
    """The echo of dash makes a tabulator of these characters, that of bash does not."""
    first, of_dash, second, of_bash = both(tmp_path, "tell \"$(echo 'a\\tb')\"")

    assert (of_dash.returncode, of_bash.returncode) == (0, NOT_RECORDED)
    assert calls(second) != calls(first)
