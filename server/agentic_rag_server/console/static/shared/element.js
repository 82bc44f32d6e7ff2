// What every element of the console shares: Lit without a shadow, so that one style sheet holds for all.

import { LitElement, html, nothing, svg } from "../vendor/lit-element/lit-element.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { live } from "../vendor/lit-html/directives/live.js";
import { Fault } from "./api.js";

export { html, nothing, svg, repeat, live };

export class Part extends LitElement {
  createRenderRoot() {
    return this;
  }

  // On a narrow screen the cells of a table stand below each other: each but the first says its column then.
  updated() {
    for (const table of this.querySelectorAll("table.stack")) {
      const names = [...table.tHead.rows[0].cells].map((cell) => (cell.querySelector(".unseen") ? "" : cell.textContent.trim()));
      for (const row of table.tBodies[0].rows) {
        for (const cell of row.cells) {
          if (cell.cellIndex && names[cell.cellIndex]) cell.dataset.column = names[cell.cellIndex];
        }
      }
    }
  }

  // Runs work that may fail; a fault is shown by `faultNote`, and `busy` names what is under way. A button that is
  // disabled meanwhile loses the focus, and has it back afterwards.
  async attempt(name, work) {
    const pressed = this.contains(document.activeElement) ? document.activeElement : null;
    this.fault = null;
    this.busy = name;
    this.requestUpdate();
    try {
      return await work();
    } catch (error) {
      if (error.name === "AbortError") return undefined;
      if (!(error instanceof Fault)) throw error;
      this.fault = error;
      if (error.code.endsWith("NOT_FOUND")) this.dispatchEvent(new CustomEvent("rag-missing", { bubbles: true }));
      return undefined;
    } finally {
      this.busy = "";
      this.requestUpdate();
      this.updateComplete.then(() => {
        if (document.activeElement === document.body) pressed?.focus({ preventScroll: true });
      });
    }
  }

  // Calls `work` every `seconds` while the element is shown and the page is looked at.
  every(seconds, work) {
    this.stopTimer();
    this._timer = setInterval(() => {
      if (document.visibilityState === "visible") work();
    }, seconds * 1000);
  }

  stopTimer() {
    clearInterval(this._timer);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.stopTimer();
  }

  // Whether the caller may do it; for elements that were `given` the frame.
  allows(action) {
    return this.given.frame.caller.allowed.includes(action);
  }

  tell(text) {
    this.dispatchEvent(new CustomEvent("rag-tell", { bubbles: true, detail: text }));
  }
}

// What went wrong, and what to do; nothing without a fault.
export function faultNote(fault) {
  if (!fault) return nothing;
  return html`<div class="note bad" role="alert">
    <p>${fault.message}</p>
    <p class="small">
      ${fault.code}${fault.traceId ? html` · trace <span class="mono">${fault.traceId}</span>` : nothing}
    </p>
  </div>`;
}

export function waiting(text = "Loading …") {
  return html`<p class="waiting" role="status"><span class="spinner" aria-hidden="true"></span>${text}</p>`;
}

export function empty(title, text, action = nothing) {
  return html`<div class="empty"><h2>${title}</h2><p>${text}</p>${action}</div>`;
}

const PATHS = {
  ask: "M4 5h16v11H9l-5 4z",
  knowledge: "M5 4h10l4 4v12H5zM14 4v5h5",
  runs: "M5 6h14M5 12h14M5 18h9",
  saved: "M7 4h10v16l-5-4-5 4z",
  jobs: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v3M12 18v3M3 12h3M18 12h3",
  graph: "M6 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM18 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM9 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM8 6.300l8 1.400M6.500 8l2 8M17 9.800l-6.500 6.600",
  evaluation: "M5 19V9M12 19V5M19 19v-7",
  gate: "M4 20V8l8-4 8 4v12M9 20v-7h6v7",
  reports: "M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3",
  usage: "M4 19h16M7 15l4-5 3 3 5-7",
  access: "M8 14a4 4 0 1 1 3.5-2H20v3h-2v-1.5h-2V15h-4.5A4 4 0 0 1 8 14z",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  close: "M6 6l12 12M18 6L6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  check: "M5 13l4 4L19 7",
  upload: "M12 16V5M7 9l5-5 5 5M5 19h14",
  good: "M7 11v8H4v-8zM7 11l4-7c1.500 0 2.500 1 2 3l-.8 3H19l-1.500 9H7",
  bad: "M7 13V5H4v8zM7 13l4 7c1.500 0 2.500-1 2-3l-.8-3H19l-1.500-9H7",
  next: "M9 6l6 6-6 6",
  back: "M15 6l-6 6 6 6",
  warn: "M12 4l9 16H3zM12 10v4M12 17h.01",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
};

export function icon(name) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d=${PATHS[name]}></path>
  </svg>`;
}
