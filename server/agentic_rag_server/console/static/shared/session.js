// The token of this tab. It is kept for the tab's session only, and sent as a header, never in an address.

const KEY = "agentic-rag-token";
const PLACE = "agentic-rag-workspace";

class Session extends EventTarget {
  get token() {
    return sessionStorage.getItem(KEY) ?? "";
  }

  begin(token) {
    sessionStorage.setItem(KEY, token.trim());
  }

  end(reason = "") {
    if (!this.token) return;
    sessionStorage.clear();
    this.dispatchEvent(new CustomEvent("ended", { detail: reason }));
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
