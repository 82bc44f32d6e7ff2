// What somebody sees who has no workspace, an empty one, or the sample.

import { Part, faultNote, html, nothing, waiting } from "./element.js";
import { change, graphql } from "./api.js";
import { loadSample, sample, uploads } from "./uploads.js";
import { CREATE_WORKSPACE } from "../operations/frame.js";
import { HAS_DOCUMENTS } from "../operations/knowledge.js";

const LANDMARK = "incident-2024-031-skn03-pitch-bearing.md";

class RagFirstRun extends Part {
  static properties = { given: { attribute: false }, found: { state: true }, questions: { state: true } };

  willUpdate(changed) {
    if (!changed.has("given") || this.given.workspace?.id === changed.get("given")?.workspace?.id) return;
    this.found = this.questions = null;
    this.look();
  }

  connectedCallback() {
    super.connectedCallback();
    this.redraw = () => this.requestUpdate();
    uploads.addEventListener("change", this.redraw);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    uploads.removeEventListener("change", this.redraw);
  }

  async look() {
    const workspaceId = this.given.workspace?.id;
    if (!workspaceId) return;
    const found = await this.attempt("look", () => graphql(HAS_DOCUMENTS, { workspaceId, landmark: LANDMARK }));
    if (!found || workspaceId !== this.given.workspace?.id) return;
    this.found = {
      isEmpty: found.any.nodes.length === 0,
      isSample: found.sample.nodes.length > 0,
      isReady: found.unready.nodes.length === 0,
    };
    if (this.found.isSample) this.questions = (await sample()).questions;
    if (this.found.isReady && !uploads.unfinished) this.stopTimer();
    else this.every(2, () => this.look());
  }

  async create(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const made = await this.attempt("create", () =>
      change(CREATE_WORKSPACE, { input: { name: data.get("name").trim() } }),
    );
    if (!made) return;
    if (data.get("sample")) await loadSample(made.workspace.id);
    this.tell(`The workspace ${made.workspace.name} is there.`);
    this.dispatchEvent(new CustomEvent("rag-workspaces", { bubbles: true, detail: made.workspace.id }));
  }

  async load() {
    await this.attempt("load", () => loadSample(this.given.workspace.id));
    this.tell("The sample corpus is being loaded.");
    this.look();
  }

  render() {
    if (!this.given.workspace) return this.withoutWorkspace();
    if (!this.found) return faultNote(this.fault);
    if (this.found.isEmpty && !uploads.unfinished) return this.withoutDocuments();
    return html`<section class="welcome">
      ${this.found.isReady && !uploads.unfinished
        ? nothing
        : waiting("The documents are being read. The first questions can be asked in a moment.")}
      ${this.questions && this.found.isSample && this.found.isReady && !uploads.unfinished
        ? html`<h2>Questions to begin with</h2>
            <ul class="plain-list proposals">
              ${this.questions.map(
                (one) => html`<li><button class="proposal" @click=${() => this.propose(one)}>${one}</button></li>`,
              )}
            </ul>`
        : html`<h2>Ask about your documents</h2>
            <p>Each sentence of an answer names its source. One click opens the source at the marked words.</p>`}
    </section>`;
  }

  propose(question) {
    this.dispatchEvent(new CustomEvent("rag-question", { detail: question }));
  }

  withoutWorkspace() {
    if (!this.allows("CREATE_WORKSPACE")) {
      return html`<div class="empty">
        <h1>No workspace yet</h1>
        <p>You may enter no workspace. An administrator of ${this.given.frame.organisation.name} lets you in.</p>
      </div>`;
    }
    return html`<form class="card narrow" @submit=${this.create}>
      <h1>Welcome</h1>
      <p>A workspace holds documents and answers questions over them. Make your first one.</p>
      <label for="name">Name of the workspace</label>
      <input id="name" name="name" required maxlength="200" value="documents" />
      <label class="check"><input type="checkbox" name="sample" checked /> Load the sample corpus, to try it at once</label>
      ${faultNote(this.fault)}
      <button class="main" ?disabled=${this.busy === "create"}>Make the workspace</button>
    </form>`;
  }

  withoutDocuments() {
    return html`<div class="empty">
      <h2>This workspace is empty</h2>
      ${this.allows("UPLOAD_DOCUMENT")
        ? html`<p>Add documents of your own, or try the sample: 22 files of a company that does not exist.</p>
            ${faultNote(this.fault)}
            <div class="row center">
              <a class="button main" href="#/knowledge">Add documents</a>
              <button @click=${this.load} ?disabled=${this.busy === "load"}>Load the sample corpus</button>
            </div>`
        : html`<p>Somebody with the role member adds documents.</p>`}
    </div>`;
  }
}

customElements.define("rag-first-run", RagFirstRun);
