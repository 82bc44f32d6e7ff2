// Evaluation: what `rag eval --background` found, one report or two beside each other, and when the workspace abstains.

import { Part, empty, faultNote, html, icon, nothing, repeat, svg, waiting } from "../shared/element.js";
import { graphql } from "../shared/api.js";
import { ago, count, duration, plural, quoted, sentence, when } from "../shared/format.js";
import { OUTCOMES } from "../shared/outcomes.js";
import { LESS_IS_BETTER, compare, percent, titleOf } from "../shared/reports.js";
import { EVALUATION, EVALUATIONS, EVALUATION_REPORT } from "../operations/evaluation.js";
import "../shared/calibration.js";

const FIRST = ["answer_contained", "hit_rate", "false_abstention", "abstention_recall"];
const MOST_LISTED = 50;

class RagEvaluation extends Part {
  static properties = { given: { attribute: false }, evaluations: { state: true }, chosen: { state: true }, shown: { state: true } };

  constructor() {
    super();
    this.chosen = [];
  }

  connectedCallback() {
    super.connectedCallback();
    this.every(5, () => this.evaluations?.some((one) => one.figures.length === 0 && isMoving(one)) && this.load());
  }

  willUpdate(changed) {
    if (!changed.has("given")) return;
    const before = changed.get("given");
    const isOther = this.given.workspace?.id !== before?.workspace?.id;
    if (isOther) {
      this.evaluations = null;
      this.chosen = [];
      this.load();
    }
    const ids = this.given.rest.filter(Boolean).slice(0, 2);
    if (isOther || ids.join() !== before?.rest.join()) this.open(ids);
  }

  async load() {
    if (!this.given.workspace) return;
    const page = await this.attempt(this.busy, () => this.page(null));
    if (page) this.take(page, []);
  }

  async more() {
    const page = await this.attempt("more", () => this.page(this.cursor));
    if (page) this.take(page, this.evaluations);
  }

  async page(after) {
    const { jobs } = await graphql(EVALUATIONS, { workspaceId: this.given.workspace.id, after });
    const found = await Promise.all(jobs.nodes.map(({ id }) => graphql(EVALUATION, { jobId: id })));
    return { nodes: found.map((one) => one.evalRun).filter(Boolean), pageInfo: jobs.pageInfo };
  }

  take(page, before) {
    this.evaluations = [...before, ...page.nodes];
    this.hasMore = page.pageInfo.hasNextPage;
    this.cursor = page.pageInfo.endCursor;
  }

  // The reports of one evaluation or two.
  async open(ids) {
    this.shown = null;
    if (!ids.length || !this.given.workspace) return;
    const found = await this.attempt("open", () =>
      Promise.all(
        ids.map(async (jobId) => {
          const [{ evalRun }, whole] = await Promise.all([graphql(EVALUATION, { jobId }), graphql(EVALUATION_REPORT, { jobId })]);
          return evalRun && { ...evalRun, report: whole.evalRun?.report ? JSON.parse(whole.evalRun.report) : null };
        }),
      ),
    );
    if (found && ids.join() === this.given.rest.join()) this.shown = found;
  }

  choose(id, isChosen) {
    this.chosen = isChosen ? [...this.chosen, id].slice(-2) : this.chosen.filter((one) => one !== id);
    if (this.chosen.length === 2) this.tell("Two evaluations are chosen: they can be compared.");
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    if (this.given.rest[0]) return this.opened();
    return html`<div class="head">
        <h1>Evaluation</h1>
        <span class="grow"></span>
        <button @click=${this.load}>Refresh</button>
      </div>
      ${faultNote(this.fault)} ${this.list()}
      <rag-calibration .workspaceId=${this.given.workspace.id}></rag-calibration>`;
  }

  list() {
    if (!this.evaluations) return this.fault ? nothing : waiting();
    if (!this.evaluations.length) {
      const command = `rag eval --workspace ${quoted(this.given.workspace.name)} --dataset questions.jsonl --background`;
      return empty("Nothing was evaluated yet", html`Write down questions with their answers, and have a worker ask them: <code>${command}</code>`);
    }
    // In the order of time: the second is compared with the first.
    const pair = this.evaluations.map((one) => one.jobId).filter((id) => this.chosen.includes(id)).reverse();
    return html`<section class="card" aria-labelledby="evaluations-title">
      <div class="head">
        <h2 id="evaluations-title">Evaluations</h2>
        <span class="grow"></span>
        ${pair.length === 2
          ? html`<a class="button main" href="#/evaluation/${pair[0]}/${pair[1]}">Compare the two</a>`
          : html`<span class="small">Choose two to compare them</span>`}
      </div>
      <table class="stack">
        <thead>
          <tr>
            <th scope="col">Questions</th>
            ${FIRST.map((name) => html`<th scope="col">${titleOf(name)}</th>`)}
            <th scope="col">When</th><th scope="col"><span class="unseen">Compare</span></th>
          </tr>
        </thead>
        <tbody>
          ${repeat(this.evaluations, (one) => one.jobId, (one) => this.row(one))}
        </tbody>
      </table>
      ${this.hasMore ? html`<button @click=${this.more} ?disabled=${this.busy === "more"}>Show more</button>` : nothing}
    </section>`;
  }

  row(one) {
    const figures = new Map(one.figures.map((figure) => [figure.name, figure]));
    return html`<tr>
      <td>
        <a class="document-title" href="#/evaluation/${one.jobId}">${one.dataset}</a>
        <span class="small block">${plural(one.questions, "question")}${one.figures.length ? "" : ` · ${standing(one)}`}</span>
      </td>
      ${FIRST.map((name) => html`<td class="figure"><span class="only-narrow small">${titleOf(name)}: </span>${figures.has(name) ? percent(figures.get(name).mean) : "–"}</td>`)}
      <td class="small" title=${when(one.createdAt)}>${ago(one.createdAt)}</td>
      <td>
        <label class="row">
          <input
            type="checkbox"
            .checked=${this.chosen.includes(one.jobId)}
            ?disabled=${!one.figures.length}
            @change=${(event) => this.choose(one.jobId, event.target.checked)}
          />
          <span class="small">Compare<span class="unseen"> ${one.dataset} of ${when(one.createdAt)}</span></span>
        </label>
      </td>
    </tr>`;
  }

  opened() {
    const back = html`<div class="head"><a class="button plain" href="#/evaluation">${icon("back")} All evaluations</a></div>`;
    if (this.fault) return html`${back}${faultNote(this.fault)}`;
    if (!this.shown) return html`${back}${waiting()}`;
    if (this.shown.some((one) => !one)) {
      return html`${back}${empty("There is no such evaluation", "It was never there, or went with the runs of its day.")}`;
    }
    const [first, second] = this.shown;
    return html`${back}${second ? this.beside(first, second) : this.one(first)}`;
  }

  one(found) {
    return html`<h1>${found.dataset}</h1>
      <p class="small">${plural(found.questions, "question")}, ${plural(found.k, "passage")} an answer, asked ${when(found.createdAt)}</p>
      ${found.report ? html`${figuresOf(found)}${notAsWanted(found.report)}` : html`<div class="note" role="status"><p>${sentence(standing(found))}.</p></div>`}`;
  }

  beside(first, second) {
    const title = html`<h1>${first.dataset === second.dataset ? first.dataset : `${first.dataset} and ${second.dataset}`}</h1>
      <p class="small">${when(second.createdAt)} against ${when(first.createdAt)}</p>`;
    if (!first.report || !second.report) return html`${title}<p class="note">Both must be done before they are compared.</p>`;
    const found = compare(first.report, second.report);
    if (!found.shared) return html`${title}<p class="note warn">The two have no question in common, so nothing can be compared.</p>`;
    return html`${title}
      <section class="card" aria-labelledby="changes-title">
        <h2 id="changes-title">What changed</h2>
        <p class="small">
          Over ${plural(found.shared, "question")} that both asked${found.others ? `; ${plural(found.others, "other")} not compared` : ""}.
        </p>
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">Figure</th><th scope="col">Before</th><th scope="col">After</th><th scope="col">Questions</th>
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            ${found.figures.map((one) => this.change(one))}
          </tbody>
        </table>
      </section>
      ${found.turned.length ? questionsOf("turned", "Turned right or wrong", found.turned) : nothing}`;
  }

  change(one) {
    const moved = one.better + one.worse;
    const verdict = !moved ? "The same" : one.isChance ? "May be chance" : one.better > one.worse ? "Better" : "Worse";
    const tone = { Better: "ok", Worse: "bad" }[verdict] ?? "";
    return html`<tr>
      <td>${titleOf(one.name)}</td>
      <td class="figure"><span class="only-narrow small">before </span>${percent(one.first)}</td>
      <td class="figure"><span class="only-narrow small">after </span>${percent(one.second)}</td>
      <td class="small">${count(one.better)} better, ${count(one.worse)} worse of ${count(one.questions)}</td>
      <td><span class="chip ${tone}">${verdict}</span></td>
    </tr>`;
  }
}

const isMoving = (one) => one.job?.state === "QUEUED" || one.job?.state === "RUNNING";

function standing(one) {
  if (isMoving(one)) return `${count(one.answered)} of ${count(one.questions)} answered`;
  return one.job?.errorMessage || `it ended after ${plural(one.answered, "answer")}`;
}

function figuresOf(found) {
  return html`<section class="card" aria-labelledby="figures-title">
    <h2 id="figures-title">Figures</h2>
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">Figure</th><th scope="col">Mean</th><th scope="col">95 % interval</th>
          <th scope="col">Questions</th><th scope="col"><span class="unseen">As a bar</span></th>
        </tr>
      </thead>
      <tbody>
        ${found.figures.map(
          (one) => html`<tr>
            <td>${titleOf(one.name)}${LESS_IS_BETTER.has(one.name) ? html` <span class="small">less is better</span>` : nothing}</td>
            <td class="figure">${percent(one.mean)}</td>
            <td class="figure">${percent(one.low)} to ${percent(one.high)}</td>
            <td class="figure">${plural(one.questions, "question")}</td>
            <td>${bar(one)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

function bar({ mean, low, high }) {
  return html`<svg class="interval" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
    ${svg`<rect class="lane" width="100" height="12"></rect><rect class="reach" x=${100 * low} width=${Math.max(1, 100 * (high - low))} height="12"></rect>
      <rect class="mean" x=${Math.min(99, 100 * mean)} width="1" height="12"></rect>`}
  </svg>`;
}

function notAsWanted(report) {
  const wrong = report.questions.filter((one) => !one.right);
  if (!wrong.length) return html`<section class="card"><h2>Not as wanted</h2><p>None.</p></section>`;
  return questionsOf("wrong", "Not as wanted", wrong);
}

function questionsOf(name, title, questions) {
  const listed = questions.slice(0, MOST_LISTED);
  return html`<section class="card" aria-labelledby="${name}-title">
    <h2 id="${name}-title">${title} (${count(questions.length)})</h2>
    <ul class="plain-list">
      ${listed.map((one) => html`<li>${question(one)}</li>`)}
    </ul>
    ${listed.length < questions.length ? html`<p class="small">The first ${count(listed.length)} are listed.</p>` : nothing}
  </section>`;
}

function question(one) {
  const outcome = OUTCOMES[one.outcome];
  return html`<p>
      ${one.runId ? html`<a href="#/runs/${one.runId}">${one.question}</a>` : one.question}
      <span class="chip ${one.right ? "ok" : "bad"}">${one.right ? "right" : "not as wanted"}</span>
      ${outcome ? html`<span class="chip ${outcome.tone}">${outcome.word}</span>` : nothing}
    </p>
    <p class="small">
      wanted: ${one.wanted.join("; ") || (one.gold.length ? one.gold.join(", ") : "an abstention")} · cited:
      ${[...new Set(one.cited)].join(", ") || "nothing"} · ${duration(one.seconds)}
    </p>`;
}

customElements.define("rag-evaluation", RagEvaluation);
