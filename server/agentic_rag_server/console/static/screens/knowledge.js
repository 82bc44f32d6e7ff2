// Knowledge: what a workspace holds, how it gets in, and how it goes.

import { Part, empty, faultNote, html, icon, nothing, repeat, waiting } from "../shared/element.js";
import { change, graphql, save } from "../shared/api.js";
import { follow } from "../shared/follow.js";
import { ago, bytes, count, dollars, plural, reason, sentence, when, words } from "../shared/format.js";
import { uploads } from "../shared/uploads.js";
import { DELETE_DOCUMENT, DOCUMENTS, DOCUMENT_EVENTS, REINGEST, RESTORE, WITHDRAW } from "../operations/knowledge.js";
import "../shared/confirm.js";
import "../shared/drop-zone.js";
import "../shared/guidelines.js";
import "../shared/crawl.js";
import "../shared/sources.js";

const PAGE = 50;
const TONES = { READY: "ok", FAILED: "bad", PENDING: "", PROCESSING: "accent" };
const WORDS = { READY: "Ready", FAILED: "Failed", PENDING: "Waiting", PROCESSING: "Being read" };
const FILTERS = [
  ["", "All"],
  ["READY", "Ready"],
  ["PENDING PROCESSING", "On their way"],
  ["FAILED", "Failed"],
];

class RagKnowledge extends Part {
  static properties = {
    given: { attribute: false },
    documents: { state: true },
    statuses: { state: true },
    open: { state: true },
    certificate: { state: true },
  };

  constructor() {
    super();
    this.statuses = this.words = this.open = "";
  }

  connectedCallback() {
    super.connectedCallback();
    this.sent = () => this.refresh();
    uploads.addEventListener("change", this.sent);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    uploads.removeEventListener("change", this.sent);
    this.unfollow?.();
  }

  willUpdate(changed) {
    if (!changed.has("given") || this.given.workspace?.id === changed.get("given")?.workspace?.id) return;
    this.documents = this.certificate = null;
    this.words = "";
    this.hasMore = false;
    this.load();
    this.unfollow?.();
    const workspaceId = this.given.workspace?.id;
    if (!workspaceId) return;
    this.unfollow = follow(DOCUMENT_EVENTS, { workspaceId }, (event) => this.changed(event.document), () => this.refresh());
  }

  // A document as it is now: in its row, among the others by path where it is new, or gone where the list shows another
  // state. One behind the rows in hand comes with the next page.
  changed(document) {
    if (!this.documents) return;
    const before = this.documents.find((one) => one.id === document.id);
    const others = this.documents.filter((one) => one !== before);
    const hasState = !this.statuses || this.statuses.split(" ").includes(document.status);
    const name = folded(`${document.title} ${document.sourcePath}`);
    const isWanted = hasState && folded(this.words).split(/\s+/).every((one) => name.includes(one));
    const place = others.findIndex((one) => one.sourcePath > document.sourcePath);
    if (!isWanted || (!before && place < 0 && this.hasMore)) this.documents = others;
    else this.documents = others.toSpliced(place < 0 ? others.length : place, 0, document);
    this.tellOf(before, document);
  }

  tellOf(before, document) {
    if (!before || before.status === document.status) return;
    const { status, title } = document;
    if (status === "READY" || status === "FAILED") this.tell(`${title}: ${WORDS[status]}.`);
  }

  async page(after, first) {
    const statuses = this.statuses ? this.statuses.split(" ") : null;
    const filter = this.words ? { words: this.words } : null;
    const variables = { workspaceId: this.given.workspace.id, after, first, statuses, filter };
    return (await graphql(DOCUMENTS, variables)).documents;
  }

  async load() {
    if (!this.given.workspace) return;
    const page = await this.attempt("load", () => this.page(null, PAGE));
    if (page) this.take(page, []);
  }

  async more() {
    const page = await this.attempt("more", () => this.page(this.cursor, PAGE));
    if (page) this.take(page, this.documents);
  }

  // The rows in hand as they are now; at most one look at a time.
  async refresh() {
    if (this.isLooking || !this.documents) return;
    this.isLooking = true;
    const before = new Map(this.documents.map((one) => [one.id, one]));
    const page = await this.attempt(this.busy, () => this.page(null, Math.min(100, Math.max(PAGE, before.size))));
    this.isLooking = false;
    if (!page) return;
    if (before.size <= 100) this.take(page, []);
    for (const one of page.nodes) this.tellOf(before.get(one.id), one);
  }

  take(page, before) {
    this.documents = [...before, ...page.nodes];
    this.hasMore = page.pageInfo.hasNextPage;
    this.cursor = page.pageInfo.endCursor;
  }

  async act(name, document, operation, told) {
    if (!(await this.attempt(name + document.id, () => change(operation, { id: document.id })))) return;
    this.tell(told);
    await this.refresh();
  }

  async erase(document) {
    const sure = await this.querySelector("rag-confirm").ask({
      title: `Delete ${document.title}?`,
      text: "It is erased from every store at once: text, vectors, cached answers and the original. This cannot be undone.",
      word: "Delete for good",
    });
    if (!sure) return;
    const done = await this.attempt(`delete${document.id}`, () => change(DELETE_DOCUMENT, { id: document.id }));
    if (!done) return;
    this.certificate = { ...done.certificate, title: document.title, unfinished: done.unfinished };
    this.tell(`${document.title} is deleted.`);
    await this.refresh();
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    const { workspace, frame } = this.given;
    return html`
      <div class="head"><h1>Knowledge</h1></div>
      <rag-drop-zone .workspace=${workspace} .caller=${frame.caller}></rag-drop-zone>
      ${this.allows("CHANGE_WORKSPACE")
        ? html`<rag-guidelines .workspace=${workspace}></rag-guidelines>`
        : nothing}
      ${this.erased()}
      <section class="card" aria-labelledby="documents-title">
        <div class="head">
          <h2 id="documents-title">Documents</h2>
          <span class="grow"></span>
          <div class="tabs" role="group" aria-label="Show">
            ${FILTERS.map(
              ([value, text]) =>
                html`<button class="plain" aria-pressed=${this.statuses === value} @click=${() => this.filter(value)}>
                  ${text}
                </button>`,
            )}
          </div>
        </div>
        <form class="row search" role="search" @submit=${this.narrow}>
          <label class="grow">
            <span>Words of a title or file name</span><input name="words" type="search" maxlength="200" .value=${this.words} />
          </label>
          <button>Find</button>
        </form>
        ${faultNote(this.fault)} ${this.list()}
      </section>
      ${this.allows("MANAGE_SOURCES") ? html`<rag-sources .given=${this.given}></rag-sources>` : nothing}
      ${this.allows("CRAWL_WEB") ? html`<rag-crawl .given=${this.given}></rag-crawl>` : nothing}
      <rag-confirm></rag-confirm>
    `;
  }

  filter(value) {
    this.statuses = value;
    this.load();
  }

  narrow(event) {
    event.preventDefault();
    this.words = new FormData(event.currentTarget).get("words").trim();
    this.load();
  }

  list() {
    if (!this.documents) return this.fault ? nothing : waiting();
    if (!this.documents.length) {
      return html`<p class="small">
        ${this.words
          ? "No document has this in its name or title."
          : this.statuses
            ? "No document is in this state."
            : "There are no documents yet. Drop some above."}
      </p>`;
    }
    return html`<table class="stack">
        <thead>
          <tr>
            <th scope="col">Document</th><th scope="col">State</th><th scope="col">Size</th><th scope="col">Changed</th>
            <th scope="col"><span class="unseen">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${repeat(this.documents, (one) => one.id, (one) => this.row(one))}
        </tbody>
      </table>
      ${this.hasMore ? html`<button @click=${this.more} ?disabled=${this.busy === "more"}>Show more</button>` : nothing}`;
  }

  row(one) {
    const isOpen = this.open === one.id;
    return html`<tr>
        <td>
          <span class="document-title">${one.title}</span>
          <span class="small block mono">${one.sourcePath}</span>
          ${one.error ? html`<span class="block bad-text">${reason(one.error.message)}</span>` : nothing}
          ${one.unreadPages ? html`<span class="block warn-text">${unread(one.unreadPages)}</span>` : nothing}
          ${one.recognisedPages
            ? html`<span class="block small">
                The words of ${count(one.recognisedPages.count)} of ${count(one.recognisedPages.pages)} pages were recognised
                in pictures: some may be misread.
              </span>`
            : nothing}
          ${one.leftOut
            ? html`<span class="block small">
                ${count(one.leftOut.characters)} of ${count(one.leftOut.total)} characters stand beside the main content or
                are hidden: answers know nothing of them.
              </span>`
            : nothing}
        </td>
        <td>
          <span class="chip ${one.withdrawn ? "warn" : TONES[one.status]}">
            ${one.withdrawn ? "Withdrawn" : WORDS[one.status]}
          </span>
          ${one.status === "PROCESSING" && one.chunkCount
            ? html`<span class="small block">${count(one.chunksDone)} of ${plural(one.chunkCount, "passage")}</span>`
            : nothing}
        </td>
        <td class="figure">${bytes(one.size)}</td>
        <td class="small" title=${when(one.updatedAt)}>${ago(one.updatedAt)}</td>
        <td>
          <div class="row end">
            ${one.status === "FAILED" && this.allows("REINGEST_DOCUMENT")
              ? html`<button @click=${() => this.act("again", one, REINGEST, `${one.title} is read again.`)}>
                  Try again<span class="unseen">: ${one.title}</span>
                </button>`
              : nothing}
            <button
              class="plain"
              aria-expanded=${isOpen}
              aria-label="Details of ${one.title}"
              @click=${() => (this.open = isOpen ? "" : one.id)}
            >
              Details
            </button>
          </div>
        </td>
      </tr>
      ${isOpen ? html`<tr><td colspan="5">${this.details(one)}</td></tr>` : nothing}`;
  }

  details(one) {
    const readers = one.readableBy && [
      ...one.readableBy.users,
      ...one.readableBy.keys,
      ...one.readableBy.groups.map((group) => `group ${group}`),
    ];
    return html`<div class="why">
      <dl class="facts">
        <dt>Passages</dt><dd>${count(one.chunkCount)}</dd>
        <dt>Type</dt><dd>${one.mediaType}</dd>
        <dt>Uploaded</dt><dd>${when(one.createdAt)} by ${one.uploadedBy}</dd>
        <dt>Read by</dt><dd>${readers ? readers.join(", ") : "everybody in the workspace"}</dd>
        ${one.embedding
          ? html`<dt>Embedding</dt>
              <dd>
                ${plural(one.embedding.chunks, "passage")}, ${count(one.embedding.tokens)} tokens,
                ${dollars(one.embedding.costUsd)}; ${count(one.embedding.reusedChunks)} taken over
              </dd>`
          : nothing}
        ${one.error
          ? html`<dt>Failure</dt>
              <dd>
                <span class="mono">${one.error.code}</span>, after ${plural(one.error.attempts, "attempt")};
                ${one.error.retryable ? "it may work when tried again" : "the file itself has to change"}
              </dd>`
          : nothing}
      </dl>
      <div class="row">
        <button @click=${() => this.attempt("save", () => save(one.downloadPath, one.fileName))}>Save the original</button>
        ${this.allows("REINGEST_DOCUMENT")
          ? html`<button @click=${() => this.act("again", one, REINGEST, `${one.title} is read again.`)}>Read again</button>`
          : nothing}
        ${this.allows("WITHDRAW_DOCUMENT")
          ? one.withdrawn
            ? html`<button @click=${() => this.act("back", one, RESTORE, `${one.title} is back.`)}>Give back to its readers</button>`
            : html`<button @click=${() => this.act("away", one, WITHDRAW, `${one.title} is withdrawn.`)}>Withdraw</button>`
          : nothing}
        ${this.allows("DELETE_DOCUMENT")
          ? html`<button class="danger" @click=${() => this.erase(one)}>${icon("trash")} Delete</button>`
          : nothing}
      </div>
    </div>`;
  }

  erased() {
    const proof = this.certificate;
    if (!proof) return nothing;
    return html`<section class="card" aria-labelledby="erased-title">
      <div class="head">
        <h2 id="erased-title">Erased: ${proof.title}</h2>
        <span class="chip ${proof.complete ? "ok" : "warn"}">${proof.complete ? "Complete" : "Under way"}</span>
        <span class="grow"></span>
        <button class="plain" aria-label="Close the certificate" @click=${() => (this.certificate = null)}>
          ${icon("close")}
        </button>
      </div>
      <p class="small">Certificate of ${when(proof.erasedAt)}; readers from version ${count(proof.corpusVersion)} on do not have it.</p>
      <dl class="facts">
        ${proof.stores.map(
          (one) => html`<dt>${sentence(one.store)}</dt>
            <dd>${one.done ? "" : "waits: "}${one.count === null ? "done" : `${count(one.count)} removed`}</dd>`,
        )}
        ${proof.notCovered.map((one) => html`<dt>Not covered: ${words(one.place)}</dt><dd>${one.reason}</dd>`)}
      </dl>
    </section>`;
  }
}

// As the server compares words with titles and paths.
function folded(text) {
  return text.toLowerCase().normalize("NFC");
}

function unread({ count: lost, pages, unit, numbers }) {
  const which = unit === "page" && numbers.length ? ` (${numbers.join(", ")}${lost > numbers.length ? ", …" : ""})` : "";
  const what = unit === "part" ? " (pages, pictures or files in it)" : "";
  return `${plural(lost, unit)} of ${count(pages)}${what} cannot be read${which}: answers know nothing of ${lost === 1 ? "it" : "them"}.`;
}

customElements.define("rag-knowledge", RagKnowledge);
