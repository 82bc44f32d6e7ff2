// Where files are dropped or chosen, and how far their uploads are.

import { Part, html, icon, nothing, repeat } from "./element.js";
import { Fault, graphql } from "./api.js";
import { bytes, count, dollars, plural } from "./format.js";
import { uploads } from "./uploads.js";
import { KEYS_IN_HAND } from "../operations/knowledge.js";

class RagDropZone extends Part {
  static properties = { workspace: { attribute: false }, caller: { attribute: false }, isOver: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.redraw = () => this.requestUpdate();
    uploads.addEventListener("change", this.redraw);
    this.lookForKeys();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    uploads.removeEventListener("change", this.redraw);
  }

  get may() {
    return this.caller.allowed.includes("UPLOAD_DOCUMENT");
  }

  // An organisation that must bring a key of its own and has none: its documents would wait for ever.
  async lookForKeys() {
    if (!this.caller.allowed.includes("MANAGE_PROVIDER_KEYS")) return;
    try {
      const { modelSettings, providerKeys } = await graphql(KEYS_IN_HAND);
      this.lacksKey = modelSettings.mustBringKey && providerKeys.length === 0;
      this.requestUpdate();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }

  async drop(event) {
    event.preventDefault();
    this.isOver = false;
    if (this.may) this.add(await droppedFiles(event.dataTransfer));
  }

  choose(event) {
    this.add([...event.target.files]);
    event.target.value = "";
  }

  add(files) {
    if (!files.length) return;
    const isEstimated = this.querySelector("[name=estimate]").checked;
    const size = bytes(files.reduce((sum, one) => sum + one.size, 0));
    this.tell(`${plural(files.length, "file")}, ${size}: being ${isEstimated ? "read, not sent" : "sent"}.`);
    uploads.add(this.workspace.id, files, { isEstimated });
  }

  render() {
    if (!this.may) return html`<p class="note">You may read this workspace. To add documents takes the role member.</p>`;
    return html`
      ${this.lacksKey
        ? html`<div class="note warn">
            <p>
              <strong>No key of a model provider is configured.</strong> This organisation works with keys of its own only:
              documents wait until one is there. <a href="#/settings">Add a key</a>
            </p>
          </div>`
        : nothing}
      <div
        class="drop ${this.isOver ? "over" : ""}"
        @dragover=${(event) => {
          event.preventDefault();
          this.isOver = true;
        }}
        @dragleave=${() => (this.isOver = false)}
        @drop=${this.drop}
      >
        ${icon("upload")}
        <p><strong>Drop files or folders here</strong></p>
        <p class="small">PDF, Office, OpenDocument, HTML, Markdown, mail, archives, code and more.</p>
        <button @click=${() => this.querySelector("input[type=file]").click()}>Choose files</button>
        <label class="check"><input type="checkbox" name="estimate" />Tell first what embedding would cost</label>
        <input class="unseen" type="file" multiple tabindex="-1" aria-label="Files to upload" @change=${this.choose} />
      </div>
      ${this.estimate()} ${this.progress()}
    `;
  }

  // What files would cost that wait for a word.
  estimate() {
    const mine = uploads.items.filter((one) => one.workspaceId === this.workspace.id);
    const told = mine.filter((one) => one.state === "told");
    const unread = mine.filter((one) => one.state === "unread").length;
    if (!told.length && !unread) return nothing;
    const read = told.filter((one) => one.embedding).map((one) => one.embedding);
    const sum = (name) => read.reduce((total, one) => total + (one[name] ?? 0), 0);
    const cost = read.some((one) => one.costUsd === null) ? null : sum("costUsd");
    return html`<section class="card" aria-label="Estimate">
      <h2>${unread ? `Reading, ${plural(unread, "file")} to go` : "Not sent yet"}</h2>
      <p role="status">
        ${plural(sum("chunks"), "chunk")} to embed, about ${count(sum("tokens"))} tokens:
        <strong>${cost === 0 ? "nothing to pay" : `about ${dollars(cost)}`}</strong>
      </p>
      <ul class="plain-list uploads">
        ${repeat(
          told.slice(0, 30),
          (one) => one,
          (one) => html`<li>
            <span class="mono">${one.path}</span>
            ${one.embedding
              ? html`<span class="small">${plural(one.embedding.chunks, "chunk")}, ${dollars(one.embedding.costUsd)}</span>`
              : html`<span class="bad-text">${one.text}</span>`}
          </li>`,
        )}
      </ul>
      <div class="row">
        <button class="main" @click=${() => uploads.settle(this.workspace.id, true)}>Send</button>
        <button @click=${() => uploads.settle(this.workspace.id, false)}>Do not send</button>
      </div>
    </section>`;
  }

  progress() {
    const mine = uploads.items.filter((one) => one.workspaceId === this.workspace.id);
    const shown = mine.filter((one) => !["told", "unread"].includes(one.state) && (one.state !== "sent" || one.text));
    if (!shown.length) return nothing;
    const left = mine.filter((one) => one.state === "waiting" || one.state === "sending").length;
    return html`<section class="card" aria-label="Uploads">
      <div class="head">
        <h2>${left ? `Uploading, ${plural(left, "file")} to go` : "Uploads are done"}</h2>
        <span class="grow"></span>
        ${left ? nothing : html`<button class="plain" @click=${() => uploads.clear()}>Clear</button>`}
      </div>
      <ul class="plain-list uploads">
        ${repeat(
          shown.slice(0, 30),
          (one) => one,
          (one) => html`<li>
            <span class="mono">${one.path}</span>
            ${one.state === "failed"
              ? html`<button @click=${() => uploads.retry(one)}>Send again</button>`
              : html`<span class="small">${one.state === "sent" ? "Here already" : bytes(one.file.size)}</span>`}
            ${one.state === "sending"
              ? html`<progress max="1" .value=${one.share} aria-label="Sent of ${one.path}"></progress>`
              : nothing}
            ${one.state === "failed" ? html`<span class="bad-text">${one.text}</span>` : nothing}
          </li>`,
        )}
      </ul>
    </section>`;
  }
}

// The files of a drop, those in folders with their paths.
async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((one) => one.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((one) => one.isDirectory)) return [...transfer.files];
  const found = [];
  const walk = async (entry, prefix) => {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.push(Object.defineProperty(file, "webkitRelativePath", { value: prefix + file.name }));
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const children = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!children.length) return;
      for (const child of children) await walk(child, `${prefix}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}

customElements.define("rag-drop-zone", RagDropZone);
