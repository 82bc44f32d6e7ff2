// The frame of the console: sign-in, navigation, the workspace in hand, and the live region that tells what happened.

import { Part, faultNote, html, icon, nothing, waiting } from "./shared/element.js";
import { Fault, graphql } from "./shared/api.js";
import { SignInFault, takeReturn } from "./shared/issuer.js";
import { session } from "./shared/session.js";
import { FRAME } from "./operations/frame.js";
import { CHANGED } from "./operations/saved.js";
import "./screens/sign-in.js";

// A screen is in the list when it is done, and shown to callers who may perform `action`.
const SCREENS = [
  { name: "ask", title: "Ask", action: "ASK" },
  { name: "knowledge", title: "Knowledge", action: "READ" },
  { name: "runs", title: "Runs", action: "READ" },
  { name: "saved", title: "Saved", action: "ASK" },
  { name: "jobs", title: "Jobs", action: "READ" },
  { name: "graph", title: "Graph", action: "READ" },
  { name: "evaluation", title: "Evaluation", action: "EVALUATE" },
  { name: "gate", title: "Gate", action: "READ" },
  { name: "reports", title: "Reports", action: "READ" },
  { name: "usage", title: "Usage & budgets", action: "SEE_USAGE" },
  { name: "access", title: "Access", action: "MANAGE_KEYS" },
  { name: "settings", title: "Settings", action: "READ" },
];

class RagApp extends Part {
  static properties = {
    state: { state: true },
    route: { state: true },
    workspaceId: { state: true },
    isMenuOpen: { state: true },
    told: { state: true },
  };

  constructor() {
    super();
    this.state = "starting";
    this.reason = "";
    this.route = { name: "ask", rest: [] };
    this.isMenuOpen = false;
    this.told = "";
    this.anew = this.leftIssuer = false;
    this.addEventListener("rag-tell", (event) => this.announce(event.detail));
    this.addEventListener("rag-workspaces", (event) => this.reload(event.detail));
    this.addEventListener("rag-signed-in", () => this.start());
    this.addEventListener("rag-missing", () => this.leaveClosed());
    this.addEventListener("rag-saved", () => this.countChanged());
  }

  connectedCallback() {
    // What the page shows before this module runs.
    this.replaceChildren();
    super.connectedCallback();
    session.addEventListener("ended", ({ detail }) => {
      // The screen itself says of a token that was typed there.
      if (this.state === "signed-out") return;
      const { reason, said, byIssuer } = detail;
      this.reason = this.arrival
        ? `Your organisation signed you in, but this server does not: ${said}${this.arrival.clocks}`
        : reason;
      // Whoever signs out, or is not let in, is asked for a name the next time.
      this.anew = !said || Boolean(this.arrival);
      this.leftIssuer = byIssuer && !said;
      this.state = "signed-out";
    });
    addEventListener("hashchange", () => this.arrive());
    this.start();
  }

  async start() {
    this.state = "starting";
    this.reason = await session.takeLink();
    this.arrival = await this.arrived();
    if (!session.token) {
      this.state = "signed-out";
      return;
    }
    await this.reload();
    this.arrival = null;
    if (this.frame) this.arrive();
  }

  // The token with which the issuer sent the browser back, begun as the session; null without one.
  async arrived() {
    try {
      const arrival = await takeReturn();
      if (arrival) session.begin(arrival.token, { byIssuer: true });
      return arrival;
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error;
      this.reason = error.message;
      return null;
    }
  }

  // What the frame shows: who asks, and the workspaces. `chosen`: the one to go to.
  async reload(chosen) {
    try {
      this.frame = await graphql(FRAME);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.status === 401) return;
      this.fault = error;
      this.state = "failed";
      return;
    }
    const ids = this.frame.workspaces.map((one) => one.id);
    const wanted = chosen ?? session.workspaceId;
    this.workspaceId = ids.includes(wanted) ? wanted : (ids[0] ?? "");
    session.workspaceId = this.workspaceId;
    this.state = "ready";
    this.requestUpdate();
    this.countChanged();
  }

  // Something is missing: where it is the workspace in hand, which was closed or deleted, no screen goes on showing it.
  async leaveClosed() {
    const left = this.frame.workspaces.find((one) => one.id === this.workspaceId);
    if (!left) return;
    const data = await graphql(FRAME).catch(() => null);
    if (!data || left.id !== this.workspaceId || data.workspaces.some((one) => one.id === left.id)) return;
    await this.reload();
    location.hash = `#/${this.route.name}`;
    this.announce(`The workspace ${left.name} is not open to you any more.`);
  }

  // How many saved questions have another answer, beside the screen that tells which. Nothing where it is not known.
  async countChanged() {
    const { workspaceId } = this;
    this.changed = 0;
    if (!workspaceId || !this.frame.caller.allowed.includes("READ")) return;
    const data = await graphql(CHANGED, { workspaceId }).catch(() => null);
    if (this.workspaceId !== workspaceId || !data) return;
    this.changed = data.savedQuestions.filter((one) => one.state === "CHANGED").length;
    this.requestUpdate();
  }

  get screens() {
    return SCREENS.filter((one) => this.frame.caller.allowed.includes(one.action));
  }

  async arrive() {
    if (this.state !== "ready") return;
    const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
    const screen = this.screens.find((one) => one.name === name) ?? this.screens[0];
    this.isMenuOpen = false;
    if (!screen) return;
    await import(`./screens/${screen.name}.js`);
    const isOther = this.route.name !== screen.name || !this.hasArrived;
    this.route = { name: screen.name, rest: screen.name === name ? rest.map(decodeURIComponent) : [] };
    document.title = `${screen.title} · agentic-rag`;
    if (isOther && this.hasArrived) {
      await this.updateComplete;
      this.querySelector("main")?.focus();
    }
    this.hasArrived = true;
  }

  announce(text) {
    // The same words twice are two pieces of news.
    this.told = this.told === text ? `${text}\u00a0` : text;
  }

  choose(event) {
    this.workspaceId = session.workspaceId = event.target.value;
    this.countChanged();
    location.hash = `#/${this.route.name}`;
  }

  render() {
    if (this.state === "starting") return html`<main class="alone">${waiting("Opening the console …")}</main>`;
    if (this.state === "signed-out") return this.signIn();
    if (this.state === "failed") {
      return html`<main class="alone">
        <div class="card">
          <h1>The console cannot start</h1>
          ${faultNote(this.fault)}
          <div class="row">
            <button class="main" @click=${() => this.start()}>Try again</button>
            <button @click=${() => session.end("You signed out.")}>Sign out</button>
          </div>
        </div>
      </main>`;
    }
    return html`
      <a class="skip" href="#main" @click=${this.skip}>Skip to the content</a>
      ${this.top()}
      <nav id="menu" class=${this.isMenuOpen ? "open" : ""} aria-label="Screens">
        ${this.screens.map(
          (one) =>
            html`<a href="#/${one.name}" aria-current=${one.name === this.route.name ? "page" : nothing}>
              ${icon(one.name)} ${one.title}
              ${one.name === "saved" && this.changed
                ? html`<span class="chip warn">${this.changed}<span class="unseen"> changed</span></span>`
                : nothing}
            </a>`,
        )}
        <div class="who">
          <span class="small">${this.frame.caller.subject}</span>
          <span class="small">${this.frame.organisation.name} · ${this.frame.caller.role.toLowerCase()}</span>
          <button class="plain" @click=${() => session.end("You signed out.")}>Sign out</button>
        </div>
      </nav>
      <main id="main" tabindex="-1">${this.hasArrived ? this.screen() : waiting()}</main>
      <div class="unseen" role="status" aria-live="polite" id="live">${this.told}</div>
    `;
  }

  signIn() {
    return html`<rag-sign-in .reason=${this.reason} .anew=${this.anew} .leftIssuer=${this.leftIssuer}></rag-sign-in>`;
  }

  skip(event) {
    event.preventDefault();
    this.querySelector("main").focus();
  }

  top() {
    const { workspaces } = this.frame;
    return html`<header class="top">
      <button
        class="plain menu"
        aria-expanded=${this.isMenuOpen}
        aria-controls="menu"
        aria-label="Menu"
        @click=${() => (this.isMenuOpen = !this.isMenuOpen)}
      >
        ${icon("menu")}
      </button>
      <a class="brand" href="#/ask"><span class="logo" aria-hidden="true"></span>agentic-rag</a>
      ${workspaces.length
        ? html`<label class="workspace">
            <span>Workspace</span>
            <select @change=${this.choose}>
              ${workspaces.map(
                (one) => html`<option value=${one.id} ?selected=${one.id === this.workspaceId}>${one.name}</option>`,
              )}
            </select>
          </label>`
        : nothing}
    </header>`;
  }

  screen() {
    const workspace = this.frame.workspaces.find((one) => one.id === this.workspaceId);
    const given = { workspace, frame: this.frame, rest: this.route.rest };
    switch (this.route.name) {
      case "ask":
        return html`<rag-ask .given=${given}></rag-ask>`;
      case "knowledge":
        return html`<rag-knowledge .given=${given}></rag-knowledge>`;
      case "runs":
        return html`<rag-runs .given=${given}></rag-runs>`;
      case "saved":
        return html`<rag-saved .given=${given}></rag-saved>`;
      case "jobs":
        return html`<rag-jobs .given=${given}></rag-jobs>`;
      case "graph":
        return html`<rag-graph .given=${given}></rag-graph>`;
      case "evaluation":
        return html`<rag-evaluation .given=${given}></rag-evaluation>`;
      case "gate":
        return html`<rag-gate .given=${given}></rag-gate>`;
      case "reports":
        return html`<rag-reports .given=${given}></rag-reports>`;
      case "usage":
        return html`<rag-usage .given=${given}></rag-usage>`;
      case "access":
        return html`<rag-access .given=${given}></rag-access>`;
      case "settings":
        return html`<rag-settings .given=${given}></rag-settings>`;
      default:
        return nothing;
    }
  }
}

customElements.define("rag-app", RagApp);
