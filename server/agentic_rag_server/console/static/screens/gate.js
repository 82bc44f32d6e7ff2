// Gate: when runs look outside the documents, what it decided, what that cost, how it turned out, and what it would
// decide with the weights in force.

import { Part, empty, faultNote, html, nothing, waiting } from "../shared/element.js";
import { graphql } from "../shared/api.js";
import { count, dollars, duration, plural, sentence, when } from "../shared/format.js";
import { GATE, GATE_EVALUATION, GATE_REPLAY } from "../operations/gate.js";

const DAYS = 30;
const MODES = {
  off: "It decides nothing: runs never look outside.",
  shadow: "It decides and is not obeyed: runs do not look outside.",
  on: "It decides, and runs do what it says.",
};

class RagGate extends Part {
  static properties = {
    given: { attribute: false },
    found: { state: true },
    plans: { state: true },
    replayed: { state: true },
  };

  willUpdate(changed) {
    if (changed.has("given") && this.given.workspace?.id !== changed.get("given")?.workspace?.id) this.load();
  }

  async load() {
    this.found = this.plans = this.replayed = null;
    if (!this.given.workspace) return;
    const found = await this.attempt("load", () => graphql(GATE, this.variables()));
    if (found) this.found = found;
    if (!found || !this.allows("EVALUATE")) return;
    const { workspaceId } = this.variables();
    const evaluated = await this.attempt("evaluate", () => graphql(GATE_EVALUATION, { workspaceId }));
    if (evaluated) this.plans = evaluated.gateEvaluation;
  }

  variables() {
    const since = new Date(Date.now() - DAYS * 86_400_000).toISOString();
    return { workspaceId: this.given.workspace.id, since };
  }

  async replay() {
    const found = await this.attempt("replay", () => graphql(GATE_REPLAY, this.variables()));
    if (!found) return;
    this.replayed = found.gateReplay;
    this.tell(`${plural(found.gateReplay.differences.length, "decision")} would be another one.`);
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
              ${report.byMode.length > 1 ? groups("Mode", report.byMode) : nothing}
              ${report.causes.length
                ? html`<h3>What lowered plans</h3>
                    <ul class="plain-list">
                      ${report.causes.map((one) => html`<li>${sentence(one.cause)}: ${plural(one.runs, "run")}</li>`)}
                    </ul>`
                : nothing}`
          : html`<p class="small">It decided nothing yet.</p>`}
      </section>
      ${this.plans ? outcomes(this.plans) : nothing}
      <section class="card" aria-labelledby="replay-title">
        <h2 id="replay-title">Decide again</h2>
        <p class="small">
          Takes the decisions of the last ${DAYS} days again, from their stored signals, with the weights in force. Nothing is
          asked or stored.
        </p>
        <div class="row">
          <button @click=${this.replay} ?disabled=${this.busy === "replay"}>Decide again</button>
        </div>
        ${this.replayed ? differences(this.replayed) : nothing}
      </section>`;
  }
}

// What the evaluator keeps: windows of runs that followed one another, and the latency of each deploy.
function outcomes(plans) {
  const windows = plans.flatMap((one) => one.windows.map((window) => ({ plan: one.plan, ...window })));
  const deploys = plans.flatMap((one) => one.deploys.map((deploy) => ({ plan: one.plan, ...deploy })));
  return html`<section class="card" aria-labelledby="outcomes-title">
    <h2 id="outcomes-title">How runs turned out</h2>
    ${plans.map((one) =>
      one.rollback
        ? html`<div class="note warn">
            <p>${sentence(one.plan)} rests until ${when(one.rollback.until)}, or another deploy: ${one.rollback.reason}</p>
          </div>`
        : one.isOnTrial
          ? html`<p class="note">${sentence(one.plan)} is tried again: no window since then is full.</p>`
          : nothing,
    )}
    ${windows.length
      ? html`<table class="stack">
          <thead>
            <tr>
              <th scope="col">Plan</th><th scope="col">Window</th><th scope="col">Content</th><th scope="col">New found</th>
              <th scope="col">Outside calls</th><th scope="col">Cost</th><th scope="col">p95</th>
            </tr>
          </thead>
          <tbody>
            ${windows.map(
              (one) => html`<tr>
                <td>${sentence(one.plan)} ${one.fault ? html`<span class="chip bad">${sentence(one.fault)}</span>` : nothing}</td>
                <td>${plural(one.runs, "run")} until ${when(one.last)}</td>
                <td class="figure">${share(one.satisfaction)}</td>
                <td class="figure">${share(one.freshnessGain)}</td>
                <td class="figure">${one.externalCalls.toFixed(1)}</td>
                <td class="figure">${dollars(one.costUsd)}</td>
                <td class="figure">${duration(one.p95Seconds)}</td>
              </tr>`,
            )}
          </tbody>
        </table>`
      : html`<p class="small">No window of runs is full yet.</p>`}
    ${deploys.length
      ? html`<h3>By deploy</h3>
          <ul class="plain-list">
            ${deploys.map(
              (one) => html`<li>
                ${sentence(one.plan)}, ${one.deploy || "no name"}: ${plural(one.runs, "run")}, p95 ${duration(one.p95Seconds)}
                ${one.isSlow ? html`<span class="chip bad">Slow</span>` : nothing}
              </li>`,
            )}
          </ul>`
      : nothing}
  </section>`;
}

function differences({ weightsVersion, runs, unreadable, isComplete, differences: found }) {
  return html`<p>
      ${plural(runs, "decision")} taken again with <span class="mono">${weightsVersion}</span>:
      ${found.length ? `${count(found.length)} would be another one.` : "all the same."}
      ${unreadable ? `${count(unreadable)} were stored with other signals and are left out.` : ""}
      ${isComplete ? "" : "Older ones are left out."}
    </p>
    ${found.length
      ? html`<table class="stack">
          <thead>
            <tr>
              <th scope="col">Decided</th><th scope="col">Weights</th><th scope="col">Score</th><th scope="col">Plan</th>
            </tr>
          </thead>
          <tbody>
            ${found.map(
              (one) => html`<tr>
                <td><a href="#/runs/${one.runId}">${when(one.decidedAt)}</a></td>
                <td class="mono">${one.weightsVersion}</td>
                <td class="figure">${one.scoreBefore.toFixed(3)}, now ${one.scoreAfter.toFixed(3)}</td>
                <td>${sentence(one.planBefore)}, now ${sentence(one.planAfter)}</td>
              </tr>`,
            )}
          </tbody>
        </table>`
      : nothing}`;
}

const share = (value) => (value === null ? "not said" : `${Math.round(value * 100)} %`);

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
