"""`rag worker`; the one that leads counts jobs and documents twice a second and looks for maintenance every two, so
that no test waits for its figures. What falls behind is counted before it is caught up.
"""

from __future__ import annotations

from functools import partial
from unittest import mock

from agentic_rag_cli.main import main
from agentic_rag_worker import worker

SECONDS = 0.5

if __name__ == "__main__":
    quick = partial(worker.WorkerTimings, counts=SECONDS, corpus=SECONDS, upkeep=4 * SECONDS)
    with mock.patch.object(worker, "WorkerTimings", quick):
        main()
