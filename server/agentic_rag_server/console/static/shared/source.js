// The place that a citation names: its lines marked on the page of a PDF or a picture, and in the text around it.

import { Part, faultNote, html, icon, nothing, waiting } from "./element.js";
import { Fault, evidence, graphql, save } from "./api.js";
import { cut } from "./format.js";
import { placeOf } from "./outcomes.js";
import { SOURCE_TEXT } from "../operations/ask.js";

const BESIDE = 1500;
// Code points shown before and after the quote, and by how many the window grows.

const hasPages = (citation) =>
  citation.document?.mediaType === "application/pdf" ||
  (citation.recognised && citation.document?.mediaType.startsWith("image/"));

class RagSource extends Part {
  static properties = {
    citation: { state: true },
    source: { state: true },
    page: { state: true },
    view: { state: true },
  };

  // Shows a citation as it stood at the corpus version.
  async show(citation, version, runId) {
    this.citation = citation;
    this.runId = runId;
    this.version = version;
    this.source = this.page = null;
    this.view = "text";
    this.ahead = this.behind = BESIDE;
    await this.updateComplete;
    this.querySelector("dialog").showModal();
    // A citation of an answer has a number at the server; a nearest passage has none.
    if (hasPages(citation) && citation.page && citation.isNumbered) this.draw();
    if (citation.document) await this.read();
  }

  // The page as a picture; where the server has none the text is enough.
  async draw() {
    const wanted = this.citation;
    this.page = { isComing: true };
    try {
      const answer = await evidence(`/v1/runs/${this.runId}/citations/${wanted.marker}.png`);
      const lines = Number(answer.headers.get("x-marked-lines"));
      const address = URL.createObjectURL(await answer.blob());
      if (this.citation !== wanted) {
        URL.revokeObjectURL(address);
        return;
      }
      this.page = { address, lines, first: Number(answer.headers.get("x-first-mark")) };
      if (lines) this.view = "page";
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (this.citation === wanted) this.page = { isMissing: true };
    }
  }

  forget() {
    if (this.page?.address) URL.revokeObjectURL(this.page.address);
    this.page = null;
  }

  async read() {
    const { start, end } = this.citation.sourceSpan;
    const variables = {
      id: this.citation.document.id,
      asOf: this.version,
      start: Math.max(0, start - this.ahead),
      end: end + this.behind,
    };
    const data = await this.attempt("read", () => graphql(SOURCE_TEXT, variables));
    if (data) this.source = data.document;
    await this.updateComplete;
    this.querySelector("mark")?.scrollIntoView({ block: "center" });
  }

  more(side) {
    this[side] += 4 * BESIDE;
    this.read();
  }

  close() {
    this.querySelector("dialog").close();
  }

  render() {
    const { citation } = this;
    return html`<dialog class="source" aria-labelledby="source-title" @click=${this.leave} @close=${this.forget}>
      ${citation
        ? html`<header>
              <div class="grow">
                <h2 id="source-title">${citation.title}</h2>
                <p class="small">${placeOf(citation)} · <span class="mono">${citation.sourcePath}</span></p>
              </div>
              ${this.tabs()}
              <button class="plain" aria-label="Close" @click=${this.close}>${icon("close")}</button>
            </header>
            <div class="content" tabindex="0" role="region" aria-label="The source around the quote">
              ${this.view === "page" && this.page?.address ? this.picture() : this.content()}
            </div>
            <footer>
              ${citation.document
                ? html`<button @click=${this.saveOriginal} ?disabled=${this.busy === "save"}>Save the original</button>`
                : nothing}
              <span class="small">The marked words are ${citation.marks ?? "the quote"}, letter by letter as stored.</span>
            </footer>`
        : nothing}
    </dialog>`;
  }

  tabs() {
    if (this.page?.isComing) return html`<span class="small" role="status">Drawing the page …</span>`;
    if (!this.page?.address) return nothing;
    const views = [
      ["page", "Page"],
      ["text", "Text"],
    ];
    return html`<div class="tabs" role="group" aria-label="View">
      ${views.map(
        ([name, text]) =>
          html`<button class="plain" aria-pressed=${this.view === name} @click=${() => (this.view = name)}>${text}</button>`,
      )}
    </div>`;
  }

  picture() {
    const { citation, page } = this;
    return html`${page.lines
        ? nothing
        : html`<p class="note">The quote is not found letter by letter at one place of this page, so nothing is marked.</p>`}
      <img
        class="page"
        src=${page.address}
        alt="Page ${citation.page} of ${citation.title}${page.lines ? ". Marked: " + citation.snippet : ""}"
        @load=${this.turnToMark}
      />`;
  }

  turnToMark(event) {
    const area = this.querySelector(".content");
    area.scrollTop = this.page.first * event.target.clientHeight - area.clientHeight / 3;
  }

  leave(event) {
    if (event.target.localName === "dialog") this.close();
  }

  content() {
    const { citation, source } = this;
    if (!citation.document) {
      const gone = citation.origin === "corpus" || citation.origin === "section" || citation.origin === "figures";
      return html`<p class="note">
          ${gone ? "The document was deleted since; the run keeps its quote." : "This was not quoted from a document."}
        </p>
        <blockquote><mark>${citation.snippet}</mark></blockquote>`;
    }
    if (this.fault) return html`${faultNote(this.fault)}<blockquote><mark>${citation.snippet}</mark></blockquote>`;
    if (!source) return waiting("Opening the source …");
    const { text, start, end, characters } = source.text;
    const from = citation.sourceSpan.start - start;
    const to = citation.sourceSpan.end - start;
    return html`
      ${this.page?.isMissing ? html`<p class="note">The page cannot be shown. This is the text that was read from it.</p>` : nothing}
      ${start > 0 ? html`<button class="plain" @click=${() => this.more("ahead")}>Show what stands before</button>` : nothing}
      <div class="source-text">${cut(text, 0, from)}<mark>${cut(text, from, to)}</mark>${cut(text, to)}</div>
      ${end < characters ? html`<button class="plain" @click=${() => this.more("behind")}>Show what follows</button>` : nothing}
    `;
  }

  saveOriginal() {
    const { downloadPath, fileName } = this.citation.document;
    // A document may have another file by now than the one that was cited.
    const path = this.citation.isNumbered ? `/v1/runs/${this.runId}/citations/${this.citation.marker}/source` : downloadPath;
    this.attempt("save", () => save(path, fileName));
  }
}

customElements.define("rag-source", RagSource);
