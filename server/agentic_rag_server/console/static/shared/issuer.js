// Sign-in at the organisation's issuer of tokens: OpenID Connect's code flow with PKCE (RFC 7636). The page asks the
// issuer itself; what it must remember meanwhile stays in the storage of this tab and is taken once.

const KEPT = "agentic-rag-sign-in";
const SECONDS = 15;
const SKEW_SECONDS = 30;

const described = document.querySelector('meta[name="sign-in"]')?.content;

// {issuer, audience, client, scope} of this server; null where it takes no tokens of an issuer.
export const issuer = described ? JSON.parse(described) : null;

// In words what OAuth's codes of errors mean (RFC 6749 4.1.2.1 and 5.2, OpenID Connect Core 3.1.2.6).
const WRONGLY_SET_UP = "The sign-in of this server is set up wrongly at your organisation. Tell whoever runs this server.";
const ERRORS = {
  access_denied: "Your organisation did not let you in, or you declined.",
  login_required: "You are not signed in to your organisation. Sign in again.",
  interaction_required: "Your organisation wants to ask you something. Sign in again.",
  consent_required: "Your organisation wants your consent. Sign in again.",
  account_selection_required: "Your organisation does not know as whom to sign you in. Sign in again.",
  temporarily_unavailable: "The sign-in of your organisation has too much to do. Try again in a minute.",
  server_error: "The sign-in of your organisation has a fault. Try again in a minute.",
  invalid_grant: "This sign-in was used already or took too long. Sign in again.",
};

export class SignInFault extends Error {}

// Leads the tab to the issuer. With `anew` it asks for a name again, where it would go on with the last one.
export async function goToIssuer({ anew = false } = {}) {
  if (!globalThis.crypto?.subtle) throw new SignInFault("Signing in at your organisation takes HTTPS: open this page by it.");
  const found = await discovered();
  const kept = { state: random(), nonce: random(), verifier: random(), place: location.hash };
  const asked = {
    response_type: "code",
    client_id: issuer.client,
    redirect_uri: here(),
    scope: issuer.scope,
    state: kept.state,
    nonce: kept.nonce,
    code_challenge: await digest(kept.verifier),
    code_challenge_method: "S256",
    ...(anew ? { prompt: "login" } : {}),
    // Browsers send no fragment, so no log of this server holds the code.
    ...(found.response_modes_supported?.includes("fragment") ? { response_mode: "fragment" } : {}),
  };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  location.assign(withQuery(address(found, "authorization_endpoint"), asked));
}

// The token that the issuer gives for the code in the page's address, with what is wrong with the clocks; null where
// the page was opened otherwise. Errors: `SignInFault`.
export async function takeReturn() {
  const given = issuer && [location.search, location.hash].map(parameters).find((one) => one.has("code") || one.has("error"));
  if (!given) return null;
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  sessionStorage.removeItem(KEPT);
  history.replaceState(null, "", location.pathname + (kept?.place ?? ""));
  if (!kept || given.get("state") !== kept.state) {
    throw new SignInFault("This sign-in was not begun in this tab, or was used already. Sign in again.");
  }
  if (given.has("error")) throw refused(given.get("error"));
  if (given.has("iss") && given.get("iss") !== issuer.issuer) throw new SignInFault("Another issuer answered. Sign in again.");
  const found = await discovered();
  const tokens = await exchange(address(found, "token_endpoint"), given.get("code"), kept.verifier);
  return checked(tokens, kept.nonce);
}

// Leads the tab to where the issuer ends its own session.
export async function goToSignOut() {
  const found = await discovered();
  if (!found.end_session_endpoint) throw new SignInFault("Your organisation's sign-in offers no sign-out. Close the browser.");
  const asked = { client_id: issuer.client, post_logout_redirect_uri: here() };
  location.assign(withQuery(address(found, "end_session_endpoint"), asked));
}

// The host that people see when they sign in.
export const issuerHost = () => new URL(issuer.issuer).host;

async function discovered() {
  const found = await ask(`${issuer.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, { method: "GET" });
  const methods = found.body.code_challenge_methods_supported;
  // Of a server that names another issuer the answers are somebody else's (OpenID Connect Discovery 4.3).
  const isOurs = found.ok && found.body.issuer === issuer.issuer;
  if (!isOurs || (methods && !methods.includes("S256"))) throw new SignInFault(WRONGLY_SET_UP);
  return found.body;
}

async function exchange(endpoint, code, verifier) {
  if (new URL(endpoint).origin !== new URL(issuer.issuer).origin) throw new SignInFault(WRONGLY_SET_UP);
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: issuer.client,
    redirect_uri: here(),
    code,
    code_verifier: verifier,
  });
  const answer = await ask(endpoint, { method: "POST", body });
  if (!answer.ok) throw refused(answer.body.error);
  return answer.body;
}

async function ask(url, request) {
  try {
    const signal = AbortSignal.timeout(SECONDS * 1000);
    const response = await fetch(url, { ...request, signal, credentials: "omit", redirect: "error", cache: "no-store" });
    const body = await response.json();
    return { ok: response.ok, body: body ?? {} };
  } catch {
    throw new SignInFault(`The sign-in of your organisation (${issuerHost()}) does not answer. Try again, or sign in with a token.`);
  }
}

// The token for this server: the access token where it is one for its audience, else the ID token where that is.
function checked(tokens, nonce) {
  const identity = claims(tokens.id_token);
  const isOurs = identity?.iss === issuer.issuer && audiences(identity).includes(issuer.client);
  if (!isOurs || identity.nonce !== nonce) {
    throw new SignInFault("The answer of your organisation is not for this sign-in. Sign in again.");
  }
  const token = [tokens.access_token, tokens.id_token].find((one) => audiences(claims(one)).includes(issuer.audience));
  if (!token) {
    throw new SignInFault(`Your organisation gave no token for this server (${issuer.audience}). Tell whoever runs this server.`);
  }
  return { token, clocks: difference(identity.iat) };
}

function difference(issuedAt) {
  const seconds = Math.round(issuedAt - Date.now() / 1000);
  if (!(Math.abs(seconds) > SKEW_SECONDS)) return "";
  const much = Math.abs(seconds) < 120 ? `${Math.abs(seconds)} seconds` : `${Math.round(Math.abs(seconds) / 60)} minutes`;
  return ` The clock of your organisation's sign-in is ${much} ${seconds > 0 ? "ahead of" : "behind"} this computer's.`;
}

function refused(code) {
  const name = /^[\w.-]{1,60}$/.test(code ?? "") ? code : "unknown_error";
  return new SignInFault(`${Object.hasOwn(ERRORS, name) ? ERRORS[name] : WRONGLY_SET_UP} (${name})`);
}

// An endpoint of the issuer that a browser may be led to.
function address(found, name) {
  const url = URL.canParse(found[name]) ? new URL(found[name]) : null;
  const isLocal = url?.protocol === "http:" && ["127.0.0.1", "localhost"].includes(url.hostname);
  if (url?.protocol !== "https:" && !isLocal) throw new SignInFault(WRONGLY_SET_UP);
  return url.href;
}

function parameters(text) {
  return new URLSearchParams(text.startsWith("#/") ? "" : text.slice(1));
}

function withQuery(endpoint, asked) {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  return url.href;
}

const here = () => `${location.origin}/console`;
const audiences = (said) => [said?.aud ?? []].flat();

// What a signed token says; null for what is none. The server verifies it.
function claims(token) {
  try {
    const part = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (one) => one.charCodeAt(0))));
  } catch {
    return null;
  }
}

function encoded(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const random = () => encoded(crypto.getRandomValues(new Uint8Array(32)));

async function digest(text) {
  return encoded(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}
