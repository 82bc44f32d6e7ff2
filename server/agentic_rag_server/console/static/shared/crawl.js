// Reading pages of the web into a workspace: what it would come to is told before anything is asked for.

import { Part, faultNote, html, nothing } from "./element.js";
import { change, graphql } from "./api.js";
import { bytes, count, dollars, duration, plural } from "./format.js";
import { CRAWL, ESTIMATE_CRAWL } from "../operations/knowledge.js";

class RagCrawl extends Part {
  static properties = { given: { attribute: false }, estimate: { state: true }, isOpen: { state: true } };

  willUpdate(changed) {
    if (changed.has("given") && this.given.workspace.id !== changed.get("given")?.workspace?.id) this.estimate = null;
  }

  get input() {
    const data = new FormData(this.querySelector("form"));
    return {
      workspaceId: this.given.workspace.id,
      urls: data.get("urls").split(/\s+/).filter(Boolean),
      depth: Number(data.get("depth")),
      maxPages: Number(data.get("maxPages")),
    };
  }

  async tellFirst(event) {
    event.preventDefault();
    const data = await this.attempt("estimate", () => graphql(ESTIMATE_CRAWL, { input: this.input }));
    if (data) this.estimate = data.estimateCrawl;
  }

  async read() {
    if (!(await this.attempt("crawl", () => change(CRAWL, { input: this.input })))) return;
    this.estimate = null;
    this.isOpen = false;
    this.tell("The pages are being read. Jobs shows how far they are.");
  }

  render() {
    return html`<section class="card" aria-labelledby="crawl-title">
      <div class="head">
        <h2 id="crawl-title">Pages of the web</h2>
        <span class="grow"></span>
        <button aria-expanded=${Boolean(this.isOpen)} @click=${() => (this.isOpen = !this.isOpen)}>Read pages</button>
      </div>
      ${this.isOpen ? this.form() : html`<p class="small">Pages, and those that they link to, become documents here.</p>`}
      ${faultNote(this.fault)}
    </section>`;
  }

  form() {
    return html`<form class="why" @submit=${this.tellFirst} @input=${() => (this.estimate = null)} autocomplete="off">
      <div class="fields">
        <label><span>Addresses, one a line</span><textarea name="urls" rows="3" required></textarea></label>
        <label><span>Links to follow</span><input name="depth" type="number" min="0" max="3" value="1" /></label>
        <label><span>Pages at most</span><input name="maxPages" type="number" min="1" max="1000" value="50" /></label>
      </div>
      ${this.estimate ? this.told(this.estimate) : nothing}
      <div class="row">
        <button class=${this.estimate ? "" : "main"} ?disabled=${this.busy === "estimate"}>Tell what it would come to</button>
        ${this.estimate
          ? html`<button type="button" class="main" ?disabled=${this.busy === "crawl"} @click=${this.read}>Read them</button>`
          : nothing}
      </div>
    </form>`;
  }

  told(one) {
    return html`<p role="status">
      At most ${plural(one.pages, "page")}, about ${bytes(one.size)} in ${duration(one.seconds)} or more, and
      ${plural(one.tokens, "token")} to embed (${dollars(one.costUsd)}). ${count(one.pagesLeft)} of the day's pages are left.
      <span class="small block">
        ${one.knownPages
          ? `By the ${plural(one.knownPages, "page")} of these sites that are here.`
          : "By pages at large: none of these sites is here yet, and one may be far from that."}
        No site was asked.
      </span>
    </p>`;
  }
}

customElements.define("rag-crawl", RagCrawl);
