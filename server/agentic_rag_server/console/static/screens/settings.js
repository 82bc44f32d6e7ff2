// Settings of the workspace and of the organisation.

import { Part, empty, faultNote, html, nothing, waiting } from "../shared/element.js";
import { change, graphql } from "../shared/api.js";
import { ago, sentence, when } from "../shared/format.js";
import { CREATE_WORKSPACE } from "../operations/frame.js";
import { UPDATE_WORKSPACE, WORKSPACE } from "../operations/knowledge.js";
import {
  DELETE_WORKSPACE,
  MODELS,
  REMOVE_KEY,
  RENAME_WORKSPACE,
  SET_FEATURE,
  SET_KEY,
  SET_MODELS,
} from "../operations/administration.js";
import "../shared/confirm.js";

const KEPT = [
  ["historyDays", "Superseded versions", 0],
  ["runsDays", "Runs", 1],
  ["jobsDays", "Finished jobs", 7],
  ["usageDays", "Usage by day", 32],
  ["auditDays", "Audit log", 30],
];
const FEATURES = {
  WEB_ACCESS: "Runs may look outside, where the workspace allows it too",
  RAG_GUIDELINES: "Guidelines of projects are given to agents",
  MEMBERS_OPEN_WORKSPACES: "Members may make workspaces",
};
const PROVIDERS = { OPENAI: "OpenAI", ANTHROPIC: "Anthropic", GEMINI: "Gemini", COMPATIBLE: "Compatible with OpenAI" };

class RagSettings extends Part {
  static properties = { given: { attribute: false }, workspace: { state: true }, models: { state: true } };

  willUpdate(changed) {
    if (changed.has("given") && this.given.workspace?.id !== changed.get("given")?.workspace?.id) this.load();
  }

  async load() {
    if (this.given.workspace) {
      const data = await this.attempt("load", () => graphql(WORKSPACE, { id: this.given.workspace.id }));
      if (data) this.workspace = data.workspace;
    }
    if (!this.allows("MANAGE_PROVIDER_KEYS")) return;
    const models = await this.attempt("models", () => graphql(MODELS));
    if (models) this.models = models;
  }

  async act(name, operation, variables, told) {
    if (!(await this.attempt(name, () => change(operation, variables)))) return false;
    this.tell(told);
    await this.load();
    return true;
  }

  keep(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const { settings } = this.workspace;
    const number = (name) => (data.get(name) === "" ? null : Number(data.get(name)));
    // What is shown may be a default: only what was changed becomes the workspace's own decision.
    const input = { workspaceId: this.workspace.id };
    const chunkProfile = data.get("chunkProfile") || null;
    if (chunkProfile !== (settings.chunkProfile ?? null)) input.chunkProfile = chunkProfile;
    for (const [name] of KEPT) if (number(name) !== (settings[name] ?? null)) input[name] = number(name);
    const web = {
      allow: Boolean(data.get("web")),
      care: Number(data.get("care")),
      recrawlHours: Number(data.get("recrawlHours")),
      profile: data.get("profile"),
    };
    if (Object.entries(web).some(([name, value]) => settings.web[name] !== value)) input.web = web;
    const { topK, similarityThreshold, rerank } = settings.ragConfig;
    const first = Number(data.get("rerank"));
    if (first !== rerank) input.ragConfig = { topK, similarityThreshold, rerank: first };
    return this.act("keep", UPDATE_WORKSPACE, { input }, "The settings are kept.");
  }

  async rename(event) {
    event.preventDefault();
    const name = new FormData(event.target).get("name").trim();
    const variables = { workspaceId: this.workspace.id, name };
    if (await this.act("rename", RENAME_WORKSPACE, variables, `It is called ${name} now.`)) this.reloadFrame();
  }

  reloadFrame(chosen) {
    this.dispatchEvent(new CustomEvent("rag-workspaces", { bubbles: true, detail: chosen }));
  }

  async erase() {
    const { id, name } = this.workspace;
    const sure = await this.querySelector("rag-confirm").ask({
      title: `Delete the workspace ${name}?`,
      text: "All its documents, runs and jobs are erased from every store. This cannot be undone.",
      word: "Delete for good",
      repeat: name,
    });
    if (!sure) return;
    const variables = { workspaceId: id, confirmName: name };
    if (!(await this.attempt("erase", () => change(DELETE_WORKSPACE, variables)))) return;
    this.tell(`The workspace ${name} is deleted.`);
    this.reloadFrame();
  }

  async create(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const input = { name: data.get("name").trim(), kind: data.get("kind"), externalRef: data.get("ref").trim() || null };
    const made = await this.attempt("create", () => change(CREATE_WORKSPACE, { input }));
    if (!made) return;
    this.tell(`The workspace ${made.workspace.name} is there.`);
    this.reloadFrame(made.workspace.id);
  }

  render() {
    return html`<h1>Settings</h1>
      ${faultNote(this.fault)}
      ${this.given.workspace ? (this.workspace ? this.ofWorkspace() : this.fault ? nothing : waiting()) : nothing}
      ${this.allows("CREATE_WORKSPACE") ? this.newWorkspace() : nothing} ${this.models ? this.ofOrganisation() : nothing}
      ${this.workspace || this.allows("CREATE_WORKSPACE") ? nothing : empty("Nothing to set", "Your role reads settings of no workspace.")}
      <rag-confirm></rag-confirm>`;
  }

  ofWorkspace() {
    const { workspace } = this;
    const { settings } = workspace;
    const may = this.allows("CHANGE_WORKSPACE");
    return html`<section class="card" aria-labelledby="workspace-title">
      <h2 id="workspace-title">Workspace ${workspace.name}</h2>
      <dl class="facts">
        <dt>Kind</dt><dd>${sentence(workspace.kind)}${workspace.externalRef ? `, ${workspace.externalRef}` : ""}</dd>
        <dt>Made</dt><dd>${when(workspace.createdAt)}</dd>
        <dt>Version</dt><dd>${workspace.corpusVersion}</dd>
        <dt>Id</dt><dd class="mono">${workspace.id}</dd>
      </dl>
      ${may
        ? html`<form class="row search" @submit=${this.rename}>
              <label class="grow"><span>Name</span><input name="name" required maxlength="200" .value=${workspace.name} /></label>
              <button ?disabled=${this.busy === "rename"}>Rename</button>
            </form>
            <form class="why" @submit=${this.keep}>
              <h3>Kept for, in days</h3>
              <div class="fields">
                ${KEPT.map(
                  ([name, text, least]) => html`<label>
                    <span>${text}</span>
                    <input name=${name} type="number" min=${least} max="3650" .value=${settings[name] ?? ""} placeholder="default" />
                  </label>`,
                )}
              </div>
              <h3>Reading and answering</h3>
              <div class="fields">
                <label>
                  <span>How documents are cut</span>
                  <select name="chunkProfile">
                    ${[["", "by default"], ["default", "for people"], ["small", "small passages"], ["agent", "for agents"]].map(
                      ([value, text]) =>
                        html`<option value=${value} ?selected=${(settings.chunkProfile ?? "") === value}>${text}</option>`,
                    )}
                  </select>
                </label>
                <label>
                  <span>Which passages come first</span>
                  <select name="rerank">
                    ${[[0, "as the search finds them"], ...[2, 3, 4].map((one) => [one, `a model orders the first ${one}`])].map(
                      ([value, text]) =>
                        html`<option value=${value} ?selected=${settings.ragConfig.rerank === value}>${text}</option>`,
                    )}
                  </select>
                </label>
                <label>
                  <span>How readily it looks outside, 0 to 1</span>
                  <input name="care" type="number" min="0" max="1" step="0.05" .value=${settings.web.care} />
                </label>
                <label>
                  <span>How new answers have to be</span>
                  <select name="profile">
                    ${[["GENERAL", "as the question says"], ["MARKETING", "of this week"], ["CODE", "of this month"]].map(
                      ([value, text]) =>
                        html`<option value=${value} ?selected=${settings.web.profile === value}>${text}</option>`,
                    )}
                  </select>
                </label>
                <label>
                  <span>Ask for its web pages again within hours (0: never)</span>
                  <input name="recrawlHours" type="number" min="0" max="8760" .value=${settings.web.recrawlHours} />
                </label>
              </div>
              <label class="check">
                <input type="checkbox" name="web" ?checked=${settings.web.allow} /> Runs may look outside the workspace
              </label>
              <div class="row"><button class="main" ?disabled=${this.busy === "keep"}>Keep</button></div>
            </form>
            ${this.allows("DELETE_WORKSPACE")
              ? html`<div class="row end"><button class="danger" @click=${this.erase}>Delete the workspace</button></div>`
              : nothing}`
        : nothing}
    </section>`;
  }

  newWorkspace() {
    return html`<section class="card" aria-labelledby="new-title">
      <h2 id="new-title">A new workspace</h2>
      <form class="why" @submit=${this.create} autocomplete="off">
        <div class="fields">
          <label><span>Name</span><input name="name" required maxlength="200" /></label>
          <label>
            <span>Stands for</span>
            <select name="kind">
              <option value="GENERAL">documents</option>
              <option value="PROJECT">a project</option>
              <option value="AGENT">an agent</option>
            </select>
          </label>
          <label><span>Your own id of it, if any</span><input name="ref" maxlength="200" /></label>
        </div>
        <div class="row"><button class="main" ?disabled=${this.busy === "create"}>Make it</button></div>
      </form>
    </section>`;
  }

  ofOrganisation() {
    const { modelSettings, providerKeys, organisation } = this.models;
    return html`<section class="card" aria-labelledby="models-title">
        <h2 id="models-title">Models</h2>
        <form class="why" @submit=${this.setModels} autocomplete="off">
          <div class="fields">
            <label>
              <span>Chat model</span>
              <input name="defaultModel" .value=${modelSettings.defaultModel ?? ""} placeholder="none: answers are quotes" />
            </label>
            <label>
              <span>Embedding model</span>
              <input name="embedding" .value=${modelSettings.embedding ?? ""} placeholder="the server's" />
            </label>
          </div>
          <p class="small">As <code>PROVIDER:MODEL</code>. An empty field takes the decision back.</p>
          <div class="row"><button class="main" ?disabled=${this.busy === "set-models"}>Keep</button></div>
        </form>
        <h3>Keys of providers</h3>
        ${providerKeys.length
          ? html`<ul class="plain-list">
              ${providerKeys.map(
                (one) => html`<li class="row">
                  <span class="grow">
                    <span class="document-title">${PROVIDERS[one.provider]}</span> <span class="mono">…${one.hint}</span>
                    <span class="small block">by ${one.setBy}, ${ago(one.updatedAt)}</span>
                  </span>
                  <button class="plain" aria-label="Forget the key of ${PROVIDERS[one.provider]}" @click=${() => this.forget(one)}>
                    Forget
                  </button>
                </li>`,
              )}
            </ul>`
          : html`<p class="small">
              ${modelSettings.mustBringKey
                ? "None: this organisation has to bring its own before anything is embedded or asked of a model."
                : "None: the platform's models are used, where it has some."}
            </p>`}
        <form class="why" @submit=${this.setKey} autocomplete="off">
          <div class="fields">
            <label>
              <span>Provider</span>
              <select name="provider">
                ${Object.entries(PROVIDERS).map(([value, text]) => html`<option value=${value}>${text}</option>`)}
              </select>
            </label>
            <label><span>Key</span><input name="key" type="password" autocomplete="off" required /></label>
            <label><span>Address, of a compatible one</span><input name="baseUrl" type="url" /></label>
          </div>
          <div class="row">
            <button ?disabled=${this.busy === "set-key"}>Store the key</button>
            <span class="small">It is encrypted and never shown again.</span>
          </div>
        </form>
      </section>
      <section class="card" aria-labelledby="features-title">
        <h2 id="features-title">Organisation ${organisation.name}</h2>
        ${organisation.features.map(
          (one) => html`<label class="check">
            <input type="checkbox" .checked=${one.on} @change=${(event) => this.setFeature(one.flag, event.target)} />
            ${FEATURES[one.flag] ?? sentence(one.flag)}
          </label>`,
        )}
      </section>`;
  }

  setModels(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const input = { defaultModel: data.get("defaultModel").trim(), embedding: data.get("embedding").trim() };
    return this.act("set-models", SET_MODELS, { input }, "The models are set.");
  }

  async setKey(event) {
    event.preventDefault();
    const form = event.target;
    const data = new FormData(form);
    const input = { provider: data.get("provider"), key: data.get("key"), baseUrl: data.get("baseUrl").trim() || null };
    if (await this.act("set-key", SET_KEY, { input }, "The key is stored.")) form.reset();
  }

  async forget(one) {
    const sure = await this.querySelector("rag-confirm").ask({
      title: `Forget the key of ${PROVIDERS[one.provider]}?`,
      text: "What needs it is refused from now on.",
      word: "Forget it",
    });
    if (sure) await this.act("forget", REMOVE_KEY, { provider: one.provider }, "The key is forgotten.");
  }

  async setFeature(flag, box) {
    const done = await this.attempt("feature", () => graphql(SET_FEATURE, { flag, on: box.checked }));
    if (done) this.tell(`${FEATURES[flag] ?? sentence(flag)}: ${box.checked ? "on" : "off"}.`);
    await this.load();
  }
}

customElements.define("rag-settings", RagSettings);
