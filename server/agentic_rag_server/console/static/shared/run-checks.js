// What can be done with a stored run: prove its quotes again, ask again and compare, take a proof away.

import { Part, faultNote, html, icon, nothing, waiting } from "./element.js";
import { change, graphql } from "./api.js";
import { sentence, when } from "./format.js";
import { PROVE, REPLAY, VERIFY } from "../operations/runs.js";

const CONVERSATIONS = {
  WHOLE: "It followed the same turns as then.",
  NOT_KEPT: "It was asked as the question that stands alone: the turns before it, if there were any, are not kept.",
  GONE: "It was asked as the question that stands alone: of the turns before it one was deleted, or cannot be read any more.",
};
const STATES = { VERIFIED: "ok", CHANGED: "bad", ERASED: "warn", HIDDEN: "" };

class RagRunChecks extends Part {
  static properties = {
    run: { attribute: false },
    caller: { attribute: false },
    verification: { state: true },
    comparison: { state: true },
  };

  willUpdate(changed) {
    if (changed.has("run") && this.run?.id !== changed.get("run")?.id) this.verification = this.comparison = null;
  }

  async verify() {
    const data = await this.attempt("verify", () => graphql(VERIFY, { id: this.run.id }));
    if (!data) return;
    this.verification = data.verifyRun;
    this.tell(data.verifyRun.holds ? "Every quote is verified." : "Not every quote is verified any more.");
  }

  async replay(newest) {
    const done = await this.attempt("replay", () => change(REPLAY, { id: this.run.id, newest }));
    if (!done) return;
    this.comparison = { ...done.comparison, newest };
    this.tell(done.comparison.same ? "The answer is the same." : "The answer is another one.");
  }

  async prove() {
    const data = await this.attempt("prove", () => graphql(PROVE, { id: this.run.id }));
    if (!data) return;
    const { content, fileName } = data.proveRun;
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    link.download = fileName;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    this.tell(`${fileName} is saved.`);
  }

  render() {
    return html`<section class="card" aria-labelledby="checks-title">
      <h2 id="checks-title">Check it again</h2>
      <div class="row">
        <button @click=${this.verify} ?disabled=${Boolean(this.busy)}>Verify the quotes</button>
        ${this.caller.allowed.includes("ASK")
          ? html`<button @click=${() => this.replay(false)} ?disabled=${Boolean(this.busy)}>Ask again as it was</button>
              <button @click=${() => this.replay(true)} ?disabled=${Boolean(this.busy)}>Ask again today</button>`
          : nothing}
        <button @click=${this.prove} ?disabled=${Boolean(this.busy)}>Save a proof</button>
      </div>
      <p class="small">
        A proof is a signed file that shows to others, without this server, that the quotes stood in their sources.
      </p>
      ${this.busy ? waiting() : nothing} ${faultNote(this.fault)} ${this.verification ? this.verified() : nothing}
      ${this.comparison ? this.compared() : nothing}
    </section>`;
  }

  verified() {
    const { holds, checkedAt, checks } = this.verification;
    return html`<div class="note ${holds ? "" : "warn"}">
        <p>${holds ? "Every quote stands in its source, letter by letter." : "Not every quote can be read back."}</p>
        <p class="small">${when(checkedAt)}</p>
      </div>
      <ul class="plain-list">
        ${checks.map(
          (one) => html`<li>
            <span class="chip ${STATES[one.state]}">${sentence(one.state)}</span> [${one.marker}] ${one.citation?.title ?? ""}
            <span class="small block">
              ${one.reason}${one.state === "VERIFIED" && !one.standsNow ? " The newest version does not show it any more." : ""}
            </span>
          </li>`,
        )}
      </ul>`;
  }

  compared() {
    const { same, newest, conversation, differences, added, removed, kept, after } = this.comparison;
    return html`<div class="note ${same ? "" : "warn"}">
        <p>
          ${same ? "The same" : "Different"}, asked
          ${newest ? "of the newest version" : "of the version that it was asked of"}.
          <a href="#/runs/${after.id}">Open the new run</a>
        </p>
        ${CONVERSATIONS[conversation] ? html`<p class="small">${CONVERSATIONS[conversation]}</p>` : nothing}
      </div>
      ${differences.length
        ? html`<h3>Where the runs part</h3>
            <dl class="facts">
              ${differences.map(
                (one) => html`<dt>${sentence(one.stage)}: ${one.what}</dt>
                  <dd>${one.before || "nothing"} <span aria-label="became">${icon("next")}</span> ${one.after || "nothing"}</dd>`,
              )}
            </dl>`
        : nothing}
      ${same
        ? nothing
        : html`<h3>The answer</h3>
            <ul class="plain-list">
              ${removed.map((one) => html`<li><span class="chip bad">Gone</span> ${one}</li>`)}
              ${added.map((one) => html`<li><span class="chip ok">New</span> ${one}</li>`)}
              ${kept.map((one) => html`<li><span class="chip">Kept</span> ${one}</li>`)}
            </ul>`}`;
  }
}

customElements.define("rag-run-checks", RagRunChecks);
