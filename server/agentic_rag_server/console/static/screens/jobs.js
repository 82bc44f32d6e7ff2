// Jobs and dead letters.

import { Part, empty, faultNote, html, nothing, repeat, waiting } from "../shared/element.js";
import { change, graphql } from "../shared/api.js";
import { follow } from "../shared/follow.js";
import { ago, duration, plural, sentence, when } from "../shared/format.js";
import { ATTEMPTS, JOBS, JOB_EVENTS, PURGE, REPLAY, WORKERS } from "../operations/jobs.js";
import "../shared/confirm.js";

const PAGE = 50;
const TONES = { DONE: "ok", DEAD: "bad", RUNNING: "accent", QUEUED: "", CANCELLED: "warn", PURGED: "" };
const WORDS = { DEAD: "Gave up" };
const FILTERS = [
  ["", "All"],
  ["QUEUED RUNNING", "Unfinished"],
  ["DONE", "Done"],
  ["DEAD", "Dead letters"],
];

class RagJobs extends Part {
  static properties = {
    given: { attribute: false },
    jobs: { state: true },
    states: { state: true },
    open: { state: true },
    history: { state: true },
    workers: { state: true },
  };

  constructor() {
    super();
    this.states = "";
    this.open = "";
  }

  connectedCallback() {
    super.connectedCallback();
    // Places in the queue change with other jobs, of which no event tells.
    this.every(15, () => this.jobs?.some((one) => one.queuePlace) && this.load());
  }

  willUpdate(changed) {
    if (!changed.has("given") || this.given.workspace?.id === changed.get("given")?.workspace?.id) return;
    this.jobs = null;
    this.load();
    if (this.allows("RUN_PLATFORM")) this.loadWorkers();
    this.unfollow?.();
    const workspaceId = this.given.workspace?.id;
    if (workspaceId) this.unfollow = follow(JOB_EVENTS, { workspaceId }, (event) => this.changed(event.job), () => this.load());
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.unfollow?.();
  }

  // A job as it is now: in its row, at the top where it is new, or gone where the list shows other states.
  changed(job) {
    if (!this.jobs) return;
    const isKnown = this.jobs.some((one) => one.id === job.id);
    const isWanted = !this.states || this.states.split(" ").includes(job.state);
    if (isWanted && isKnown) this.jobs = this.jobs.map((one) => (one.id === job.id ? job : one));
    else if (isWanted) this.jobs = [job, ...this.jobs];
    else if (isKnown) this.jobs = this.jobs.filter((one) => one.id !== job.id);
  }

  async page(after, first) {
    const states = this.states ? this.states.split(" ") : null;
    return (await graphql(JOBS, { workspaceId: this.given.workspace.id, after, first, states })).jobs;
  }

  async load() {
    if (!this.given.workspace) return;
    const page = await this.attempt(this.busy, () => this.page(null, Math.min(100, Math.max(PAGE, this.jobs?.length ?? 0))));
    if (page) this.take(page, []);
  }

  async more() {
    const page = await this.attempt("more", () => this.page(this.cursor, PAGE));
    if (page) this.take(page, this.jobs);
  }

  take(page, before) {
    this.jobs = [...before, ...page.nodes];
    this.hasMore = page.pageInfo.hasNextPage;
    this.cursor = page.pageInfo.endCursor;
  }

  async loadWorkers() {
    const data = await this.attempt("workers", () => graphql(WORKERS));
    if (data) this.workers = data.workers.filter((one) => !one.endedAt);
  }

  filter(value) {
    this.states = value;
    this.jobs = null;
    this.load();
  }

  async toggle(job) {
    this.open = this.open === job.id ? "" : job.id;
    this.history = null;
    if (!this.open) return;
    const data = await this.attempt(`open${job.id}`, () => graphql(ATTEMPTS, { id: job.id }));
    if (data) this.history = data.job;
  }

  async replay(job) {
    if (!(await this.attempt(`replay${job.id}`, () => change(REPLAY, { id: job.id })))) return;
    this.tell("The job is queued again.");
    await this.load();
  }

  async purge(job) {
    const sure = await this.querySelector("rag-confirm").ask({
      title: "Empty this dead letter?",
      text: "Its arguments, error texts and attempts are removed. It cannot be replayed afterwards.",
      word: "Empty it",
    });
    if (!sure || !(await this.attempt(`purge${job.id}`, () => change(PURGE, { id: job.id })))) return;
    this.tell("The dead letter is emptied.");
    await this.load();
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    return html`<div class="head">
        <h1>Jobs</h1>
        <span class="grow"></span>
        <div class="tabs" role="group" aria-label="Show">
          ${FILTERS.map(
            ([value, text]) =>
              html`<button class="plain" aria-pressed=${this.states === value} @click=${() => this.filter(value)}>
                ${text}
              </button>`,
          )}
        </div>
      </div>
      ${this.workersNote()} ${faultNote(this.fault)}
      ${this.jobs ? this.list() : this.fault ? nothing : waiting()}
      <rag-confirm></rag-confirm>`;
  }

  workersNote() {
    if (!this.workers) return nothing;
    const dead = this.workers.filter((one) => Date.now() - new Date(one.seenAt) > 120_000);
    const alive = this.workers.length - dead.length;
    return alive
      ? html`<p class="small">${plural(alive, "worker")} at work.</p>`
      : html`<p class="note warn">No worker is at work: jobs wait. Start one with <code>rag worker</code>.</p>`;
  }

  list() {
    if (!this.jobs.length) {
      return empty(
        this.states === "DEAD" ? "No dead letters" : "No jobs here",
        this.states === "DEAD"
          ? "Jobs that gave up would stand here, with their reason and a way to try them again."
          : "Uploads, deletions and upkeep are done by jobs.",
      );
    }
    return html`<section class="card">
      <table class="stack">
        <thead>
          <tr>
            <th scope="col">Job</th><th scope="col">State</th><th scope="col">Attempts</th><th scope="col">Changed</th>
            <th scope="col"><span class="unseen">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${repeat(this.jobs, (one) => one.id, (one) => this.row(one))}
        </tbody>
      </table>
      ${this.hasMore ? html`<button @click=${this.more} ?disabled=${this.busy === "more"}>Show more</button>` : nothing}
    </section>`;
  }

  row(one) {
    const isOpen = this.open === one.id;
    return html`<tr>
        <td>
          <span class="document-title">${sentence(one.kindName)}</span>
          ${one.document ? html`<span class="small block">${one.document.title}</span>` : nothing}
          ${one.errorMessage ? html`<span class="block bad-text">${one.errorMessage}</span>` : nothing}
        </td>
        <td>
          <span class="chip ${TONES[one.state]}">${WORDS[one.state] ?? sentence(one.state)}</span>
          ${one.state === "RUNNING"
            ? html`<progress max="100" .value=${one.progress} aria-label="Progress"></progress>`
            : nothing}
          ${one.queuePlace
            ? html`<span class="small block">
                ${one.queuePlace.before} before it${one.queuePlace.estimatedSeconds === null
                  ? ""
                  : `, done in about ${duration(one.queuePlace.estimatedSeconds)}`}
              </span>`
            : nothing}
        </td>
        <td class="figure">${one.attempts}</td>
        <td class="small" title=${when(one.updatedAt)}>${ago(one.updatedAt)}</td>
        <td>
          <div class="row end">
            ${one.state === "DEAD" && this.allows("REPLAY_DEAD_LETTER")
              ? html`<button @click=${() => this.replay(one)}>Try again</button>`
              : nothing}
            ${one.state === "DEAD" && this.allows("PURGE_DEAD_LETTER")
              ? html`<button class="plain" @click=${() => this.purge(one)}>Empty</button>`
              : nothing}
            <button
              class="plain"
              aria-expanded=${isOpen}
              aria-label="Details of ${sentence(one.kindName)}${one.document ? ` of ${one.document.title}` : ""}"
              @click=${() => this.toggle(one)}
            >
              Details
            </button>
          </div>
        </td>
      </tr>
      ${isOpen ? html`<tr><td colspan="5">${this.details(one)}</td></tr>` : nothing}`;
  }

  details(job) {
    if (!this.history) return waiting();
    return html`<dl class="facts">
      <dt>Job</dt><dd class="mono">${job.id}</dd>
      <dt>Made</dt><dd>${when(job.createdAt)}</dd>
      ${job.errorCode ? html`<dt>Code</dt><dd class="mono">${job.errorCode}</dd>` : nothing}
      ${(this.history.arguments ?? []).map((one) => html`<dt>${sentence(one.name)}</dt><dd class="mono">${one.value}</dd>`)}
      ${this.history.attemptHistory.map(
        (one) => html`<dt>Attempt ${one.attempt}</dt>
          <dd>
            ${when(one.startedAt)}, ${one.outcome ? sentence(one.outcome) : "under way"}${one.errorCode
              ? html` <span class="mono">${one.errorCode}</span>`
              : nothing}
            <span class="small block">on ${one.worker}</span>
            ${one.errorChain.map((line) => html`<span class="small block">${line}</span>`)}
          </dd>`,
      )}
      ${this.history.traceId ? html`<dt>Trace</dt><dd class="mono">${this.history.traceId}</dd>` : nothing}
    </dl>`;
  }
}

customElements.define("rag-jobs", RagJobs);
