// Usage and budgets: what models cost, by day and by model, and the ceilings.

import { Part, empty, faultNote, html, nothing, svg, waiting } from "../shared/element.js";
import { change, graphql } from "../shared/api.js";
import { count, day, dollars, plural, sentence, when } from "../shared/format.js";
import { SET_BUDGET, USAGE } from "../operations/administration.js";

const KINDS = { embedding: "embedding alone", chat: "chat models alone" };
const SPANS = [7, 30, 90];

class RagUsage extends Part {
  static properties = { given: { attribute: false }, found: { state: true }, days: { state: true } };

  constructor() {
    super();
    this.days = 30;
  }

  willUpdate(changed) {
    if (changed.has("given") && this.given.workspace?.id !== changed.get("given")?.workspace?.id) this.load();
  }

  async load() {
    if (!this.given.workspace) return;
    const to = new Date();
    const from = new Date(to - (this.days - 1) * 86_400_000);
    const [first, last] = [from, to].map((one) => one.toISOString().slice(0, 10));
    const variables = { from: first, to: last, workspaceId: this.given.workspace.id };
    const found = await this.attempt("load", () => graphql(USAGE, variables));
    if (found) this.found = { ...found, first };
  }

  async setBudget(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const amount = (name) => (data.get(name) === "" ? null : Number(data.get(name)));
    const input = {
      workspaceId: data.get("scope") === "workspace" ? this.given.workspace.id : null,
      dayUsd: amount("day"),
      monthUsd: amount("month"),
      dayEmbeddingUsd: amount("embedding"),
      dayChatUsd: amount("chat"),
      daySearches: amount("searches"),
      dayPages: amount("pages"),
    };
    if (!(await this.attempt("budget", () => change(SET_BUDGET, { input })))) return;
    this.tell("The ceilings are set.");
    await this.load();
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    return html`<div class="head">
        <h1>Usage & budgets</h1>
        <span class="grow"></span>
        <div class="tabs" role="group" aria-label="Span">
          ${SPANS.map(
            (span) =>
              html`<button
                class="plain"
                aria-pressed=${this.days === span}
                @click=${() => {
                  this.days = span;
                  this.load();
                }}
              >
                ${span} days
              </button>`,
          )}
        </div>
      </div>
      ${faultNote(this.fault)} ${this.found ? this.content() : this.fault ? nothing : waiting()}`;
  }

  content() {
    const { usage, budgets } = this.found;
    const sum = (name) => usage.lines.reduce((all, one) => all + one[name], 0);
    return html`<div class="tiles">
        ${tile("Cost", dollars(usage.costUsd), `prices of ${day(usage.pricedOn)}`)}
        ${tile("Calls", count(sum("calls")), usage.unpricedCalls ? `${count(usage.unpricedCalls)} without a known price` : "")}
        ${tile("Tokens in", count(sum("inputTokens")), "")} ${tile("Tokens out", count(sum("outputTokens")), "")}
      </div>
      ${usage.lines.length
        ? html`<section class="card" aria-labelledby="days-title">
              <h2 id="days-title">By day</h2>
              ${this.chart(usage.lines)}
            </section>
            <section class="card" aria-labelledby="models-title">
              <h2 id="models-title">By model</h2>
              ${this.models(usage.lines)}
            </section>`
        : html`<p class="note">No model was called that costs anything in these days.</p>`}
      <section class="card" aria-labelledby="budgets-title">
        <h2 id="budgets-title">Ceilings</h2>
        ${budgets.length
          ? html`<ul class="plain-list">
              ${budgets.map((one) => this.ceiling(one))}
            </ul>`
          : html`<p class="small">None are set: calls of models are not held back by cost.</p>`}
        ${this.form()}
      </section>
      <section class="card" aria-labelledby="limits-title">
        <h2 id="limits-title">Limits of the organisation</h2>
        ${this.limits()}
      </section>`;
  }

  chart(lines) {
    const costs = new Map();
    for (const one of lines) costs.set(one.day, (costs.get(one.day) ?? 0) + one.costUsd);
    const days = [...Array(this.days).keys()].map((at) =>
      new Date(new Date(this.found.first).getTime() + at * 86_400_000).toISOString().slice(0, 10),
    );
    const most = Math.max(...costs.values(), 0.000001);
    const width = 1000 / days.length;
    return html`${svg`<svg class="chart" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img"
        aria-label=${`Cost by day, at most ${dollars(most)} on one`}>
        <line x1="0" y1="99.5" x2="1000" y2="99.5"></line>
        ${days.map((one, at) => {
          const height = ((costs.get(one) ?? 0) / most) * 96;
          return svg`<rect x=${at * width + width * 0.12} y=${99 - height} width=${width * 0.76} height=${height}>
            <title>${day(one)}: ${dollars(costs.get(one) ?? 0)}</title></rect>`;
        })}
      </svg>`}
      <p class="row small"><span class="grow">${day(days[0])}</span><span>${day(days.at(-1))}</span></p>`;
  }

  models(lines) {
    const rows = new Map();
    for (const one of lines) {
      const name = `${one.provider} ${one.model} ${one.kind}${one.ownKey ? ", own key" : ""}`;
      const row = rows.get(name) ?? { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unpricedCalls: 0 };
      for (const key of Object.keys(row)) row[key] += one[key];
      rows.set(name, row);
    }
    return html`<table class="stack">
      <thead>
        <tr>
          <th scope="col">Model</th><th scope="col">Calls</th><th scope="col">Tokens in / out</th><th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        ${[...rows].map(
          ([name, row]) => html`<tr>
            <td>${name}</td>
            <td class="figure">${plural(row.calls, "call")}</td>
            <td class="figure">${count(row.inputTokens)} / ${count(row.outputTokens)}</td>
            <td class="figure">
              ${dollars(row.costUsd)}${row.unpricedCalls ? html` <span class="small">${count(row.unpricedCalls)} unpriced</span>` : nothing}
            </td>
          </tr>`,
        )}
      </tbody>
    </table>`;
  }

  ceiling(one) {
    const share = one.limitUsd ? one.spentUsd / one.limitUsd : 1;
    const name = `${sentence(one.scope)}, each ${one.period}${one.kind ? `, ${KINDS[one.kind]}` : ""}`;
    return html`<li>
      <span class="row">
        <span class="grow">${name}</span>
        <span class="figure">${dollars(one.spentUsd)} of ${dollars(one.limitUsd)}</span>
        ${share >= 1 ? html`<span class="chip bad">Spent</span>` : share >= 0.8 ? html`<span class="chip warn">Nearly spent</span>` : nothing}
      </span>
      <progress max="1" .value=${Math.min(1, share)} aria-label="Spent of ${name}"></progress>
      <span class="small">begins anew ${when(one.resetsAt)}</span>
    </li>`;
  }

  form() {
    return html`<form class="why" @submit=${this.setBudget}>
      <h3>Set ceilings</h3>
      <div class="fields">
        <label>
          <span>Of</span>
          <select name="scope">
            <option value="workspace">this workspace</option>
            <option value="organisation">the whole organisation</option>
          </select>
        </label>
        <label><span>A day, in US dollars</span><input name="day" type="number" min="0" step="any" placeholder="none" /></label>
        <label><span>A month, in US dollars</span><input name="month" type="number" min="0" step="any" placeholder="none" /></label>
        <label><span>Embedding a day, in US dollars</span><input name="embedding" type="number" min="0" step="any" placeholder="none" /></label>
        <label><span>Chat models a day, in US dollars</span><input name="chat" type="number" min="0" step="any" placeholder="none" /></label>
        <label><span>Searches of the web a day</span><input name="searches" type="number" min="0" step="1" placeholder="the default" /></label>
        <label><span>Pages of the web a day</span><input name="pages" type="number" min="0" step="1" placeholder="the default" /></label>
      </div>
      <div class="row">
        <button class="main" ?disabled=${this.busy === "budget"}>Set</button>
        <span class="small">An empty field is no ceiling. All of them take the place of those before.</span>
      </div>
    </form>`;
  }

  limits() {
    const { rateLimits } = this.found;
    const shown = (value, unit) => (value === null ? "no limit" : `${count(value)} ${unit}`);
    return html`<dl class="facts">
      <dt>Questions</dt><dd>${shown(rateLimits.asks, "a minute")}</dd>
      <dt>Reads</dt><dd>${shown(rateLimits.reads, "a minute")}</dd>
      <dt>Changes</dt><dd>${shown(rateLimits.writes, "a minute")}</dd>
      <dt>Originals</dt><dd>${shown(rateLimits.storedMegabytes, "MB")}</dd>
    </dl>`;
  }
}

function tile(name, value, more) {
  return html`<div class="tile">
    <span class="small">${name}</span><strong>${value}</strong>${more ? html`<span class="small">${more}</span>` : nothing}
  </div>`;
}

customElements.define("rag-usage", RagUsage);
