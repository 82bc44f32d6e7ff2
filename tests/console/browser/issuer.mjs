// Sign-in at an issuer, in a real Chromium against the stub of `issuer_stub.py`: `node issuer.mjs`, told by the environment.

import { look, open, told, tour } from "./stage.mjs";

const { CONSOLE_URL, CONSOLE_ISSUER } = process.env;
const QUESTION = "What is the rotor diameter of the Selkie 1200?";
const HOME = `${CONSOLE_URL}/console`;

const goesWrong = (faults) => fetch(`${CONSOLE_ISSUER}/faults`, { method: "POST", body: JSON.stringify(faults) });
const atIssuer = (page) => page.getByRole("link", { name: "Go on as Ada" });
const signedIn = (page) => page.locator("nav .who").getByText("ada").waitFor({ state: "attached" });
const kept = (page) => page.evaluate(() => Object.keys(sessionStorage).sort().join(" "));

async function leaveForIssuer(page) {
  await page.getByRole("button", { name: "Sign in with your organisation" }).click();
}

async function comeBack(page) {
  await leaveForIssuer(page);
  await atIssuer(page).click();
}

// By keyboard, from a link to a screen: there and back to that screen.
async function thereAndBack() {
  const page = await open();
  await page.goto(`${HOME}#/runs`);
  const button = page.getByRole("button", { name: "Sign in with your organisation" });
  await button.waitFor();
  await page.keyboard.press("Tab");
  told("keyboard: the first stop is the organisation", await button.evaluate((one) => one === document.activeElement));
  await page.keyboard.press("Enter");
  await atIssuer(page).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await signedIn(page);
  told("it leads back to the screen", page.url() === `${HOME}#/runs`, page.url());
  told("what was needed on the way is gone", !(await kept(page)).includes("agentic-rag-sign-in"), await kept(page));
  await page.reload();
  await signedIn(page);
  told("the page can be loaded again", true);

  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByText("You signed out").waitFor();
  told("signed out: nothing is kept", (await kept(page)) === "");
  await leaveForIssuer(page);
  await page.getByRole("heading", { name: "Who are you?" }).waitFor();
  told("after that the issuer asks for a name", true);
  await atIssuer(page).click();
  await signedIn(page);
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByRole("button", { name: /^Sign out of .* too$/ }).click();
  await page.getByRole("heading", { name: "You left" }).waitFor();
  await page.getByRole("link", { name: "Back" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  told("the issuer's own session can be ended", page.url() === HOME, page.url());
  told("the page has no fault", page.faults.length === 0, page.faults.join("; "));
  await page.context().close();
}

async function expiry() {
  const page = await open();
  await goesWrong({ query: true });
  await page.goto(HOME);
  await comeBack(page);
  await signedIn(page);
  told("an issuer without fragments: the code is out of the address", page.url().split("#")[0] === HOME, page.url());
  await page.locator("#question").fill(QUESTION);
  const body = JSON.stringify({ errors: [{ message: "The token has expired.", extensions: { code: "UNAUTHENTICATED" } }] });
  await page.route("**/graphql", (route) => route.fulfill({ status: 401, contentType: "application/json", body }));
  await page.locator("#question").press("Enter");
  await page.getByText("Your sign-in ended").waitFor();
  await page.unroute("**/graphql");
  await comeBack(page);
  await page.locator("#question").waitFor();
  const typed = await page.locator("#question").inputValue();
  told("a token that ended: the question is still there after signing in again", typed === QUESTION, typed);
  await page.context().close();
}

async function asked(page, words) {
  await page.locator(".note").getByText(words).waitFor();
  return page.locator(".note").first().textContent();
}

async function faults() {
  const page = await open();
  // What goes wrong, what is said, and whether the browser gets as far as the issuer.
  const cases = [
    ["another state", { state: "somebody-elses" }, "was not begun in this tab"],
    ["declined", { error: "access_denied" }, "did not let you in"],
    ["an error that the page does not know", { error: "<b>unheard of</b>" }, "set up wrongly"],
    ["another nonce", { nonce: "somebody-elses" }, "is not for this sign-in"],
    ["a clock five minutes ahead", { skew: true }, "5 minutes ahead"],
    ["another audience", { claims: { aud: "another-server" } }, "gave no token for this server (agentic-rag)"],
    ["an organisation that is not here", { claims: { org_id: "elsewhere" } }, "organisation is not known here"],
    ["an issuer that is away when the code is exchanged", { down: "/token" }, "does not answer"],
    ["an endpoint for codes elsewhere", { token_origin: "http://127.0.0.1:9" }, "set up wrongly"],
    ["an issuer that is away", { down: "/.well-known/openid-configuration" }, "does not answer", "stays"],
    ["a server that calls itself another issuer", { issuer: "https://elsewhere.test" }, "set up wrongly", "stays"],
  ];
  for (const [name, wrong, words, stays] of cases) {
    await goesWrong(wrong);
    await page.goto("about:blank");
    await page.goto(HOME);
    await (stays ? leaveForIssuer(page) : comeBack(page));
    const said = await asked(page, words);
    const left = await kept(page);
    told(`${name}: said, not signed in, nothing kept`, left === "" && page.url().split("#")[0] === HOME, `${said.trim()} ${left}`);
  }
  await goesWrong({});
  await page.goto(HOME);
  await page.route("**/token", async (route) => {
    // Somebody was quicker with the code.
    const { url, body } = { url: route.request().url(), body: route.request().postData() };
    await fetch(url, { method: "POST", body, headers: { "content-type": "application/x-www-form-urlencoded" } });
    await route.continue();
  });
  await comeBack(page);
  const said = await asked(page, "was used already");
  told("a code that was used: said, not signed in", (await kept(page)) === "", said.trim());
  await page.unroute("**/token");

  await goesWrong({ claims: { org_id: "elsewhere" } });
  await comeBack(page);
  await asked(page, "organisation is not known here");
  await goesWrong({});
  await leaveForIssuer(page);
  await page.getByRole("heading", { name: "Who are you?" }).waitFor();
  told("whoever is not let in can come as somebody else", true);

  await page.goto(HOME);
  const refused = await page.evaluate(
    () =>
      new Promise((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
        fetch("http://127.0.0.1:9/").catch(() => {});
      }),
  );
  told("the page may ask nobody else", refused === "connect-src", refused);
  await page.context().close();
}

async function looks() {
  for (const [name, width, colorScheme] of [["light", 1280, "light"], ["narrow-dark", 360, "dark"]]) {
    const page = await open({ viewport: { width, height: 740 }, colorScheme, bypassCSP: true });
    await goesWrong({ error: "access_denied" });
    await page.goto(HOME);
    await comeBack(page);
    await asked(page, "did not let you in");
    await look(page, `sign-in-issuer-${name}`);
    await page.context().close();
  }
}

await tour(thereAndBack, expiry, faults, looks);
