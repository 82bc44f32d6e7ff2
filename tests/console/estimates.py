"""Estimates of answers beside the bill of a provider that counts tokens its own way, and the hard stop of budgets."""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from agentic_rag.adapters.deterministic.hashed_embedding import DIMENSIONS, embed_texts
from agentic_rag.adapters.openai.chat import OpenAIChatModel
from agentic_rag.adapters.openai.client import open_client
from agentic_rag.adapters.openai.embedder import OpenAIEmbedder
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.ask import AnswerPorts, AnswerQuestion
from agentic_rag.answering.build import ChatUse, answer_question
from agentic_rag.answering.estimates.estimate_answer import EstimateAnswer, KeepsNothing
from agentic_rag.answering.estimates.uncalled_models import CallTally, UncalledClients, UncalledSource
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.kernel.telemetry import SilentTelemetry
from agentic_rag.models.billing.budget_alerts import BudgetAlerts
from agentic_rag.models.billing.enforce_budgets import EnforceBudgets
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.manage_budgets import ManageBudgets
from agentic_rag.models.billing.metered_models import UsageMeters
from agentic_rag.models.billing.prices import PLATFORM, PriceTable, TokenPrice
from agentic_rag.models.billing.usage_ledger import UsageLedger
from agentic_rag.models.chat.request import ChatTask
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.models.providers.llm_client import LlmClient
from agentic_rag.models.providers.tenant_models import PlatformModels, TenantModels
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from tests.bench.reports import Row, at_least, at_most, exactly
from tests.memory_store.telemetry import RecordingTelemetry
from tests.provider_stub import ProviderStub, Received, form_of
from tests.unit.answering.model_passages import ModelPassages
from tests.unit.answering.test_explain import World

_RUNS, _FEW_RUNS = 500, 24
_SIDE_BY_SIDE = 8
_ROOT = Path(__file__).resolve().parents[2]
_CHAT, _EMBEDDING = "stub-chat", "stub-embedding"
_USD_PER_MILLION = {_CHAT: (0.15, 0.60), _EMBEDDING: (0.02, 0.0)}
"""Input and output: the bill is reckoned with these, apart from the product's own price table."""
_PASSAGE = re.compile(r"<<PASSAGE (\d+) \w+>>\n[^\n]*\n(.*?)\n<</PASSAGE", re.DOTALL)
_TASKS = frozenset({ChatTask.PLAN, ChatTask.SYNTHESIZE, ChatTask.JUDGE})


def estimates(short: bool) -> list[Row]:
    """Questions over the sample corpus, each estimated, then asked of a provider on loopback."""
    return asyncio.run(_estimates(short))


class Paid(World):
    """A workspace whose chat model and embeddings are a provider's."""

    def __init__(self, stub: ProviderStub) -> None:
        super().__init__()
        clock, ids = self.store.clock, RandomIds()
        prices = PriceTable({name: TokenPrice(*usd) for name, usd in _USD_PER_MILLION.items()})
        clients = [open_client(stub.base_url, stub.key, 30.0) for _ in range(2)]
        embedder = OpenAIEmbedder(clients[0], _EMBEDDING, DIMENSIONS)
        self.models = [OpenAIChatModel(clients[1], _CHAT), embedder]
        llm = LlmClient(self.models[0], clock, ids, self.telemetry, price=prices.of(PLATFORM, _CHAT))
        self.ledger = UsageLedger(self.database, self.telemetry)
        self.alerts = BudgetAlerts(self.database, RecordingTelemetry())
        self.budgets = EnforceBudgets(self.database, self.ledger, clock, self.alerts)
        models = TenantModels(
            self.database,
            None,  # type: ignore[arg-type]
            None,  # type: ignore[arg-type]
            lambda: PlatformModels(only(embedder), llm),
            lambda *_: llm,
            clock,
            UsageMeters(self.budgets, self.ledger, clock, prices),
        )
        self.embedders: Any = models
        defaults = AnswerDefaults(top_k=6, model_timeout_ms=60_000)
        ports = AnswerPorts(self.database, self.cache, self.runs, models, self.telemetry, clock, ids)
        self.answer = answer_question(ports, self.recorder, defaults, chat=ChatUse(models, _TASKS, ModelPassages(llm)))

        def uncalled(tally: CallTally) -> AnswerQuestion:
            silent, named = SilentTelemetry(), UncalledClients(models, tally)
            source = UncalledSource(models, prices, tally)
            return answer_question(
                replace(ports, embedders=source, telemetry=silent),
                KeepsNothing(self.database, self.runs, self.cache, silent),
                defaults,
                chat=ChatUse(named, _TASKS, named),
            )

        self.estimate = EstimateAnswer(uncalled)

    async def limit(self, usd: float) -> None:
        """A ceiling of the workspace's day."""
        budgets = ManageBudgets(self.database, self.budgets, self.telemetry)
        ref = self.workspace
        await budgets.set_limits(ref.org_id, ref.workspace_id, SpendingLimits(day_usd=usd), "ada")

    async def aclose(self) -> None:
        await self.recorder.aclose()
        await self.ledger.aclose()
        await self.alerts.aclose()
        for one in self.models:
            await one.aclose()


async def _estimates(short: bool) -> list[Row]:
    count = _FEW_RUNS if short else _RUNS
    golden = (_ROOT / "eval/agentic-rag/golden.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in golden]
    draw, off, noted_off, unlike = random.Random(11), [], [], 0
    async with paid() as (world, stub):
        for at in range(count):
            asked = AnswerOptions(top_k=draw.randint(2, 9), cache=CacheMode.BYPASS)
            question = Question(world.workspace, questions[at % len(questions)], options=asked)
            told = await world.estimate.run(world.asker, question)
            before = len(stub.billed)
            run = await world.answer.ask(world.asker, question)
            billed = _usd(stub.billed[before:])
            noted = run.answer.debug.chat
            chat = _usd([one for one in stub.billed[before:] if one[0] == _CHAT])
            if noted is not None and noted.cost_usd is not None and noted.estimated_usd is not None:
                unlike += abs(noted.cost_usd - chat) > 1e-9
                noted_off.append(_off(noted.estimated_usd, chat))
            off.append(_off(told.total.cost_usd, billed))
        await world.ledger.flush()
        async with world.database.transaction(world.workspace.org_id) as transaction:
            ledger = (await transaction.usage.spending(world.store.clock.now().date())).day_usd
        cents = abs(round(100 * ledger) - round(100 * _usd(stub.billed)))
        limit, beyond, refused = await _spend_all(world, stub, questions)
    return [
        at_most(f"estimate of {count} answers against the bill, median", 100 * statistics.median(off), 5.0, " %"),
        at_most(f"`estimatedUsd` of {len(noted_off)} runs, median", 100 * statistics.median(noted_off), 5.0, " %"),
        exactly("runs whose `costUsd` is not what was billed", unlike, 0),
        exactly("cents between the ledger and the bill", cents, 0),
        at_most("spent beyond a ceiling, by its amount", 100 * max(0.0, beyond), 0.0, " %"),
        at_least(f"spent of a ceiling of {limit:.4f} USD before it stopped", 100 * (1 + beyond), 80.0, " %"),
        at_least("calls that the ceiling stopped", refused, 1, "", timed=False),
    ]


def _off(told: float | None, billed: float) -> float:
    """By what share of the bill an estimate is off; 1 where it tells of costs that there were not."""
    return abs((told or 0.0) - billed) / billed if billed else float(bool(told))


async def _spend_all(world: Paid, stub: ProviderStub, questions: list[str]) -> tuple[float, float, int]:
    """A ceiling, by what share of it was spent too much (below 0: too little), and how many runs it degraded, of
    questions side by side.
    """
    spent = _usd(stub.billed)
    limit = 0.005
    await world.limit(spent + limit)
    refused = 0
    for start in range(0, 10 * _SIDE_BY_SIDE, _SIDE_BY_SIDE):
        asked = [questions[(start + at) % len(questions)] for at in range(_SIDE_BY_SIDE)]
        runs = await asyncio.gather(
            *(world.ask(text, AnswerOptions(top_k=6, cache=CacheMode.BYPASS)) for text in asked)
        )
        refused += sum("BUDGET_EXCEEDED" in stage.outcome for run in runs for stage in run.stages)
    return limit, (_usd(stub.billed) - spent) / limit - 1, refused


@asynccontextmanager
async def paid(documents: int | None = None) -> AsyncIterator[tuple[Paid, ProviderStub]]:
    """A workspace with the sample corpus, or the first documents of it."""
    with ProviderStub(DIMENSIONS) as stub:
        stub.count_tokens = _word_pieces()
        stub.vector = lambda text, _: [float(one) for one in embed_texts([text])[0]]
        stub.scribe = _scribe(random.Random(5))
        world = Paid(stub)
        async with world.database.transaction(world.workspace.org_id) as transaction:
            await transaction.workspaces.create(
                world.workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
            )
        for path in sorted((_ROOT / "simulated_ingestion").glob("*.md"))[:documents]:
            for number, part in enumerate(_parts(path.read_text(encoding="utf-8"))):
                await world.add(f"{path.stem} {number}", part)
        yield world, stub
        await world.aclose()


def _parts(text: str, most: int = 1_500) -> list[str]:
    """The paragraphs, a few together."""
    parts = [""]
    for paragraph in text.split("\n\n"):
        if len(parts[-1]) + len(paragraph) > most:
            parts.append("")
        parts[-1] = f"{parts[-1]}\n\n{paragraph}".strip()
    return [one for one in parts if one]


def _word_pieces() -> Callable[[str], int]:
    """Another tokenizer than the one that estimates: that of the reading model."""
    held = files("agentic_rag.adapters.onnx.reader").joinpath("tokenizer.json").read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(held)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _scribe(draw: random.Random) -> Callable[[Received], str]:
    """A model that divides at each "and", and answers with any one sentence of the first passage."""

    def write(request: Received) -> str:
        user = request.body["messages"][1]["content"]
        match form_of(request):
            case "plan":
                text = re.search(r"<<QUESTION \w+>>\n(.*?)\n<</QUESTION", user, re.DOTALL)
                parts = [{"text": one, "depends_on": []} for one in re.split(r",? and ", text[1] if text else "")]
                return json.dumps({"answer_type": "fact", "sub_questions": parts})
            case "verdicts":
                count = len(re.findall(r"<<SENTENCE \d+", user))
                verdicts = [{"sentence": at, "verdict": "supported"} for at in range(count)]
                return json.dumps({"verdicts": verdicts})
            case _:
                number, text = _PASSAGE.findall(user)[0]
                told = [one for one in re.split(r"(?<=[.!?])\s|\n", text) if 30 <= len(one) <= 220]
                quote = draw.choice(told or [text[:120]])
                sentences = [{"part": 0, "text": quote, "quotes": [{"passage": int(number), "quote": quote}]}]
                return json.dumps({"sentences": sentences, "unanswered": [], "conflicting": False})

    return write


def _usd(billed: list[tuple[str, int, int]]) -> float:
    """A bill."""
    return sum(
        (given * _USD_PER_MILLION[model][0] + written * _USD_PER_MILLION[model][1]) / 1e6
        for model, given, written in billed
    )
