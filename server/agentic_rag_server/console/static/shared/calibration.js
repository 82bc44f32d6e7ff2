// When a workspace abstains: the line in force, what was only measured, and a new measurement.

import { Part, faultNote, html, nothing, waiting } from "./element.js";
import { change, graphql } from "./api.js";
import { count, plural, sentence, when } from "./format.js";
import { percent } from "./reports.js";
import { CALIBRATE, CALIBRATION, RESET_CALIBRATION } from "../operations/evaluation.js";
import "./confirm.js";

const ERRORS = [0.05, 0.1, 0.2];
// The smaller, the more questions it takes.

class RagCalibration extends Part {
  static properties = { workspaceId: {}, found: { state: true } };

  willUpdate(changed) {
    if (!changed.has("workspaceId")) return;
    this.found = null;
    this.load();
  }

  async load() {
    const data = await this.attempt(this.busy, () => graphql(CALIBRATION, { id: this.workspaceId }));
    if (data) this.found = data.workspace;
  }

  async calibrate(dryRun) {
    const name = dryRun ? "measure" : "calibrate";
    const variables = { workspaceId: this.workspaceId, error: Number(this.querySelector("select").value), dryRun };
    if (!(await this.attempt(name, () => change(CALIBRATE, variables)))) return;
    this.tell("A worker measures. The screen Jobs tells how far it is.");
    this.began = true;
    this.requestUpdate();
  }

  async reset() {
    const sure = await this.querySelector("rag-confirm").ask({
      title: "Go back to the server's line?",
      text: "The workspace is calibrated again only when somebody asks for it.",
      word: "Go back",
    });
    if (!sure || !(await this.attempt("reset", () => change(RESET_CALIBRATION, { workspaceId: this.workspaceId })))) return;
    this.tell("The server's line is in force.");
    await this.load();
  }

  render() {
    return html`<section class="card" aria-labelledby="calibration-title">
      <h2 id="calibration-title">When to abstain</h2>
      ${faultNote(this.fault)} ${this.found ? this.content() : this.fault ? nothing : waiting()}
      <rag-confirm></rag-confirm>
    </section>`;
  }

  content() {
    const { calibration, calibrationTrial: trial } = this.found;
    return html`${calibration
        ? measured(calibration, "In force since")
        : html`<p>The server's own line is in force; nothing was calibrated for this workspace.</p>`}
      ${trial ? html`<h3>Only measured</h3>${measured(trial, "Measured")}` : nothing}
      ${this.began ? html`<p class="note" role="status">A worker measures. <a href="#/jobs">See how far it is</a>.</p>` : nothing}
      <div class="row search">
        <label>
          <span>May be abstained on, of what could be answered</span>
          <select>
            ${ERRORS.map((one) => html`<option value=${one}>at most ${percent(one)}</option>`)}
          </select>
        </label>
        <button ?disabled=${this.busy === "calibrate"} @click=${() => this.calibrate(false)}>Calibrate on made questions</button>
        <button class="plain" ?disabled=${this.busy === "measure"} @click=${() => this.calibrate(true)}>Measure only</button>
        ${calibration ? html`<button class="plain" ?disabled=${this.busy === "reset"} @click=${this.reset}>Back to the server's line</button>` : nothing}
      </div>`;
  }
}

function measured(found, since) {
  return html`<p class="small">
      ${since} ${when(found.measuredAt)}, on ${found.source === "CORPUS" ? "questions made from" : "given questions about"}
      ${plural(found.chunks, "passage")}; at most ${percent(found.error)} of what could be answered may be abstained on.
    </p>
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">Questions</th><th scope="col">Abstains below</th><th scope="col">Abstained on</th>
          <th scope="col">95 % interval</th><th scope="col">A further one</th>
        </tr>
      </thead>
      <tbody>
        ${[...found.kinds, { ...found.pooled, kind: null }].map(
          (one) => html`<tr>
            <td>${one.kind === null ? (found.kinds.length ? "All others" : "All") : sentence(one.kind)}</td>
            <td class="figure">${one.threshold.toFixed(3)}</td>
            <td class="figure">${count(one.abstained)} of ${count(one.questions)}</td>
            <td class="figure">${percent(one.low)} to ${percent(one.high)}</td>
            <td class="figure">at most ${percent(one.bound)}</td>
          </tr>`,
        )}
      </tbody>
    </table>`;
}

customElements.define("rag-calibration", RagCalibration);
