"""A worker whose web is made up: it reads any page of public.test, each of which states a serial number."""

from __future__ import annotations

import asyncio
from functools import partial

from agentic_rag.adapters.web import fetcher
from agentic_rag.bootstrap import build_container
from agentic_rag.settings import load_settings
from agentic_rag_worker.job_handlers import job_handlers
from agentic_rag_worker.worker import run_worker, worker_options
from tests.soak.facts import make_fact
from tests.web_world import Page, answer, opened_web

FIRST_UNIT = 50_000
"""Of the web: no document of a client is about the same unit and states another serial number."""


class EndlessPages(dict[str, Page]):
    """A page for each path below /page/."""

    def get(self, key: str, default: Page | None = None) -> Page | None:  # type: ignore[override]
        number = key.removeprefix("/page/")
        return answer(make_fact("web", FIRST_UNIT + int(number)).text) if number.isdigit() else default


async def main() -> None:
    settings = load_settings()
    async with opened_web() as web, build_container(settings) as container:
        web.pages = EndlessPages()
        guarded = fetcher.GuardedFetcher
        fetcher.GuardedFetcher = partial(guarded, resolve=web.resolve, dial=web.dial, tls=web.trust)  # type: ignore[misc, assignment]
        await run_worker(container, job_handlers(container), worker_options(settings))


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
