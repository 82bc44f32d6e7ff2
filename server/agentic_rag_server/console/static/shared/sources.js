// What a workspace follows outside: folders, repositories, buckets and sites, and how their synchronisation stands.

import { Part, faultNote, html, nothing, repeat, waiting } from "./element.js";
import { change, graphql } from "./api.js";
import { ago, count, plural, when } from "./format.js";
import { ADD_SOURCE, SOURCES, SYNC } from "../operations/knowledge.js";

const KINDS = { DIRECTORY: "Folder", GIT: "Repository", S3: "Bucket", SITEMAP: "Site" };

class RagSources extends Part {
  static properties = { given: { attribute: false }, sources: { state: true }, isAdding: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.every(4, () => this.sources?.some(isRunning) && this.load());
  }

  willUpdate(changed) {
    if (changed.has("given") && this.given.workspace.id !== changed.get("given")?.workspace?.id) {
      this.sources = null;
      this.load();
    }
  }

  async load() {
    const data = await this.attempt("load", () => graphql(SOURCES, { workspaceId: this.given.workspace.id }));
    if (data) this.sources = data.sources;
  }

  async sync(source) {
    if (!(await this.attempt(`sync${source.id}`, () => change(SYNC, { id: source.id })))) return;
    this.tell(`${source.name} is looked at now.`);
    await this.load();
  }

  async add(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const input = {
      workspaceId: this.given.workspace.id,
      name: data.get("name").trim(),
      kind: data.get("kind"),
      location: data.get("location").trim(),
      credential: data.get("credential") || null,
      internal: Boolean(data.get("internal")),
    };
    if (!(await this.attempt("add", () => change(ADD_SOURCE, { input })))) return;
    this.isAdding = false;
    this.tell(`${input.name} is followed now.`);
    await this.load();
  }

  render() {
    return html`<section class="card" aria-labelledby="sources-title">
      <div class="head">
        <h2 id="sources-title">Sources</h2>
        <span class="grow"></span>
        <button aria-expanded=${Boolean(this.isAdding)} @click=${() => (this.isAdding = !this.isAdding)}>
          Follow a source
        </button>
      </div>
      ${this.isAdding ? this.form() : nothing} ${faultNote(this.fault)}
      ${this.sources ? this.list() : this.fault ? nothing : waiting()}
    </section>`;
  }

  list() {
    if (!this.sources.length) {
      return html`<p class="small">Nothing is followed. A folder, a repository, a bucket or a site keeps itself up to date here.</p>`;
    }
    return html`<ul class="plain-list">
      ${repeat(
        this.sources,
        (one) => one.id,
        (one) => html`<li class="row">
          <div class="grow">
            <span class="document-title">${one.name}</span> ${this.state(one)}
            <span class="small block">${KINDS[one.kind]} <span class="mono">${one.location}</span></span>
            <span class="small block" title=${when(one.syncedAt)}>
              ${one.syncedAt ? `Up to date ${ago(one.syncedAt)}` : "Not synchronised yet"} ·
              ${plural(one.documentCounts.ready, "document")} ready${one.documentCounts.failed
                ? `, ${count(one.documentCounts.failed)} failed`
                : ""}${one.everySeconds ? "" : " · when asked only"}
            </span>
            ${one.errorMessage ? html`<span class="block bad-text">${one.errorMessage}</span>` : nothing}
            ${one.unreadable.slice(0, 3).map(
              (file) => html`<span class="block small warn-text"><span class="mono">${file.path}</span>: ${file.message}</span>`,
            )}
          </div>
          <button ?disabled=${isRunning(one) || one.leaving} @click=${() => this.sync(one)}>Look now</button>
        </li>`,
      )}
    </ul>`;
  }

  state(one) {
    if (one.leaving) return html`<span class="chip">Leaving</span>`;
    if (isRunning(one)) {
      return html`<span class="chip accent">${count(one.counts.done)} of ${count(one.counts.total)}</span>`;
    }
    if (one.resting) return html`<span class="chip bad">Resting</span>`;
    return one.failures ? html`<span class="chip warn">Failed</span>` : html`<span class="chip ok">Followed</span>`;
  }

  form() {
    const operator = this.allows("ADD_INTERNAL_SOURCE");
    return html`<form class="why" @submit=${this.add} autocomplete="off">
      <div class="fields">
        <label><span>Name</span><input name="name" required maxlength="200" /></label>
        <label>
          <span>Kind</span>
          <select name="kind">
            ${Object.entries(KINDS)
              .reverse()
              .map(([value, text]) => html`<option value=${value}>${text}</option>`)}
          </select>
        </label>
        <label><span>Address, repository, bucket or folder</span><input name="location" required /></label>
        <label><span>Credential, where it takes one</span><input name="credential" type="password" autocomplete="off" /></label>
      </div>
      ${operator
        ? html`<label class="check"><input type="checkbox" name="internal" /> It may reach files and addresses inside</label>`
        : nothing}
      <div class="row"><button class="main" ?disabled=${this.busy === "add"}>Follow it</button></div>
    </form>`;
  }
}

function isRunning(source) {
  return Boolean(source.startedAt) && (!source.syncedAt || source.startedAt > source.syncedAt) && !source.errorCode;
}

customElements.define("rag-sources", RagSources);
