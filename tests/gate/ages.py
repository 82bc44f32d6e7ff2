"""How old the texts are that answers cite, where a workspace's profile wants new ones: its documents are of last year,
and pages of this week, or of this month, say what holds by now.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from agentic_rag.answering.answer import Outcome
from agentic_rag.web.search import SearchRequest, SearchResult
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.web_profiles import PROFILES, ProfileName
from tests.bench.reports import Row
from tests.contract.ingestion.source_world import DirectoryOrigin
from tests.gate.from_the_web import SHARE, Asked, find_pages
from tests.gate.poison import BESIDE, HONEST
from tests.gate.simulated_web import FACTS, Answer, fact, page
from tests.gate.web_ground import CrawledWorkspace, MovedClock
from tests.memory_store.session.store import MemoryStore

FEW = 4
LAST_YEAR = timedelta(days=400)
YOUNG = {ProfileName.MARKETING: timedelta(days=2), ProfileName.CODE: timedelta(days=20)}
"""How old the pages are that say what holds."""


def aged(short: bool) -> Row:
    """The median age of cited texts, and the answers that state what holds and not what held last year."""
    count = FEW if short else FACTS
    found = [asyncio.run(_ages(count, profile)) for profile in YOUNG]
    medians = [days for days, _ in found]
    share = min(right for _, right in found)
    most = [PROFILES[profile].newest_days or 0 for profile in YOUNG]
    shown = f"{' and '.join(f'{days:.0f}' for days in medians)} d; {share:.0f} %"
    wanted = f"≤ {' and '.join(map(str, most))} d; ≥ {SHARE} %"
    name = f"{count} questions over documents of last year, profiles marketing and code: median age of citations; right"
    ok = all(days <= limit for days, limit in zip(medians, most, strict=True)) and share >= SHARE
    return Row(name, shown, wanted, ok)


async def _ages(count: int, profile: ProfileName) -> tuple[float, float]:
    """Days, and percent."""
    clock = MovedClock()
    ground = await CrawledWorkspace(store=MemoryStore(clock)).open()
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        web = WebAccess(allow=True, profile=profile)
        await transaction.workspaces.change_settings(
            ground.workspace.workspace_id, lambda before: replace(before, web=web)
        )
    with TemporaryDirectory() as folder:
        origin = DirectoryOrigin(Path(folder))
        for number in range(count):
            await origin.write(f"{number}.md", _held(number).encode())
        clock.ahead = -LAST_YEAR
        await ground.follow(origin)
    clock.ahead = timedelta()
    day = (clock.now() - YOUNG[profile]).date().isoformat()
    head = f'<meta property="article:published_time" content="{day}">'
    for number in range(count):
        for place, host in enumerate(HONEST):
            said = page(f"Fact {number}", f"{fact(number)[2]} {BESIDE[place]}", head=head)
            ground.web.pages[f"{host}/fact/{number}"] = Answer(said.body)
    asked = Asked(ground, _find_young)
    days: list[float] = []
    right = 0
    for number in range(count):
        question, harbour, _ = fact(number)
        answer = (await asked.ask(question)).answer
        days += [(clock.now() - one.dated).total_seconds() / 86_400 for one in answer.citations if one.dated]
        held = _is_moved(number) and _former(number) in answer.text
        right += answer.outcome in (Outcome.GROUNDED, Outcome.UNCERTAIN) and harbour in answer.text and not held
    await asked.recorder.aclose()
    return median(days or [float("inf")]), 100 * right / count


def _is_moved(number: int) -> bool:
    """Every other harbour is another by now."""
    return number % 2 == 0


def _former(number: int) -> str:
    return f"Gammel{number}hamn"


def _held(number: int) -> str:
    said = fact(number)[2]
    return said.replace(fact(number)[1], _former(number)) if _is_moved(number) else said


async def _find_young(request: SearchRequest) -> tuple[SearchResult, ...]:
    best = (await find_pages(request))[0].url.rpartition("/")[2]
    return tuple(SearchResult(f"http://{host}/fact/{best}", f"Fact {best}") for host in HONEST)
