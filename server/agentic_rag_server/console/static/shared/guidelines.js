// Plain-text guidelines of a workspace, for where its documents hold none.

import { Part, faultNote, html, nothing } from "./element.js";
import { change, graphql } from "./api.js";
import { count } from "./format.js";
import { UPDATE_WORKSPACE, WORKSPACE } from "../operations/knowledge.js";

const MOST = 50_000;

class RagGuidelines extends Part {
  static properties = { workspace: { attribute: false }, stored: { state: true }, text: { state: true } };

  willUpdate(changed) {
    if (changed.has("workspace") && this.workspace.id !== changed.get("workspace")?.id) this.load();
  }

  async load() {
    this.stored = null;
    if (this.workspace.kind !== "PROJECT") return;
    const data = await this.attempt("load", () => graphql(WORKSPACE, { id: this.workspace.id }));
    if (data) this.stored = this.text = data.workspace.settings.inlineGuidelines ?? "";
  }

  async save(event) {
    event.preventDefault();
    const input = { workspaceId: this.workspace.id, inlineGuidelines: this.text || null };
    if (!(await this.attempt("save", () => change(UPDATE_WORKSPACE, { input })))) return;
    this.stored = this.text;
    this.tell("The guidelines are kept.");
  }

  render() {
    if (this.stored === null) return faultNote(this.fault);
    return html`<form class="card" @submit=${this.save}>
      <label for="guidelines"><h2>Guidelines in plain text</h2></label>
      <p class="small" id="guidelines-help">
        Agents of this project are given them where its documents hold nothing about their task.
      </p>
      <textarea
        id="guidelines"
        rows="5"
        maxlength=${MOST}
        aria-describedby="guidelines-help"
        .value=${this.text}
        @input=${(event) => (this.text = event.target.value)}
      ></textarea>
      ${faultNote(this.fault)}
      <div class="row">
        <button class="main" ?disabled=${this.text === this.stored || this.busy === "save"}>Keep</button>
        ${this.text === this.stored
          ? nothing
          : html`<button type="button" @click=${() => (this.text = this.stored)}>Put back</button>`}
        <span class="small">${count(this.text.length)} of ${count(MOST)} characters</span>
      </div>
    </form>`;
  }
}

customElements.define("rag-guidelines", RagGuidelines);
