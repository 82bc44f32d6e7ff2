// Reports: what the texts of a workspace say of brands, and of the state of its code, each figure with its places.

import { Part, empty, faultNote, html, nothing, waiting } from "../shared/element.js";
import { graphql } from "../shared/api.js";
import { count, plural, sentence } from "../shared/format.js";
import { CODE_REPORT, MARKETING_REPORT } from "../operations/reports.js";

const SHOWN = 20;
// Sentences of a brand, and places of each other list.

class RagReports extends Part {
  static properties = { given: { attribute: false }, marketing: { state: true }, code: { state: true } };

  willUpdate(changed) {
    if (!changed.has("given") || this.given.workspace?.id === changed.get("given")?.workspace?.id) return;
    this.marketing = this.code = null;
  }

  async reportMarketing(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const brands = data.get("brands").split(",").map((one) => one.trim()).filter(Boolean);
    const days = Number(data.get("days"));
    const since = days ? new Date(Date.now() - days * 86_400_000).toISOString() : null;
    const variables = { workspaceId: this.given.workspace.id, brands, since };
    const found = await this.attempt("marketing", () => graphql(MARKETING_REPORT, variables));
    if (!found) return;
    this.marketing = found.marketingReport;
    this.tell(`${plural(this.marketing.documents, "document")} looked at.`);
  }

  async reportCode() {
    const found = await this.attempt("code", () => graphql(CODE_REPORT, { workspaceId: this.given.workspace.id }));
    if (!found) return;
    this.code = found.codeReport;
    this.tell(`${plural(this.code.files, "file")} of programs looked at.`);
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    return html`<h1>Reports</h1>
      <p class="small">Of the texts that you may read. Nothing is kept, asked outside or run.</p>
      ${faultNote(this.fault)}
      <section class="card" aria-labelledby="marketing-title">
        <h2 id="marketing-title">Brands</h2>
        <form class="row" @submit=${this.reportMarketing}>
          <label class="grow"><span>Brands, with commas between</span><input name="brands" required maxlength="500" /></label>
          <label
            ><span>Published within</span>
            <select name="days">
              <option value="0">any time</option>
              <option value="7">7 days</option>
              <option value="30">30 days</option>
            </select>
          </label>
          <button class="primary" ?disabled=${this.busy === "marketing"}>Report brands</button>
        </form>
        ${this.busy === "marketing" ? waiting() : this.marketing ? brandsOf(this.marketing) : nothing}
      </section>
      <section class="card" aria-labelledby="code-title">
        <h2 id="code-title">Code</h2>
        <div class="row">
          <button @click=${this.reportCode} ?disabled=${this.busy === "code"}>Report code</button>
        </div>
        ${this.busy === "code" ? waiting() : this.code ? codeOf(this.code) : nothing}
      </section>`;
  }
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const at = (place) => html`<span class="mono">${place.sourcePath}:${place.line}</span>`;
const cutOff = (isComplete) => (isComplete ? nothing : html`<p class="note">Only the newest texts were looked at.</p>`);

function table(heads, rows) {
  return html`<table class="stack">
    <thead>
      <tr>
        ${heads.map((one) => html`<th scope="col">${one}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map((cells) => html`<tr>${cells.map((one) => html`<td>${one}</td>`)}</tr>`)}
    </tbody>
  </table>`;
}

function brandsOf(report) {
  const sentences = report.brands.flatMap((one) => one.sentences.slice(0, SHOWN).map((said) => ({ brand: one.brand, ...said })));
  return html`${cutOff(report.isComplete)}
    <h3>Share of voice</h3>
    ${table(
      ["Brand", "Share", "Mentions", "Documents", "Positive", "Negative", "Neutral", "Not read"],
      report.brands.map((one) => [
        one.brand, percent(one.share), count(one.mentions), count(one.documents), count(one.positive), count(one.negative),
        count(one.neutral), count(one.otherLanguage),
      ]),
    )}
    <h3>Channels</h3>
    <p class="small">Diversity ${report.diversity.toFixed(2)}: 1 where all have as many, 0 for one alone.</p>
    ${table(["Channel", "Documents"], report.channels.map((one) => [one.name, count(one.documents)]))}
    <h3>Sentences</h3>
    ${table(
      ["Brand", "Tone", "By", "At", "Sentence"],
      sentences.map((one) => [
        one.brand, one.compound === null ? "not read" : one.compound.toFixed(2), one.words.join(", "), at(one.place), one.place.text,
      ]),
    )}
    <h3>Disclosures</h3>
    <p>${plural(report.promotional, "document")} that sell, ${count(report.undisclosed)} without a label near.</p>
    ${report.disclosures.length
      ? table(
          ["At", "Sells by", "Label"],
          report.disclosures.slice(0, SHOWN).map((one) => [at(one.promotion), one.promotion.text, one.label?.text ?? "none"]),
        )
      : nothing}`;
}

function codeOf(report) {
  return html`${cutOff(report.isComplete)}
    <h3>Work left over</h3>
    <p>
      ${plural(report.marks, "mark")} in ${plural(report.lines, "line")} of ${plural(report.files, "file")}:
      ${report.density.toFixed(1)} for each 1,000.
    </p>
    ${report.leftOver.length
      ? table(
          ["At", "In", "Mark"],
          report.leftOver.slice(0, SHOWN).map((one) => [at(one.place), one.symbol ?? "–", one.place.text]),
        )
      : nothing}
    <h3>Versions apart</h3>
    <p>${count(report.drifts)} among ${plural(report.packages, "package")}.</p>
    ${report.drift.length
      ? table(
          ["Package", "Kind", "Used", "Stated"],
          report.drift
            .slice(0, SHOWN)
            .map((one) => [one.package, sentence(one.kind), html`${one.used} ${at(one.usedAt)}`, html`${one.stated} ${at(one.statedAt)}`]),
        )
      : nothing}
    <h3>Tests that failed</h3>
    <p>${count(report.failures)} of ${plural(report.testCases, "case")}, by the reports in the workspace.</p>
    ${report.failed.length ? table(["Test", "At"], report.failed.slice(0, SHOWN).map((one) => [one.name, at(one.place)])) : nothing}
    ${report.unread.length
      ? html`<p class="note">Not what their names say: <span class="mono">${report.unread.join(", ")}</span></p>`
      : nothing}`;
}

customElements.define("rag-reports", RagReports);
