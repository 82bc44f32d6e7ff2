// Saved: questions that are asked again after each publish, and what became of their answers.

import { Part, empty, faultNote, html, nothing, repeat, waiting } from "../shared/element.js";
import { change, graphql } from "../shared/api.js";
import { ago, plural, words } from "../shared/format.js";
import { DIFF, REMOVE_SAVED, SAVE_QUESTION, SAVED } from "../operations/saved.js";

const STATES = {
  WAITING: ["Waiting", "", "Asked again after the next publish."],
  SAME: ["Unchanged", "ok", "The answer and what it cites are the same."],
  CHANGED: ["Changed", "warn", ""],
  NOT_COMPARED: ["Not compared", "warn", ""],
};
const REASONS = {
  RIGHTS_UNKNOWN: "What you may read is not known for certain any more. It goes on after the next publish, now that you are here.",
  RUN_GONE: "The run to compare with is past its time. Ask again, and save the new answer.",
  DEGRADED: "A model, its budget or a store was missing. It is tried again after the next publish.",
  FAILED: "The question could not be answered.",
};

class RagSaved extends Part {
  static properties = { given: { attribute: false }, saved: { state: true }, open: { state: true }, diff: { state: true } };

  willUpdate(changed) {
    const before = changed.get("given")?.workspace?.id;
    if (changed.has("given") && before !== this.given.workspace?.id) this.load();
  }

  async load() {
    if (!this.given.workspace) return;
    const data = await this.attempt("load", () => graphql(SAVED, { workspaceId: this.given.workspace.id }));
    if (data) this.saved = data.savedQuestions;
    this.dispatchEvent(new CustomEvent("rag-saved", { bubbles: true }));
  }

  async forget(one) {
    if (!(await this.attempt("remove", () => change(REMOVE_SAVED, { id: one.id })))) return;
    this.tell("It is not asked again any more.");
    await this.load();
    this.querySelector("h1").focus();
  }

  async accept(one) {
    if (!(await this.attempt("accept", () => change(SAVE_QUESTION, { runId: one.newerRunId })))) return;
    this.tell("Compared with the newer answer from now on.");
    this.open = null;
    await this.load();
    this.querySelector("h1").focus();
  }

  async show(one) {
    this.open = this.open === one.id ? null : one.id;
    this.diff = null;
    if (!this.open) return;
    const ids = { runId: one.runId, laterRunId: one.newerRunId };
    const data = await this.attempt("diff", () => graphql(DIFF, ids));
    if (data && this.open === one.id) this.diff = data.diffAnswers;
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    return html`<div class="head">
        <h1 tabindex="-1">Saved questions</h1>
        <span class="grow"></span>
        <button @click=${this.load}>Refresh</button>
      </div>
      <p class="small">Asked again with your rights after documents were published, once it is quiet. The web is not asked.</p>
      ${faultNote(this.fault)}
      ${!this.saved
        ? this.fault
          ? nothing
          : waiting()
        : !this.saved.length
          ? empty("Nothing is saved", "Below an answer, “Save” has its question asked again after each publish, and tells when the answer changed.")
          : html`<ul class="plain-list">
              ${repeat(this.saved, (one) => one.id, (one) => html`<li class="card saved">${this.one(one)}</li>`)}
            </ul>`}`;
  }

  one(one) {
    const [word, tone, text] = STATES[one.state];
    return html`<h2 class="question">${one.question}</h2>
      <p class="row">
        <span class="chip ${tone}">${word}</span>
        <span>${text || REASONS[one.reason] || this.change(one)}</span>
        <span class="small">${one.checkedAt ? `asked again ${ago(one.checkedAt)}` : `saved ${ago(one.savedAt)}`}</span>
      </p>
      <div class="row">
        ${one.state === "CHANGED"
          ? html`<button aria-expanded=${this.open === one.id} @click=${() => this.show(one)}>What changed</button>
              <button @click=${() => this.accept(one)}>Compare with the newer answer from now on</button>`
          : nothing}
        <a class="button plain" href="#/runs/${one.newerRunId ?? one.runId}">Open the ${one.newerRunId ? "newer " : ""}run</a>
        <button class="plain" aria-label="Remove ${one.question}" @click=${() => this.forget(one)}>Remove</button>
      </div>
      ${this.open === one.id ? this.difference() : nothing}`;
  }

  change(one) {
    const counts = [one.removed && `${plural(one.removed, "sentence")} gone`, one.added && `${plural(one.added, "sentence")} added`];
    const said = counts.filter(Boolean).join(", ") || "other quotes";
    return one.stage ? `${said}; the runs part at ${words(one.stage)} (${one.what}).` : `${said}.`;
  }

  difference() {
    if (!this.diff) return this.busy === "diff" ? waiting("Comparing …") : nothing;
    const { removed, added } = this.diff;
    if (!removed.length && !added.length) return html`<p class="small">The same sentences, with other quotes behind them.</p>`;
    return html`<ul class="plain-list">
      ${removed.map((text) => html`<li><span class="chip bad">Gone</span> ${text}</li>`)}
      ${added.map((text) => html`<li><span class="chip ok">New</span> ${text}</li>`)}
    </ul>`;
  }
}

customElements.define("rag-saved", RagSaved);
