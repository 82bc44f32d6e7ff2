// Sign-in at the organisation's issuer, or with a token.

import { Part, faultNote, html, nothing } from "../shared/element.js";
import { graphql } from "../shared/api.js";
import { SignInFault, goToIssuer, goToSignOut, issuer, issuerHost } from "../shared/issuer.js";
import { session } from "../shared/session.js";
import { FRAME } from "../operations/frame.js";

class RagSignIn extends Part {
  static properties = { reason: {}, anew: {}, leftIssuer: {} };

  // Leaves the page, or says why it cannot.
  async leave(work) {
    this.reason = "";
    this.fault = null;
    this.busy = "issuer";
    this.requestUpdate();
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error;
      this.reason = error.message;
    }
    this.busy = "";
    this.requestUpdate();
  }

  async submit(event) {
    event.preventDefault();
    const field = this.querySelector("input");
    if (!field.value.trim()) {
      field.focus();
      return;
    }
    session.begin(field.value);
    this.reason = "";
    const frame = await this.attempt("sign-in", () => graphql(FRAME));
    if (frame) this.dispatchEvent(new CustomEvent("rag-signed-in", { bubbles: true }));
    else if (session.token) session.end();
  }

  atIssuer() {
    return html`<button
        type="button"
        class="main wide"
        ?disabled=${this.busy === "issuer"}
        aria-describedby="issuer-help"
        @click=${() => this.leave(() => goToIssuer({ anew: this.anew }))}
      >
        Sign in with your organisation
      </button>
      <p id="issuer-help" class="small">Opens ${issuerHost()} and comes back here.</p>
      ${this.leftIssuer
        ? html`<button type="button" class="wide" @click=${() => this.leave(goToSignOut)}>Sign out of ${issuerHost()} too</button>`
        : nothing}`;
  }

  render() {
    return html`<main class="alone">
      <form class="card" @submit=${this.submit} autocomplete="off">
        <p class="brand large"><span class="logo" aria-hidden="true"></span>agentic-rag</p>
        <h1>Sign in</h1>
        ${this.reason ? html`<div class="note" role="status"><p>${this.reason}</p></div>` : nothing}
        ${this.fault?.status === 401
          ? html`<div class="note bad" role="alert">
              <p>This token is not accepted: it is mistyped, revoked or expired.</p>
            </div>`
          : faultNote(this.fault)}
        ${issuer ? this.atIssuer() : nothing}
        <label for="token">${issuer ? "Or with a token" : "Token"}</label>
        <input id="token" type="password" autocomplete="off" spellcheck="false" required aria-describedby="token-help" />
        <p id="token-help" class="small">
          An API key, or a token of your issuer. It stays in this tab and is gone when you close it.
        </p>
        <button class="wide ${issuer ? "" : "main"}" ?disabled=${this.busy === "sign-in"}>Sign in</button>
        <p class="small">
          On the machine that runs the server, <code>rag console --open</code> opens this page signed in.
        </p>
      </form>
    </main>`;
  }
}

customElements.define("rag-sign-in", RagSignIn);
