// An answer as its reader sees it: the text with numbered citations, the outcome said honestly, why, and feedback.

import { Part, faultNote, html, icon, nothing, waiting } from "./element.js";
import { change, graphql } from "./api.js";
import { defanged, dollars, duration, plural, sentence, words } from "./format.js";
import { FEEDBACK_REASONS, FLAGS, OUTCOMES, placeOf } from "./outcomes.js";
import { EXPLAIN, FEEDBACK, FIND_PASSAGES } from "../operations/ask.js";
import { SAVE_QUESTION } from "../operations/saved.js";
import "./source.js";

const MARKER = /\[(\d+)\]/g;

// What a screen reader is told when an answer is there.
export function spoken(run) {
  const outcome = OUTCOMES[run.outcome];
  const sources = run.citations.length ? `, with ${plural(run.citations.length, "citation")}` : "";
  return `${outcome.word}${sources}. ${run.answer ? run.answer.replaceAll(MARKER, "") : run.abstention?.explanation ?? ""}`;
}

class RagAnswer extends Part {
  static properties = {
    run: { attribute: false },
    compact: { type: Boolean },
    explanation: { state: true },
    passages: { state: true },
    rating: { state: true },
    why: { state: true },
  };

  willUpdate(changed) {
    if (changed.has("run") && this.run?.id !== changed.get("run")?.id) {
      this.explanation = this.passages = this.rating = this.saved = null;
      this.why = false;
    }
  }

  open(citation) {
    this.querySelector("rag-source").show(citation, this.run.versions.corpusVersion, this.run.id);
  }

  render() {
    const { run } = this;
    const outcome = OUTCOMES[run.outcome];
    return html`<article class="answer">
      <p class="outcome ${outcome.tone}">
        <span class="chip ${outcome.tone}">${outcome.word}</span>
        <span>${(run.answer && run.abstention?.explanation) || outcome.text}</span>
      </p>
      ${run.answer ? html`<div class="text">${this.text(run.answer)}</div>` : nothing}
      ${run.answer ? nothing : this.abstention()}
      ${run.degraded.length
        ? html`<p class="note warn">
            Answered without: ${run.degraded.map(words).join(", ")}. The answer may be less complete than usual.
          </p>`
        : nothing}
      ${run.citations.length
        ? html`<h3>Sources</h3>
            <ol class="citations">
              ${run.citations.map((one) => this.citation({ ...one, isNumbered: true }))}
            </ol>`
        : nothing}
      ${this.foot()} ${this.why ? this.explained() : nothing}
      <rag-source></rag-source>
    </article>`;
  }

  // Markers are what ends a cited sentence: other numbers in brackets are words of the source.
  text(answer) {
    const letters = [...answer]; // Spans count code points.
    const { citations } = this.run;
    const ends = [...new Set(citations.flatMap((one) => one.answerSpans.map((span) => span.end)))].sort((a, b) => a - b);
    const parts = [];
    let from = 0;
    for (const end of ends) {
      const said = letters.slice(from, end).join("");
      const [markers] = said.match(/(?:\[\d+\])*$/);
      parts.push(said.slice(0, said.length - markers.length));
      for (const [, marker] of markers.matchAll(MARKER)) {
        parts.push(this.marker({ ...citations.find((one) => one.marker === Number(marker)), isNumbered: true }));
      }
      from = end;
    }
    parts.push(letters.slice(from).join(""));
    return parts;
  }

  marker(citation) {
    return html`<button
      class="marker"
      aria-label="Source ${citation.marker}: ${citation.title}, ${placeOf(citation)}"
      title="${citation.title}, ${placeOf(citation)}"
      @click=${() => this.open(citation)}
    >
      ${citation.marker}
    </button>`;
  }

  citation(one) {
    return html`<li>
      <button class="citation" @click=${() => this.open(one)}>
        <span class="number" aria-hidden="true">${one.marker}</span>
        <span class="body">
          <span class="title">${one.title}</span>
          <span class="small"
            >${placeOf(one)}${one.headingPath.length ? ` · ${one.headingPath.at(-1)}` : ""}${one.symbol
              ? ` · in ${one.symbol.name}, lines ${one.symbol.lineStart}–${one.symbol.lineEnd}`
              : ""}</span
          >
          <span class="quote">${one.snippet}</span>
          <span class="row small">
            ${one.verified
              ? html`<span class="ok-text">${icon("check")} quote verified</span>`
              : html`<span class="bad-text">${icon("warn")} quote not verified</span>`}
            ${one.url ? html`<span class="mono">${defanged(one.url)}</span>` : nothing}
            ${one.recognised
              ? html`<span class="warn-text">${icon("warn")} recognised in a picture of the page: compare the words</span>`
              : nothing}
            ${one.flags.length
              ? html`<span class="bad-text">
                  ${icon("warn")} this text holds ${one.flags.map((flag) => FLAGS[flag] ?? words(flag)).join(", ")}
                </span>`
              : nothing}
          </span>
        </span>
      </button>
    </li>`;
  }

  abstention() {
    const given = this.run.abstention;
    if (!given) return nothing;
    return html`<div class="abstention">
      <p>${given.explanation}</p>
      ${given.nearest.length
        ? html`<h3>Nearest passages</h3>
            <ol class="citations">
              ${given.nearest.map((one, index) => this.citation({ ...one, marker: index + 1 }))}
            </ol>`
        : nothing}
    </div>`;
  }

  foot() {
    const { run } = this;
    const mine = this.rating ?? run.feedback.at(-1);
    return html`<div class="foot">
      <span class="small">
        ${duration(run.seconds)}${run.cache === "HIT" ? " · from the cache" : ""} ·
        ${run.debug.chat
          ? `${plural(run.debug.chat.inputTokens + run.debug.chat.outputTokens, "token")}, ${dollars(run.debug.chat.costUsd)}`
          : "$0"}
      </span>
      <span class="grow"></span>
      ${this.compact ? html`<a class="button plain" href="#/runs/${run.id}">Open the run</a>` : nothing}
      <button class="plain" aria-pressed=${Boolean(this.saved)} title="Ask again after each publish" @click=${() => this.save()}>
        ${this.saved ? "Saved" : "Save"}
      </button>
      <button class="plain" aria-expanded=${Boolean(this.why)} @click=${() => this.toggleWhy()}>Why this answer?</button>
      <span class="rate" role="group" aria-label="Did this help?">
        <button
          class="plain"
          aria-pressed=${mine?.rating === "GOOD"}
          aria-label="Helped"
          title="Helped"
          @click=${() => this.rate("GOOD")}
        >
          ${icon("good")}
        </button>
        <button
          class="plain"
          aria-pressed=${mine?.rating === "BAD"}
          aria-label="Did not help"
          title="Did not help"
          @click=${() => this.rate("BAD")}
        >
          ${icon("bad")}
        </button>
      </span>
      ${mine?.rating === "BAD" ? this.reasons(mine) : nothing} ${this.busy === "rate" ? nothing : faultNote(this.fault)}
    </div>`;
  }

  reasons(mine) {
    return html`<fieldset class="reasons">
      <legend>What was wrong?</legend>
      ${Object.entries(FEEDBACK_REASONS).map(
        ([name, text]) =>
          html`<button aria-pressed=${mine.reason === name} @click=${() => this.rate("BAD", name)}>${text}</button>`,
      )}
    </fieldset>`;
  }

  async save() {
    if (!(await this.attempt("save", () => change(SAVE_QUESTION, { runId: this.run.id })))) return;
    this.saved = true;
    this.requestUpdate();
    this.tell("Saved: it is asked again after each publish, and the screen Saved tells when the answer changed.");
    this.dispatchEvent(new CustomEvent("rag-saved", { bubbles: true }));
  }

  async rate(rating, reason = null) {
    const input = { runId: this.run.id, rating, reason };
    const kept = await this.attempt("rate", () => change(FEEDBACK, { input }));
    if (!kept) return;
    this.rating = kept.feedback;
    this.tell(rating === "GOOD" ? "Noted: it helped." : reason ? "Noted. Thank you." : "Noted: it did not help. What was wrong?");
  }

  async toggleWhy() {
    this.why = !this.why;
    if (!this.why || this.explanation) return;
    const data = await this.attempt("why", () => graphql(EXPLAIN, { runId: this.run.id }));
    if (data) this.explanation = data.explainRun;
  }

  explained() {
    const { debug, gate } = this.run;
    const support = (given) => html`${given.score.toFixed(2)} (enough from ${given.threshold.toFixed(2)})`;
    return html`<section class="why" aria-label="Why this answer">
      <dl class="facts">
        <dt>Plan</dt>
        <dd>
          ${sentence(gate.planType)}${gate.planned === gate.planType ? "" : `, lowered from ${words(gate.planned)}`}
          ${gate.downgrades.map((one) => html`<span class="small block">${one.reason}</span>`)}
        </dd>
        ${debug.support ? html`<dt>Support</dt><dd>${support(debug.support)}</dd>` : nothing}
        ${debug.certainty ? html`<dt>Certainty</dt><dd>${support(debug.certainty)}</dd>` : nothing}
        ${debug.selfCheck
          ? html`<dt>Self-check</dt>
              <dd>
                ${Math.round(debug.selfCheck.citationCoverage * 100)} % of the sentences have a verified quote
                ${debug.selfCheck.unsupportedClaims.map((one) => html`<span class="small block">Dropped: ${one}</span>`)}
              </dd>`
          : nothing}
        ${debug.standaloneQuestion && debug.standaloneQuestion !== this.run.question
          ? html`<dt>Understood as</dt><dd>${debug.standaloneQuestion}</dd>`
          : nothing}
        ${this.explanation?.searches.length
          ? html`<dt>Searched for</dt><dd>${this.explanation.searches.map((one) => html`<span class="block">${one}</span>`)}</dd>`
          : nothing}
        ${debug.toolCalls.map(
          (one) => html`<dt>Tool ${words(one.tool)}</dt><dd>${one.argument} → ${one.errorCode ?? one.result}</dd>`,
        )}
      </dl>
      ${this.busy === "why" ? waiting("Asking why …") : this.candidates()}
    </section>`;
  }

  candidates() {
    if (!this.explanation) return nothing;
    return html`<h3>What was found, and what became of it</h3>
      <div class="scroll" tabindex="0" role="region" aria-label="Candidates">
        <table>
          <thead>
            <tr><th scope="col">#</th><th scope="col">Document</th><th scope="col">Score</th><th scope="col">Fate</th></tr>
          </thead>
          <tbody>
            ${this.explanation.candidates.map(
              (one) => html`<tr>
                <td>${one.rank}</td>
                <td>${one.title}</td>
                <td class="figure">${one.score.toFixed(3)}</td>
                <td>
                  <span class="chip ${one.fate === "CITED" ? "ok" : ""}">${sentence(one.fate)}</span>
                  <span class="small">${one.reason}</span>
                </td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <form class="row why-not" @submit=${this.searchWhyNot}>
        <label class="grow">
          <span>Why was another passage not used? Find it by its words</span>
          <input name="query" maxlength="4000" required />
        </label>
        <button ?disabled=${this.busy === "find"}>Find passages</button>
      </form>
      ${this.passages?.length === 0 ? html`<p class="small">No passage of this workspace has these words.</p>` : nothing}
      ${this.passages?.length
        ? html`<ul class="plain-list">
            ${this.passages.map(
              (one) => html`<li>
                <button class="citation" @click=${() => this.askWhyNot(one)}>
                  <span class="body">
                    <span class="title">${one.title}</span>
                    <span class="small">${placeOf(one)}</span>
                    <span class="quote">${one.text.slice(0, 220)}</span>
                    ${one.verdict ? html`<span class="note">${one.verdict}</span>` : nothing}
                  </span>
                </button>
              </li>`,
            )}
          </ul>`
        : nothing}`;
  }

  async searchWhyNot(event) {
    event.preventDefault();
    const query = new FormData(event.target).get("query");
    const input = { workspaceId: this.run.workspaceId, query, topK: 5 };
    const found = await this.attempt("find", () => change(FIND_PASSAGES, { input }));
    if (found) this.passages = found.passages;
  }

  async askWhyNot(passage) {
    const data = await this.attempt("why-not", () =>
      graphql(EXPLAIN, { runId: this.run.id, whyNot: [passage.chunkId] }),
    );
    const [verdict] = data?.explainRun.whyNot ?? [];
    if (!verdict) return;
    this.passages = this.passages.map((one) => (one === passage ? { ...one, verdict: verdict.explanation } : one));
    this.tell(verdict.explanation);
  }
}

customElements.define("rag-answer", RagAnswer);
