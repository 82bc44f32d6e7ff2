// Graph: an entity's neighbours and the passages that mention it, as a list and as a picture of the same.

import { Part, empty, faultNote, html, icon, nothing, repeat, waiting } from "../shared/element.js";
import { graphql } from "../shared/api.js";
import { count, plural } from "../shared/format.js";
import { placeOf } from "../shared/outcomes.js";
import { star } from "../shared/star.js";
import { CHUNK_DOCUMENT, ENTITY, FIND_ENTITIES } from "../operations/graph.js";
import "../shared/source.js";

const MOST = 200;
// Of an entity in more passages the server tells their number only.
const BESIDE = 90;
// Characters of a passage shown before and after the name.

const address = (name) => `#/graph/${encodeURIComponent(name)}`;
const passages = (number) => (number > MOST ? `more than ${count(MOST)} passages` : plural(number, "passage"));

class RagGraph extends Part {
  static properties = { given: { attribute: false }, found: { state: true }, entity: { state: true } };

  willUpdate(changed) {
    if (!changed.has("given")) return;
    const before = changed.get("given");
    const isOther = before && before.workspace?.id !== this.given.workspace?.id;
    if (isOther) this.found = null;
    const [name] = this.given.rest;
    if (name && (isOther || before?.rest[0] !== name)) this.open(name);
    if (!name) this.entity = undefined;
  }

  async find(event) {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("text").trim();
    if (!text) return;
    const variables = { workspaceId: this.given.workspace.id, text };
    const data = await this.attempt("find", () => graphql(FIND_ENTITIES, variables));
    if (!data) return;
    this.found = data.entities;
    this.tell(data.entities.length ? `${plural(data.entities.length, "entity", "entities")} found.` : "Nothing found.");
    if (data.entities.length === 1) location.hash = address(data.entities[0].name);
    else if (this.given.rest[0]) location.hash = "#/graph";
  }

  async open(name) {
    if (!this.given.workspace) return;
    this.entity = undefined;
    const variables = { workspaceId: this.given.workspace.id, name };
    const data = await this.attempt("open", () => graphql(ENTITY, variables));
    if (!data || this.given.rest[0] !== name) return;
    this.entity = data.entity;
    if (!data.entity) return;
    this.tell(`${data.entity.name}: ${passages(data.entity.passages)}, ${plural(data.entity.neighbours.length, "neighbour")}.`);
    await this.updateComplete;
    this.querySelector("h2")?.focus();
  }

  // Opens the passage where it stands, with the name marked.
  async show(chunk) {
    const data = await this.attempt(`show${chunk.id}`, () => graphql(CHUNK_DOCUMENT, { id: chunk.sourceId }));
    if (!data) return;
    const [before, name] = around(chunk.text, this.entity.name);
    const start = chunk.span.start + Array.from(before).length;
    const sourceSpan = name ? { start, end: start + Array.from(name).length } : chunk.span;
    const place = { ...chunk, sourceSpan, snippet: name || chunk.text, marks: name ? "the name" : "the passage", origin: "corpus", document: data.document };
    this.querySelector("rag-source").show(place, chunk.corpusVersion, "");
  }

  render() {
    if (!this.given.workspace) return empty("No workspace", "Make one on the screen Ask.");
    return html`<h1>Graph</h1>
      <form class="row search" role="search" @submit=${this.find}>
        <label class="grow">
          <span>A name, an identifier, a title</span>
          <input name="text" type="search" maxlength="200" required />
        </label>
        <button class="main" ?disabled=${this.busy === "find"}>Find</button>
      </form>
      ${faultNote(this.fault)} ${this.given.rest[0] ? this.one() : this.list()}
      <rag-source></rag-source>`;
  }

  list() {
    if (!this.found) {
      return empty("What stands around a name", "Find what your documents name: who and what it stands with in sentences, and where.");
    }
    if (!this.found.length) return empty("Nothing found", "No passage that you may read mentions it. Names are found as whole words.");
    return html`<section class="card" aria-labelledby="found-title">
      <h2 id="found-title">${plural(this.found.length, "entity", "entities")}</h2>
      <ul class="plain-list">
        ${this.found.map(
          (one) => html`<li class="row">
            <a href=${address(one.name)}>${one.name}</a><span class="small">in ${passages(one.passages)}</span>
          </li>`,
        )}
      </ul>
    </section>`;
  }

  one() {
    const { entity } = this;
    if (this.busy === "open" || entity === undefined) return this.fault ? nothing : waiting();
    if (!entity) return empty("Nothing of this name", "No passage that you may read mentions it.");
    return html`<section class="card" aria-labelledby="entity-title">
        <div class="head">
          <h2 id="entity-title" tabindex="-1">${entity.name}</h2>
          <span class="small">in ${passages(entity.passages)}</span>
        </div>
        ${entity.passages > MOST
          ? html`<p>It stands nearly everywhere, so it is not followed. Ask about it, or find something rarer.</p>`
          : this.neighbours(entity)}
      </section>
      ${entity.chunks.length ? this.mentions(entity) : nothing}`;
  }

  neighbours(entity) {
    if (!entity.neighbours.length) return html`<p class="small">It stands in a sentence with nothing else that has a name.</p>`;
    return html`<div class="neighbourhood">
      ${star(entity.name, entity.neighbours, address)}
      <div>
        <h3 id="near-title">Stands in sentences with</h3>
        <ol class="plain-list near" aria-labelledby="near-title">
          ${entity.neighbours.map(
            (one) => html`<li>
              <a href=${address(one.name)}>${one.name}</a>
              <span class="small">${plural(one.sentences, "sentence")}</span>
            </li>`,
          )}
        </ol>
      </div>
    </div>`;
  }

  mentions(entity) {
    const left = entity.passages - entity.chunks.length;
    return html`<section class="card" aria-labelledby="mentions-title">
      <h2 id="mentions-title">Where it stands</h2>
      <ul class="plain-list">
        ${repeat(entity.chunks, (one) => one.id, (one) => this.mention(one))}
      </ul>
      ${left > 0 ? html`<p class="small">${plural(left, "more passage", "more passages")}.</p>` : nothing}
    </section>`;
  }

  mention(chunk) {
    const [before, name, after] = around(chunk.text, this.entity.name);
    const from = before.length > BESIDE ? `… ${before.slice(-BESIDE)}` : before;
    const to = after.length > BESIDE ? `${after.slice(0, BESIDE)} …` : after;
    return html`<li>
      <button class="citation" ?disabled=${this.busy === `show${chunk.id}`} @click=${() => this.show(chunk)}>
        <span class="body">
          <span class="title">${chunk.title}</span>
          <span class="small">${[placeOf(chunk), ...chunk.headingPath.slice(-1)].join(" · ")}</span>
          <span class="quote">${name ? html`${from}<mark>${name}</mark>${to}` : chunk.text.slice(0, 2 * BESIDE)}</span>
        </span>
        ${icon("next")}
      </button>
    </li>`;
  }
}

// The text before the name, the name as it stands there, and the text after; without the name, where it is spelled
// otherwise, ["", "", text].
function around(text, name) {
  const words = name.split(/[\s\p{P}]+/u).filter(Boolean);
  const pattern = words.map((one) => one.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("[\\s\\p{P}]*");
  const found = pattern ? new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "iu").exec(text) : null;
  if (!found) return ["", "", text];
  return [text.slice(0, found.index), found[0], text.slice(found.index + found[0].length)];
}

customElements.define("rag-graph", RagGraph);
