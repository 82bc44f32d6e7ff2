// Gate: when runs look outside the documents, what it decided, and what that cost.

import { Part, empty, faultNote, html, nothing, waiting } from "../shared/element.js";
import { graphql } from "../shared/api.js";
import { count, dollars, duration, plural, sentence } from "../shared/format.js";
import { GATE } from "../operations/gate.js";

const DAYS = 30;
const MODES = {
  off: "It decides nothing: runs never look outside.",
  shadow: "It decides and is not obeyed: runs do not look outside.",
  on: "It decides, and runs do what it says.",
};

class RagGate extends Part {
  static properties = { given: { attribute: false }, found: { state: true } };

  willUpdate(changed) {
    if (changed.has("given") && this.given.workspace?.id !== changed.get("given")?.workspace?.id) this.load();
  }

  async load() {
    if (!this.given.workspace) return;
    const since = new Date(Date.now() - DAYS * 86_400_000).toISOString();
    const variables = { workspaceId: this.given.workspace.id, since };
    const found = await this.attempt("load", () => graphql(GATE, variables));
    if (found) this.found = found;
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    return html`<h1>Gate</h1>
      ${faultNote(this.fault)} ${this.found ? this.content() : this.fault ? nothing : waiting()}`;
  }

  content() {
    const { gateStatus: status, gateReport: report } = this.found;
    return html`<section class="card" aria-labelledby="status-title">
        <h2 id="status-title">How it stands</h2>
        <dl class="facts">
          <dt>Mode</dt>
          <dd><span class="chip ${status.mode === "on" ? "ok" : ""}">${sentence(status.mode)}</span> ${MODES[status.mode] ?? ""}</dd>
          <dt>Care</dt><dd>${status.care.toFixed(2)} <span class="small">0 saves cost, 1 looks outside most readily</span></dd>
          ${status.thresholds.map((one) => html`<dt>${sentence(one.name)}</dt><dd>from a score of ${one.value.toFixed(3)}</dd>`)}
          <dt>Weights</dt><dd class="mono">${status.weightsVersion}</dd>
        </dl>
        ${status.downgrades.length
          ? html`<div class="note">
              <p>Runs do not look outside as things stand:</p>
              <ul>
                ${status.downgrades.map((one) => html`<li>${one.reason}</li>`)}
              </ul>
            </div>`
          : nothing}
      </section>
      <section class="card" aria-labelledby="report-title">
        <h2 id="report-title">The last ${DAYS} days</h2>
        ${report.total
          ? html`<p class="small">
                ${plural(report.runs, "run")}${report.isComplete ? "" : "; older decisions are left out"}
              </p>
              ${groups("Plan", report.byPlan)} ${groups("Intent", report.byIntent)}
              ${report.causes.length
                ? html`<h3>What lowered plans</h3>
                    <ul class="plain-list">
                      ${report.causes.map((one) => html`<li>${sentence(one.cause)}: ${plural(one.runs, "run")}</li>`)}
                    </ul>`
                : nothing}`
          : html`<p class="small">It decided nothing yet.</p>`}
      </section>`;
  }
}

function groups(name, rows) {
  return html`<table class="stack">
    <thead>
      <tr>
        <th scope="col">${name}</th><th scope="col">Runs</th><th scope="col">Helped</th><th scope="col">Latency</th>
        <th scope="col">Tokens</th><th scope="col">Cost</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (one) => html`<tr>
          <td>${sentence(one.name)}</td>
          <td class="figure">${plural(one.runs, "run")}, ${Math.round(one.share * 100)} %</td>
          <td class="figure">
            ${one.satisfaction === null ? "not said" : `${Math.round(one.satisfaction * 100)} % of ${plural(one.ratings, "rating")}`}
          </td>
          <td class="figure">${duration(one.p50Seconds)}, p95 ${duration(one.p95Seconds)}</td>
          <td class="figure">${plural(one.tokens, "token")}</td>
          <td class="figure">${dollars(one.costUsd)}${one.unpricedRuns ? `, ${count(one.unpricedRuns)} unpriced` : ""}</td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}

customElements.define("rag-gate", RagGate);
