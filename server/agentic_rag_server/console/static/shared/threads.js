// The caller's conversations beside the question: found again, renamed, deleted.

import { Part, faultNote, html, icon, nothing, repeat, waiting } from "./element.js";
import { change, graphql } from "./api.js";
import { ago, plural } from "./format.js";
import { DELETE_THREAD, RENAME_THREAD, THREADS } from "../operations/threads.js";
import "./confirm.js";

class RagThreads extends Part {
  static properties = {
    workspaceId: { attribute: false },
    current: { attribute: false },
    threads: { state: true },
    renamed: { state: true },
  };

  willUpdate(changed) {
    if (changed.has("workspaceId")) this.load();
  }

  async load() {
    const page = await this.attempt("load", () => this.page(null));
    if (page) this.take(page, []);
  }

  async more() {
    const page = await this.attempt("more", () => this.page(this.cursor));
    if (page) this.take(page, this.threads);
  }

  async page(after) {
    return (await graphql(THREADS, { workspaceId: this.workspaceId, after })).threads;
  }

  take(page, before) {
    this.threads = [...before, ...page.nodes];
    this.hasMore = page.pageInfo.hasNextPage;
    this.cursor = page.pageInfo.endCursor;
  }

  async begin(thread) {
    this.renamed = thread.id;
    await this.updateComplete;
    this.querySelector(".renaming input")?.select();
  }

  async rename(event) {
    event.preventDefault();
    const { id } = this.threads.find((one) => one.id === this.renamed);
    const title = new FormData(event.target).get("title").trim();
    const kept = await this.attempt("rename", () => change(RENAME_THREAD, { id, title }));
    if (!kept) return;
    this.threads = this.threads.map((one) => (one.id === id ? { ...one, title: kept.thread.title } : one));
    this.tell(`Renamed to ${kept.thread.title}.`);
    await this.leave(id);
  }

  async leave(id) {
    this.renamed = null;
    await this.updateComplete;
    this.querySelector(`[data-rename="${id}"]`)?.focus();
  }

  async forget(thread) {
    const yes = await this.querySelector("rag-confirm").ask({
      title: "Delete this conversation?",
      text: `“${thread.title}” goes with ${plural(thread.turns, "question")}, the answers and what was said of them. They cannot be brought back. What they cost stays in the usage.`,
      word: "Delete",
    });
    if (!yes) return;
    const gone = await this.attempt("delete", () => change(DELETE_THREAD, { id: thread.id }));
    if (!gone) return;
    this.threads = this.threads.filter((one) => one.id !== thread.id);
    this.tell(`Deleted, with ${plural(gone.deletedRuns, "question")}.`);
    this.dispatchEvent(new CustomEvent("rag-thread-deleted", { detail: thread.id }));
    this.querySelector("summary").focus();
  }

  render() {
    return html`<details class="threads card" ?open=${matchMedia("(min-width: 64rem)").matches}>
        <summary>Your conversations${this.threads?.length ? ` (${this.threads.length}${this.hasMore ? "+" : ""})` : ""}</summary>
        ${faultNote(this.fault)}
        ${!this.threads
          ? this.fault
            ? nothing
            : waiting()
          : !this.threads.length
            ? html`<p class="small">What you ask is kept here. Nobody else sees it as a conversation.</p>`
            : html`<ul class="plain-list">
                ${repeat(this.threads, (one) => one.id, (one) => html`<li>${this.renamed === one.id ? this.naming(one) : this.row(one)}</li>`)}
              </ul>`}
        ${this.hasMore ? html`<button ?disabled=${this.busy === "more"} @click=${this.more}>Show more</button>` : nothing}
      </details>
      <rag-confirm></rag-confirm>`;
  }

  row(one) {
    return html`<a class="thread" href="#/ask/${one.id}" aria-current=${one.id === this.current ? "true" : nothing}>
        <span class="title">${one.title}</span>
        <span class="small">${plural(one.turns, "question")} · ${ago(one.lastAt)}</span>
      </a>
      <span class="row">
        <button class="plain" data-rename=${one.id} aria-label="Rename ${one.title}" @click=${() => this.begin(one)}>Rename</button>
        <button class="plain" aria-label="Delete ${one.title}" title="Delete" @click=${() => this.forget(one)}>${icon("trash")}</button>
      </span>`;
  }

  naming(one) {
    return html`<form class="renaming" @submit=${this.rename} @keydown=${(event) => event.key === "Escape" && this.leave(one.id)}>
      <label><span>Name of the conversation</span><input name="title" maxlength="200" required .value=${one.title} /></label>
      <span class="row">
        <button class="main" ?disabled=${this.busy === "rename"}>Rename</button>
        <button type="button" @click=${() => this.leave(one.id)}>Cancel</button>
      </span>
    </form>`;
  }
}

customElements.define("rag-threads", RagThreads);
