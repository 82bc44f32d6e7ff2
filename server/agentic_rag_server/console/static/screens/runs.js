// Runs: what was asked, and each run with its stages.

import { Part, empty, faultNote, html, icon, nothing, repeat, svg, waiting } from "../shared/element.js";
import { change, graphql } from "../shared/api.js";
import { ago, count, dollars, duration, plural, sentence, when } from "../shared/format.js";
import { OUTCOMES } from "../shared/outcomes.js";
import { DELETE_RUN, ONE_RUN, RUNS } from "../operations/runs.js";
import "../shared/answer.js";
import "../shared/confirm.js";
import "../shared/run-checks.js";

const PAGE = 30;

class RagRuns extends Part {
  static properties = { given: { attribute: false }, runs: { state: true }, run: { state: true } };

  willUpdate(changed) {
    if (!changed.has("given")) return;
    const before = changed.get("given");
    const [id] = this.given.rest;
    if (id) {
      if (this.run?.id !== id) this.open(id);
      return;
    }
    this.run = null;
    if (!this.runs || before?.rest[0] || before?.workspace?.id !== this.given.workspace?.id) this.load();
  }

  async load() {
    if (!this.given.workspace) return;
    this.runs = null;
    const page = await this.attempt("load", () => this.page(null));
    if (page) this.take(page, []);
  }

  async page(after) {
    const workspaceId = this.given.workspace.id;
    return (await graphql(RUNS, { workspaceId, after, first: PAGE, filter: this.wanted ?? {} })).runs;
  }

  narrow(event) {
    event.preventDefault();
    const { words, outcome } = Object.fromEntries(new FormData(event.currentTarget));
    this.wanted = { words, outcomes: outcome ? [outcome] : null };
    this.load();
  }

  async more() {
    const page = await this.attempt("more", () => this.page(this.cursor));
    if (page) this.take(page, this.runs);
  }

  take(page, before) {
    this.runs = [...before, ...page.nodes];
    this.total = page.totalCount;
    this.hasMore = page.pageInfo.hasNextPage;
    this.cursor = page.pageInfo.endCursor;
  }

  async open(id) {
    this.run = null;
    const data = await this.attempt("open", () => graphql(ONE_RUN, { id }));
    if (!data) return;
    this.run = data.run;
    this.isMissing = !data.run;
  }

  async forget(run) {
    const sure = await this.querySelector("rag-confirm").ask({
      title: "Delete this run?",
      text: `“${run.question}” goes with its answer, its stages and what was said of it. They cannot be brought back. What it cost stays in the usage.`,
      word: "Delete",
    });
    if (!sure) return;
    const gone = await this.attempt("delete", () => change(DELETE_RUN, { id: run.id }));
    if (!gone) return;
    this.runs = null;
    this.tell("The run is deleted.");
    location.hash = "#/runs";
  }

  // A run is deleted by whoever asked, and by nobody else.
  mayDelete(run) {
    const { caller } = this.given.frame;
    return run.subject === caller.subject && caller.allowed.includes("ASK");
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    return this.given.rest[0] ? this.one() : this.list();
  }

  list() {
    return html`<div class="head">
        <h1>Runs</h1>
        <span class="grow"></span>
        <button @click=${this.load}>Refresh</button>
      </div>
      <form class="row search" role="search" @submit=${this.narrow}>
        <label class="grow"><span>Words of the question</span><input name="words" type="search" maxlength="200" /></label>
        <label>
          <span>Outcome</span>
          <select name="outcome">
            <option value="">any</option>
            ${Object.entries(OUTCOMES).map(([name, { word }]) => html`<option value=${name}>${word}</option>`)}
          </select>
        </label>
        <button>Find</button>
      </form>
      ${faultNote(this.fault)}
      ${!this.runs
        ? this.fault
          ? nothing
          : waiting()
        : !this.runs.length
          ? this.wanted
            ? empty("No such run", "No question has these words and this outcome.")
            : empty("Nothing was asked yet", "Each question that is asked here, by GraphQL or by an agent leaves a run.")
          : html`<section class="card">
              <p class="small" role="status">${plural(this.total, "run")}</p>
              <table class="stack">
                <thead>
                  <tr>
                    <th scope="col">Question</th><th scope="col">Outcome</th><th scope="col">By</th>
                    <th scope="col">Took</th><th scope="col">When</th>
                  </tr>
                </thead>
                <tbody>
                  ${repeat(this.runs, (one) => one.id, (one) => this.row(one))}
                </tbody>
              </table>
              ${this.hasMore
                ? html`<button @click=${this.more} ?disabled=${this.busy === "more"}>Show more</button>`
                : nothing}
            </section>`}`;
  }

  row(one) {
    const outcome = OUTCOMES[one.outcome];
    const rating = one.feedback.at(-1)?.rating;
    return html`<tr>
      <td><a class="document-title" href="#/runs/${one.id}">${one.question}</a></td>
      <td>
        <span class="chip ${outcome.tone}">${outcome.word}</span>
        ${rating ? html`<span class="small">${icon(rating.toLowerCase())} ${rating === "GOOD" ? "helped" : "did not help"}</span>` : nothing}
      </td>
      <td class="small">${one.subject}</td>
      <td class="figure">${duration(one.seconds)}</td>
      <td class="small" title=${when(one.createdAt)}>${ago(one.createdAt)}</td>
    </tr>`;
  }

  one() {
    const back = html`<a class="button plain" href="#/runs">${icon("back")} All runs</a>`;
    if (this.fault) return html`<div class="head">${back}</div>${faultNote(this.fault)}`;
    if (this.busy === "open" || (!this.run && !this.isMissing)) return html`<div class="head">${back}</div>${waiting()}`;
    if (!this.run) {
      return html`<div class="head">${back}</div>
        ${empty("There is no such run", "It was never there, is past its time, or is not yours to see.")}`;
    }
    const { run } = this;
    return html`<div class="head">
        ${back}
        <span class="grow"></span>
        ${this.mayDelete(run)
          ? html`<button class="plain" ?disabled=${this.busy === "delete"} @click=${() => this.forget(run)}>
              ${icon("trash")} Delete
            </button>`
          : nothing}
      </div>
      <h1 class="question">${run.question}</h1>
      <rag-answer .run=${run}></rag-answer>
      <rag-run-checks .run=${run} .caller=${this.given.frame.caller}></rag-run-checks>
      <section class="card" aria-labelledby="stages-title">
        <h2 id="stages-title">Stages</h2>
        ${waterfall(run)}
      </section>
      <section class="card" aria-labelledby="made-title">
        <h2 id="made-title">Made with</h2>
        <dl class="facts">
          <dt>Asked</dt><dd>${when(run.createdAt)} by ${run.subject}</dd>
          <dt>Corpus version</dt><dd>${count(run.versions.corpusVersion)}</dd>
          <dt>Models</dt><dd>${run.versions.models.join(", ") || "none: extraction only"}</dd>
          <dt>Embedding space</dt><dd>${run.versions.space ?? "none"}</dd>
          <dt>Pipeline</dt><dd>${run.versions.pipelineVersion}</dd>
          <dt>Cache</dt><dd>${sentence(run.cache)}</dd>
          <dt>Cost</dt><dd>${cost(run.usage)}</dd>
          <dt>Run</dt><dd class="mono">${run.id}</dd>
          <dt>Trace</dt><dd class="mono">${run.traceId}</dd>
        </dl>
      </section>
      <rag-confirm></rag-confirm>`;
  }
}

// What each stage paid to chat models, beside what was expected just before its calls.
function cost(usage) {
  if (!usage.length) return "$0: no chat model was asked";
  return usage.map(
    (one) => html`<span class="block">
      ${sentence(one.stage)}: ${plural(one.calls, "call")}, ${plural(one.tokens, "token")}, ${dollars(one.costUsd)}
      <span class="small">expected ${dollars(one.estimatedUsd)}</span>
    </span>`,
  );
}

// Each stage with when it began and how long it took, on one scale.
function waterfall(run) {
  const whole = Math.max(0.000001, ...run.stages.map((one) => one.started + one.seconds));
  return html`<div class="waterfall">
    ${run.stages.map((one) => {
      const tone = /^ok|^skipped/.test(one.outcome) ? "" : one.outcome.startsWith("degraded") ? "warn" : "bad";
      const x = (one.started / whole) * 1000;
      const width = Math.max(3, (one.seconds / whole) * 1000);
      return html`<span>${sentence(one.stage)}</span>
        ${svg`<svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">
          <rect class="lane" width="1000" height="16" rx="3"></rect>
          <rect class="bar ${tone}" x=${Math.min(x, 997)} width=${width} height="16" rx="3"></rect>
        </svg>`}
        <span class="figure small">
          ${one.outcome.startsWith("skipped") ? one.outcome.replace("skipped: ", "skipped, ") : duration(one.seconds)}${tone
            ? ` · ${one.outcome}`
            : ""}
        </span>`;
    })}
  </div>`;
}

customElements.define("rag-runs", RagRuns);
