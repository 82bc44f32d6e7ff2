// Access: API keys, who may enter the workspace, and what was done.

import { Part, empty, faultNote, html, nothing, repeat, waiting } from "../shared/element.js";
import { change, graphql } from "../shared/api.js";
import { ago, sentence, when } from "../shared/format.js";
import { ACCESS, AUDIT, CREATE_KEY, REVOKE_KEY, SHARE_WORKSPACE } from "../operations/administration.js";
import "../shared/confirm.js";

const ROLES = { VIEWER: "viewer: asks and reads", MEMBER: "member: also documents", ADMIN: "admin: also settings, keys, jobs", OPERATOR: "operator: everything" };
const ORDER = Object.keys(ROLES);

class RagAccess extends Part {
  static properties = {
    given: { attribute: false },
    found: { state: true },
    token: { state: true },
    audit: { state: true },
    isMaking: { state: true },
  };

  willUpdate(changed) {
    if (!changed.has("given") || this.given.workspace?.id === changed.get("given")?.workspace?.id) return;
    this.load();
    this.loadAudit();
  }

  async load() {
    if (!this.given.workspace) return;
    const found = await this.attempt("load", () => graphql(ACCESS, { workspaceId: this.given.workspace.id }));
    if (found) this.found = found;
  }

  async loadAudit(after = null) {
    if (!this.allows("READ_AUDIT_LOG")) return;
    const data = await this.attempt("audit", () => graphql(AUDIT, { after }));
    if (!data) return;
    this.audit = [...(after ? this.audit : []), ...data.auditLog.nodes];
    this.cursor = data.auditLog.pageInfo.hasNextPage ? data.auditLog.pageInfo.endCursor : null;
  }

  async make(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const days = Number(data.get("days"));
    const input = {
      name: data.get("name").trim(),
      role: data.get("role"),
      groups: names(data.get("groups")),
      expiresAt: days ? new Date(Date.now() + days * 86_400_000).toISOString() : null,
    };
    const made = await this.attempt("make", () => change(CREATE_KEY, { input }));
    if (!made) return;
    this.token = { name: made.apiKey.name, text: made.token };
    this.isMaking = false;
    this.tell(`The key ${made.apiKey.name} is made. Copy its token now: it is not shown again.`);
    await this.load();
  }

  async revoke(key) {
    const sure = await this.querySelector("rag-confirm").ask({
      title: `Revoke ${key.name}?`,
      text: "Whoever uses it is refused within 30 seconds. It cannot be given back.",
      word: "Revoke",
    });
    if (!sure || !(await this.attempt("revoke", () => change(REVOKE_KEY, { id: key.id })))) return;
    this.tell(`${key.name} is revoked.`);
    await this.load();
  }

  async share(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const variables = {
      workspaceId: this.given.workspace.id,
      readers: data.get("readers").trim() ? names(data.get("readers")) : null,
      writers: data.get("writers").trim() ? names(data.get("writers")) : null,
    };
    if (!(await this.attempt("share", () => change(SHARE_WORKSPACE, variables)))) return;
    this.tell("Who may enter is changed.");
    await this.load();
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    return html`<h1>Access</h1>
      ${faultNote(this.fault)} ${this.found ? html`${this.keys()} ${this.readers()}` : this.fault ? nothing : waiting()}
      ${this.audit ? this.acts() : nothing}
      <rag-confirm></rag-confirm>`;
  }

  keys() {
    const now = Date.now();
    return html`<section class="card" aria-labelledby="keys-title">
      <div class="head">
        <h2 id="keys-title">API keys</h2>
        <span class="grow"></span>
        <button aria-expanded=${Boolean(this.isMaking)} @click=${() => (this.isMaking = !this.isMaking)}>Make a key</button>
      </div>
      ${this.isMaking ? this.form() : nothing}
      ${this.token
        ? html`<div class="note">
            <p>The token of <strong>${this.token.name}</strong>. Copy it now: it is not shown again.</p>
            <code class="token" tabindex="0">${this.token.text}</code>
            <button @click=${() => (this.token = null)}>I have it</button>
          </div>`
        : nothing}
      ${this.found.apiKeys.length
        ? html`<table class="stack">
            <thead>
              <tr>
                <th scope="col">Key</th><th scope="col">Role</th><th scope="col">Last used</th><th scope="col">Until</th>
                <th scope="col"><span class="unseen">Actions</span></th>
              </tr>
            </thead>
            <tbody>
              ${repeat(
                this.found.apiKeys,
                (one) => one.id,
                (one) => {
                  const isOver = one.revokedAt || (one.expiresAt && new Date(one.expiresAt) < now);
                  return html`<tr>
                    <td>
                      <span class="document-title">${one.name}</span>
                      <span class="small block">
                        acts as key:${one.subject}${one.groups.length ? `, in ${one.groups.join(", ")}` : ""}
                      </span>
                    </td>
                    <td>
                      ${sentence(one.role)}${one.scopes
                        ? html`<span class="small block">only ${one.scopes.map((scope) => scope.toLowerCase()).join(", ")}</span>`
                        : nothing}
                    </td>
                    <td class="small" title=${when(one.lastUsedAt)}>${one.lastUsedAt ? ago(one.lastUsedAt) : "never"}</td>
                    <td class="small">
                      ${one.revokedAt
                        ? html`<span class="chip bad">Revoked</span>`
                        : isOver
                          ? html`<span class="chip warn">Expired</span>`
                          : one.expiresAt
                            ? when(one.expiresAt)
                            : "revoked"}
                    </td>
                    <td>
                      <div class="row end">
                        ${isOver
                          ? nothing
                          : html`<button class="plain" aria-label="Revoke ${one.name}" @click=${() => this.revoke(one)}>
                              Revoke
                            </button>`}
                      </div>
                    </td>
                  </tr>`;
                },
              )}
            </tbody>
          </table>`
        : html`<p class="small">There are none. People of an issuer and agents with keys stand side by side.</p>`}
    </section>`;
  }

  form() {
    const mine = ORDER.indexOf(this.given.frame.caller.role);
    return html`<form class="why" @submit=${this.make} autocomplete="off">
      <div class="fields">
        <label><span>Name</span><input name="name" required maxlength="200" /></label>
        <label>
          <span>Role</span>
          <select name="role">
            ${ORDER.slice(0, mine + 1).map((role) => html`<option value=${role}>${ROLES[role]}</option>`)}
          </select>
        </label>
        <label><span>Groups, separated by commas</span><input name="groups" /></label>
        <label>
          <span>Valid for</span>
          <select name="days">
            <option value="30">30 days</option>
            <option value="90" selected>90 days</option>
            <option value="365">a year</option>
            <option value="0">until it is revoked</option>
          </select>
        </label>
      </div>
      <div class="row"><button class="main" ?disabled=${this.busy === "make"}>Make it</button></div>
    </form>`;
  }

  readers() {
    const { workspace } = this.found;
    return html`<section class="card" aria-labelledby="readers-title">
      <h2 id="readers-title">Who may enter ${workspace.name}</h2>
      <form class="why" @submit=${this.share} autocomplete="off">
        <div class="fields">
          <label>
            <span>Readers</span>
            <input name="readers" .value=${(workspace.readers ?? []).join(", ")} placeholder="everybody in the organisation" />
          </label>
          <label>
            <span>Writers</span>
            <input name="writers" .value=${(workspace.writers ?? []).join(", ")} placeholder="whoever may enter" />
          </label>
        </div>
        <p class="small">
          Names such as <code>user:ada</code>, <code>key:ci</code>, <code>group:people</code>, separated by commas; administrators may
          always. An empty field opens it to everybody.
        </p>
        <div class="row"><button class="main" ?disabled=${this.busy === "share"}>Change</button></div>
      </form>
    </section>`;
  }

  acts() {
    return html`<section class="card" aria-labelledby="audit-title">
      <h2 id="audit-title">What was done</h2>
      <table class="stack">
        <thead>
          <tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">Act</th><th scope="col">To what</th></tr>
        </thead>
        <tbody>
          ${repeat(
            this.audit,
            (one) => one.id,
            (one) => html`<tr>
              <td class="small" title=${when(one.createdAt)}>${ago(one.createdAt)}</td>
              <td>${one.actor}</td>
              <td class="mono">${one.action}</td>
              <td class="small mono">${one.subject}</td>
            </tr>`,
          )}
        </tbody>
      </table>
      ${this.cursor ? html`<button @click=${() => this.loadAudit(this.cursor)}>Show more</button>` : nothing}
    </section>`;
  }
}

function names(text) {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}

customElements.define("rag-access", RagAccess);
