// Ask: a conversation over a workspace, kept to be found again.

import { Part, faultNote, html, nothing, repeat } from "../shared/element.js";
import { events, graphql, settled } from "../shared/api.js";
import { duration, plural } from "../shared/format.js";
import { session } from "../shared/session.js";
import { spoken } from "../shared/answer.js";
import { ASK } from "../operations/ask.js";
import { THREAD } from "../operations/threads.js";
import "../shared/answer.js";
import "../shared/first-run.js";
import "../shared/threads.js";

const DOING = {
  GATE: "Looking at the question",
  PLAN: "Planning",
  REWRITE: "Understanding the question",
  HYDE: "Thinking of what an answer would say",
  EMBED: "Looking up its meaning",
  RETRIEVE: "Searching your documents",
  TOOLS: "Using tools",
  SYNTHESIZE: "Writing the answer",
  SELF_CHECK: "Comparing every quote with the stored text",
  SEARCH: "Looking outside",
};

class RagAsk extends Part {
  static properties = { given: { attribute: false }, turns: { state: true }, elapsed: { state: true } };

  constructor() {
    super();
    this.turns = [];
    this.elapsed = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    this.keepTyped = ({ detail }) => {
      const typed = this.field?.value.trim();
      if (detail.said && typed) session.keepTyped(this.who, typed);
    };
    session.addEventListener("ended", this.keepTyped);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    session.removeEventListener("ended", this.keepTyped);
  }

  firstUpdated() {
    const typed = session.takeTyped(this.who);
    if (typed && this.field) this.field.value = typed;
  }

  get who() {
    const { caller, organisation } = this.given.frame;
    return `${organisation.id} ${caller.subject}`;
  }

  willUpdate(changed) {
    if (!changed.has("given")) return;
    const before = changed.get("given")?.workspace?.id;
    if (before && before !== this.given.workspace?.id) this.restart();
    const [thread] = this.given.rest;
    if (thread && thread !== this.thread) this.open(thread);
    if (!thread && this.thread && changed.get("given")?.rest[0]) this.restart();
  }

  restart() {
    this.running?.abort();
    this.turns = [];
    this.thread = this.earlier = null;
    this.fault = null;
  }

  begin() {
    this.restart();
    location.hash = "#/ask";
    this.field?.focus();
  }

  // A conversation from before, with its newest turns.
  async open(thread) {
    this.restart();
    this.thread = thread;
    const found = await this.attempt("open", async () => (await graphql(THREAD, { id: thread })).thread);
    if (this.thread !== thread || this.fault) return;
    if (!found || found.workspaceId !== this.given.workspace?.id) {
      this.thread = null;
      this.isMissing = true;
      this.requestUpdate();
      return;
    }
    this.isMissing = false;
    this.take(found.runs);
    this.tell(`${found.title}: ${plural(found.runs.nodes.length, "question")}.`);
  }

  async more() {
    const { thread, earlier } = this;
    const found = await this.attempt("more", () => graphql(THREAD, { id: thread, after: earlier }));
    if (found?.thread && this.thread === thread) this.take(found.thread.runs);
  }

  take(page) {
    this.turns = [...page.nodes.map((run) => ({ question: run.question, run })).reverse(), ...this.turns];
    this.earlier = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  }

  // After an answer: where it stands among the conversations.
  keep(run) {
    if (!run.threadId) return;
    if (this.thread !== run.threadId) {
      this.thread = run.threadId;
      history.replaceState(null, "", `#/ask/${run.threadId}`);
    }
    this.querySelector("rag-threads")?.load();
  }

  get field() {
    return this.querySelector("textarea");
  }

  submit(event) {
    event?.preventDefault();
    const question = this.field.value.trim();
    if (!question || this.busy) return;
    this.ask(question);
  }

  press(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.submit(event);
  }

  async ask(question) {
    this.running = new AbortController();
    const place = this.thread ? { thread: this.thread } : { beginThread: true };
    const input = { workspaceId: this.given.workspace.id, question, ...place };
    const began = performance.now();
    this.elapsed = 0;
    this.asked = question;
    this.every(0.1, () => (this.elapsed = (performance.now() - began) / 1000));
    this.tell("Searching your documents.");
    this.stage = "GATE";
    this.draft = "";
    this.verified = 0;
    const answer = await this.attempt("ask", () => this.follow(input));
    this.stopTimer();
    this.asked = "";
    if (!answer) return;
    this.turns = [...this.turns, { question, run: answer.run }];
    this.isMissing = false;
    this.keep(answer.run);
    this.field.value = "";
    await this.updateComplete;
    this.tell(spoken(answer.run));
    this.querySelector("li.turn:last-of-type")?.scrollIntoView({ block: "start" });
  }

  // The answer; meanwhile the screen shows what is done for it.
  async follow(input) {
    for await (const event of events(ASK, { input }, { signal: this.running.signal })) {
      if (event.kind === "STAGE_STARTED") this.stage = event.stage.toUpperCase();
      if (event.kind === "DRAFT") this.draft = event.draft;
      if (event.kind === "CITATION") this.verified += 1;
      if (event.kind === "ANSWER") return settled(event.answer);
      this.requestUpdate();
    }
    return undefined;
  }

  working() {
    const doing = DOING[this.stage] ?? "Working";
    return html`<div class="turn">
      <h2 class="question">${this.asked}</h2>
      <div class="answer">
        <div class="stages">
          <span class="waiting"><span class="spinner" aria-hidden="true"></span>${doing} …</span>
          <span class="small" aria-hidden="true">${duration(this.elapsed)}</span>
          ${this.verified ? html`<span class="small">${plural(this.verified, "quote")} verified</span>` : nothing}
          <span class="grow"></span>
          <button @click=${() => this.running.abort()}>Stop</button>
        </div>
        ${this.draft
          ? html`<p class="small">A draft: its quotes are being compared with the stored text.</p>
              <div class="text draft">${this.draft}</div>`
          : nothing}
      </div>
    </div>`;
  }

  render() {
    const { workspace } = this.given;
    if (!workspace) return html`<rag-first-run .given=${this.given}></rag-first-run>`;
    return html`
      <div class="head">
        <h1>Ask</h1>
        <span class="grow"></span>
        ${this.turns.length
          ? html`<button @click=${this.begin}>New conversation</button>`
          : nothing}
      </div>
      <div class="with-threads">
      <rag-threads
        .workspaceId=${workspace.id}
        .current=${this.thread ?? ""}
        @rag-thread-deleted=${(event) => event.detail === this.thread && this.begin()}
      ></rag-threads>
      <div class="conversation">
      ${this.isMissing
        ? html`<p class="note warn" role="alert">
            This conversation is not there: it was deleted, its time is over, or it is of another workspace.
          </p>`
        : nothing}
      ${this.earlier
        ? html`<button ?disabled=${this.busy === "more"} @click=${this.more}>Show earlier questions</button>`
        : nothing}
      ${this.turns.length
        ? html`<ol class="turns">
            ${repeat(
              this.turns,
              (one) => one.run.id,
              (one) => html`<li class="turn">
                <h2 class="question">${one.question}</h2>
                <rag-answer compact .run=${one.run}></rag-answer>
              </li>`,
            )}
          </ol>`
        : this.busy
          ? nothing
          : html`<rag-first-run .given=${this.given} @rag-question=${(event) => this.propose(event.detail)}></rag-first-run>`}
      ${this.busy === "ask" ? this.working() : nothing}
      ${faultNote(this.fault)}
      <form class="asking card" @submit=${this.submit}>
        <label for="question">${this.turns.length ? "Ask on, or ask something else" : "Your question"}</label>
        <div class="row">
          <textarea
            id="question"
            rows="2"
            maxlength="4000"
            placeholder="What do your documents say about …?"
            @keydown=${this.press}
          ></textarea>
          <button class="main" ?disabled=${this.busy === "ask"}>Ask</button>
        </div>
        <p class="small">Answered from <strong>${workspace.name}</strong> only. Enter sends, Shift+Enter begins a new line.</p>
      </form>
      </div>
      </div>
    `;
  }

  propose(question) {
    this.field.value = question;
    this.submit();
  }
}

customElements.define("rag-ask", RagAsk);
