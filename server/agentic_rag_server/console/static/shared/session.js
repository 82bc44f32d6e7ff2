// The token of this tab. It is kept for the tab's session only, and sent as a header, never in an address.

const KEY = "agentic-rag-token";
const PLACE = "agentic-rag-workspace";
const BY = "agentic-rag-by-issuer";
const TYPED = "agentic-rag-typed";

class Session extends EventTarget {
  get token() {
    return sessionStorage.getItem(KEY) ?? "";
  }

  begin(token, { byIssuer = false } = {}) {
    sessionStorage.setItem(KEY, token.trim());
    if (byIssuer) sessionStorage.setItem(BY, "yes");
  }

  // `said`: what the server says of the token that it does not take; empty where the user signed out.
  end(reason = "", said = "") {
    if (!this.token) return;
    const byIssuer = sessionStorage.getItem(BY) === "yes";
    sessionStorage.clear();
    this.dispatchEvent(new CustomEvent("ended", { detail: { reason, said, byIssuer } }));
  }

  // Keeps what somebody typed for the same one's next sign-in in this tab.
  keepTyped(who, text) {
    sessionStorage.setItem(TYPED, JSON.stringify({ who, text }));
  }

  takeTyped(who) {
    const kept = JSON.parse(sessionStorage.getItem(TYPED) ?? "null");
    sessionStorage.removeItem(TYPED);
    return kept?.who === who ? kept.text : "";
  }

  get workspaceId() {
    return sessionStorage.getItem(PLACE) ?? "";
  }

  set workspaceId(id) {
    sessionStorage.setItem(PLACE, id);
  }

  // Exchanges the code of a link that `rag up` or `rag console` printed. What is wrong with it, or "".
  async takeLink() {
    const found = /^#sign-in=([\w.-]+)$/.exec(location.hash);
    if (!found) return "";
    history.replaceState(null, "", location.pathname);
    try {
      const response = await fetch("/console/sign-in", {
        method: "POST",
        body: JSON.stringify({ code: found[1] }),
        headers: { "content-type": "application/json" },
        credentials: "omit",
      });
      const body = await response.json();
      if (!response.ok) return body.error?.message ?? body.message ?? `The server answered ${response.status}.`;
      this.begin(body.token);
      return "";
    } catch {
      return "The server does not answer. Is it running?";
    }
  }
}

export const session = new Session();
