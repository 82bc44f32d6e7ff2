// Ask: a conversation over a workspace.

import { Part, empty, faultNote, html, nothing, repeat, waiting } from "../shared/element.js";
import { change } from "../shared/api.js";
import { duration } from "../shared/format.js";
import { spoken } from "../shared/answer.js";
import { ASK } from "../operations/ask.js";
import "../shared/answer.js";
import "../shared/first-run.js";

class RagAsk extends Part {
  static properties = { given: { attribute: false }, turns: { state: true }, elapsed: { state: true } };

  constructor() {
    super();
    this.turns = [];
    this.elapsed = 0;
  }

  willUpdate(changed) {
    const before = changed.get("given")?.workspace?.id;
    if (changed.has("given") && before && before !== this.given.workspace?.id) this.restart();
  }

  restart() {
    this.running?.abort();
    this.turns = [];
    this.fault = null;
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
    const last = this.turns.findLast((one) => one.run);
    const input = { workspaceId: this.given.workspace.id, question, after: last?.run.id ?? null };
    const began = performance.now();
    this.elapsed = 0;
    this.asked = question;
    this.every(0.1, () => (this.elapsed = (performance.now() - began) / 1000));
    this.tell("Searching your documents.");
    const answer = await this.attempt("ask", () => change(ASK, { input }, { signal: this.running.signal }));
    this.stopTimer();
    this.asked = "";
    if (!answer) return;
    this.turns = [...this.turns, { question, run: answer.run }];
    this.field.value = "";
    await this.updateComplete;
    this.tell(spoken(answer.run));
    this.querySelector("li.turn:last-of-type")?.scrollIntoView({ block: "start" });
  }

  render() {
    const { workspace } = this.given;
    if (!workspace) return html`<rag-first-run .given=${this.given}></rag-first-run>`;
    return html`
      <div class="head">
        <h1>Ask</h1>
        <span class="grow"></span>
        ${this.turns.length
          ? html`<button @click=${() => this.restart()}>New conversation</button>`
          : nothing}
      </div>
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
      ${this.busy === "ask"
        ? html`<div class="turn">
            <h2 class="question">${this.asked}</h2>
            <div class="stages">
              ${waiting("Searching your documents, then checking every quote …")}
              <span class="small" aria-hidden="true">${duration(this.elapsed)}</span>
              <button class="plain" @click=${() => this.running.abort()}>Stop</button>
            </div>
          </div>`
        : nothing}
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
    `;
  }

  propose(question) {
    this.field.value = question;
    this.submit();
  }
}

customElements.define("rag-ask", RagAsk);
