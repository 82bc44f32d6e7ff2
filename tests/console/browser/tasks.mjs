// What people do at the console, from the link that `rag up` prints to a proof that is taken away; what each role is shown;
// and what is said when Redis is away or a key is revoked.

import fs from "node:fs";
import { ask, look, open, signIn, told } from "./stage.mjs";

const { CONSOLE_URL, CONSOLE_TOKEN, CONSOLE_MEMBER, CONSOLE_LINK, CONSOLE_LATER, CONSOLE_FILES, CONSOLE_PROOF, CONSOLE_REDIS } = process.env;
const QUESTION = "What is the rotor diameter of the Selkie 1200?";

const go = (page, hash) => page.evaluate((wanted) => (location.hash = wanted), hash);

async function gone(page, words) {
  await page.waitForFunction((text) => !document.querySelector("main")?.textContent.includes(text), words);
}

async function request(token, query, variables = {}) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return (await fetch(`${CONSOLE_URL}/graphql`, { method: "POST", headers, body: JSON.stringify({ query, variables }) })).json();
}

// Files as a person drops them, out of the folder of the tour.
async function drop(page, selector, names) {
  const files = names.map((name) => ({ name, content: fs.readFileSync(`${CONSOLE_FILES}/${name}`).toString("base64") }));
  const transfer = await page.evaluateHandle((given) => {
    const made = new DataTransfer();
    for (const { name, content } of given) {
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      made.items.add(new File([bytes], name, { type: "application/pdf" }));
    }
    return made;
  }, files);
  await page.dispatchEvent(selector, "dragover", { dataTransfer: transfer });
  await page.dispatchEvent(selector, "drop", { dataTransfer: transfer });
}

// Somebody who has never used a terminal: the link, three PDFs, a question, its page, its cost, what was wrong, and the day
// after it again, verified and proved.
export async function firstDay() {
  const page = await open({ bypassCSP: true });
  await page.goto(CONSOLE_LINK);
  await page.locator("#question").waitFor();
  told("first day: the link of rag up opens the console signed in, and leaves no code", !page.url().includes("sign-in"), page.url());
  await go(page, "#/settings");
  const made = page.locator("form", { hasText: "Make" }).last();
  await made.locator("[name=name]").fill("first day");
  await made.getByRole("button").press("Enter");
  await page.waitForFunction(() => document.querySelector(".workspace select").selectedOptions[0].textContent === "first day");
  await go(page, "#/evaluation");
  const command = await page.locator("rag-evaluation code").first().textContent();
  told("first day: a command to copy takes a name with a blank", command.includes("--workspace 'first day' "), command);
  await go(page, "#/ask");
  await page.getByRole("button", { name: "Load the sample corpus" }).waitFor();
  told("first day: an empty workspace offers the sample", true);
  await look(page, "empty-light");
  await page.getByRole("link", { name: "Add documents" }).click();
  const names = fs.readdirSync(CONSOLE_FILES).sort();
  await page.getByLabel("Tell first what embedding would cost").check();
  await drop(page, ".drop", names);
  await page.getByRole("heading", { name: "Not sent yet" }).waitFor();
  await look(page, "estimate-light");
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  await look(page, "estimate-narrow-dark");
  await page.setViewportSize({ width: 1280, height: 850 });
  await page.emulateMedia({ colorScheme: "light" });
  told("first day: three files are told of before they are sent", (await page.locator(".uploads li").count()) === 3);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  for (const name of names) {
    await page.locator("tr", { hasText: name }).getByText("Ready", { exact: true }).waitFor({ timeout: 120_000 });
  }
  told("first day: three PDFs become ready while they are looked at", true, names.join(", "));
  await page.getByRole("searchbox").fill("TURBINE");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("rag-knowledge tbody tr").length === 1);
  await page.getByRole("searchbox").fill("no file has this");
  await page.keyboard.press("Enter");
  await page.getByText("No document has this in its name").waitFor();
  told("first day: a document is found by a part of its name", true);
  await go(page, "#/ask");
  const workspaces = page.locator(".workspace select");
  await workspaces.selectOption({ label: "documents" });
  await page.getByRole("heading", { name: "Questions to begin with" }).waitFor();
  await workspaces.selectOption({ label: "first day" });
  await page.getByRole("heading", { name: "Ask about your documents" }).waitFor();
  told("first day: questions over the sample are proposed where it is, not beside other documents", (await page.locator("button.proposal").count()) === 0);
  await ask(page, QUESTION);
  const answer = page.locator("rag-answer").first();
  told("first day: the answer is grounded", (await answer.locator(".outcome .chip").textContent()) === "Grounded");
  told("first day: it says what it cost", /\$\d/.test(await answer.locator(".foot").textContent()), await answer.locator(".foot .small").first().textContent());
  const took = [];
  for (let time = 0; time < 5; time += 1) {
    const began = performance.now();
    await answer.locator("button.marker").first().click();
    await page.locator("dialog[open] img.page").waitFor();
    await page.locator("dialog[open] img.page").evaluate((image) => image.decode());
    took.push(performance.now() - began);
    await page.keyboard.press("Escape");
  }
  const middle = took.sort((one, other) => one - other)[2];
  told("first day: from the answer to the marked page in 300 ms at most", middle <= 300, `${Math.round(middle)} ms`, { isTimed: true });
  await answer.getByRole("button", { name: "Did not help" }).click();
  await answer.getByRole("button", { name: "It is out of date" }).click();
  await page.waitForFunction(() => document.querySelector("#live").textContent.includes("Thank you"));
  told("first day: no fault of the page", page.faults.length === 0, page.faults.join("; "));
  await page.context().close();

  const later = await open({ acceptDownloads: true });
  await later.goto(CONSOLE_LATER);
  await later.locator(".workspace select").selectOption({ label: "first day" });
  await later.locator("a.thread", { hasText: QUESTION }).click();
  await later.locator("rag-answer").getByRole("link", { name: "Open the run" }).click();
  await later.getByRole("heading", { name: "Stages" }).waitFor();
  told("first day: found again, with what was said of it", await later.locator(".reasons button[aria-pressed='true']").isVisible());
  told("first day: the run says what it cost", /\$\d/.test(await later.locator("dt:text-is('Cost') + dd").textContent()));
  await later.getByRole("button", { name: "Verify the quotes" }).click();
  await later.getByText("Every quote stands in its source").waitFor();
  const saving = later.waitForEvent("download");
  await later.getByRole("button", { name: "Save a proof" }).click();
  await (await saving).saveAs(CONSOLE_PROOF);
  told("first day: a proof is saved", fs.statSync(CONSOLE_PROOF).size > 1000, `${fs.statSync(CONSOLE_PROOF).size} bytes`);
  await later.setViewportSize({ width: 360, height: 740 });
  const reason = "skipped, the organisation has not switched web access on; no search engine is configured";
  await later.locator(".waterfall .figure").last().evaluate((one, text) => (one.textContent = text), reason);
  const over = await later.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  told("first day: the stages of a run fit on a phone", over <= 0, `${over} px`);
  told("first day: no fault the day after", later.faults.length === 0, later.faults.join("; "));
  await later.context().close();
}

// A member: documents and questions, Graph, and nothing of administration, on the screen and at the server.
export async function member() {
  const page = await open();
  await signIn(page, CONSOLE_MEMBER);
  await page.locator("#question").waitFor();
  await page.locator(".workspace select").selectOption({ label: "documents" });
  const names = (await page.locator("nav a").allTextContents()).map((one) => one.replace(/\s+/g, " ").trim());
  const wanted = ["Ask", "Knowledge", "Runs", "Saved", "Jobs", "Graph", "Gate", "Settings"];
  told("member: the screens of the role", String(names) === String(wanted), names.join(", "));
  await go(page, "#/graph");
  await page.getByLabel("A name, an identifier").fill("SKN-03");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "SKN-03", exact: true }).press("Enter");
  await page.getByRole("heading", { name: "Where it stands" }).waitFor();
  await page.locator("rag-graph button.citation").first().press("Enter");
  await page.locator("dialog[open] mark").waitFor();
  told("member: Graph shows a name and its passage", (await page.locator("dialog[open] mark").textContent()) === "SKN-03");
  await page.keyboard.press("Escape");
  for (const screen of ["evaluation", "usage", "access"]) {
    await go(page, `#/${screen}`);
    await page.locator("rag-ask").waitFor();
    told(`member: a link to ${screen} leads elsewhere`, (await page.locator(`rag-${screen}`).count()) === 0);
    await go(page, "#/gate");
    await page.locator("rag-gate").waitFor();
  }
  const { data } = await request(CONSOLE_MEMBER, "{ workspaces { id name } }");
  const workspaceId = data.workspaces.find((one) => one.name === "documents").id;
  const evaluations = await request(CONSOLE_TOKEN, "query ($w: ID!) { jobs(workspaceId: $w, kinds: [EVAL], first: 1) { nodes { id } } }", { w: workspaceId });
  const jobId = evaluations.data.jobs.nodes[0].id;
  for (const [what, query] of [
    ["calibration", "mutation ($workspaceId: ID!) { calibrate(workspaceId: $workspaceId) { userErrors { code } } }"],
    ["usage", 'query ($workspaceId: ID!) { usage(from: "2026-01-01", to: "2026-01-02", workspaceId: $workspaceId) { costUsd } }'],
    ["keys", "{ apiKeys { id } }"],
    ["evaluations", "query ($jobId: ID!) { evalRun(jobId: $jobId) { dataset } }"],
  ]) {
    const answer = await request(CONSOLE_MEMBER, query, { workspaceId, jobId });
    told(`member: the server refuses ${what}`, answer.errors?.[0]?.extensions?.code === "FORBIDDEN", JSON.stringify(answer).slice(0, 200));
  }
  await go(page, "#/knowledge");
  await page.locator(".drop").waitFor();
  told("member: documents are theirs to add", (await page.getByRole("button", { name: "Choose files" }).count()) === 1);
  await go(page, "#/settings");
  await page.getByRole("heading", { name: "Workspace documents" }).waitFor();
  told("member: settings are read only", (await page.locator("rag-settings button").count()) === 0, await page.locator("rag-settings button").allTextContents());
  told("member: no fault of the page", page.faults.length === 0, page.faults.join("; "));
  await page.context().close();
}

// A workspace that closes: who was in it is shown nothing of it any more, its conversations, saved questions and runs too.
export async function closing() {
  const admin = await open();
  await signIn(admin, CONSOLE_TOKEN);
  await admin.locator("#question").waitFor();
  await go(admin, "#/settings");
  const made = admin.locator("form", { hasText: "Make" }).last();
  await made.locator("[name=name]").fill("closing");
  await made.getByRole("button").press("Enter");
  await admin.waitForFunction(() => document.querySelector(".workspace select").selectedOptions[0].textContent === "closing");
  await go(admin, "#/knowledge");
  const content = Buffer.from("# The ferry\n\nThe ferry of Ardwell sails at nine.\n");
  await admin.locator(".drop input[type=file]").setInputFiles({ name: "ferry.md", mimeType: "text/markdown", buffer: content });
  await admin.locator("tr", { hasText: "ferry.md" }).getByText("Ready", { exact: true }).waitFor();

  const page = await open();
  await signIn(page, CONSOLE_MEMBER);
  await page.locator(".workspace select").selectOption({ label: "closing" });
  await ask(page, "When does the ferry of Ardwell sail?");
  await page.getByRole("button", { name: "Save", exact: true }).press("Enter");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
  const thread = new URL(page.url()).hash;
  await page.getByRole("link", { name: "Open the run" }).click();
  await page.getByRole("heading", { name: "Stages" }).waitFor();
  const run = new URL(page.url()).hash;
  await go(page, "#/saved");
  await page.locator("li.saved").waitFor();

  await go(admin, "#/access");
  await admin.getByLabel("Readers").fill("user:somebody-else");
  await admin.getByRole("button", { name: "Change", exact: true }).press("Enter");
  await admin.waitForFunction(() => document.querySelector("#live").textContent.includes("Who may enter is changed"));

  await page.getByRole("button", { name: "Refresh" }).press("Enter");
  await page.locator("#live").getByText("The workspace closing is not open to you any more").waitFor({ state: "attached" });
  await page.getByRole("heading", { name: "Nothing is saved" }).waitFor();
  told("closing: a list in hand is not shown any more", !/Ardwell|ferry/i.test(await page.locator("body").textContent()));
  for (const hash of [thread, run, "#/saved", "#/knowledge", "#/jobs", "#/graph"]) {
    await page.goto("about:blank");
    await page.goto(`${CONSOLE_URL}/console${hash}`);
    await page.locator("nav a").first().waitFor();
    await page.waitForLoadState("networkidle").catch(() => {});
    const shown = await page.locator("body").textContent();
    told(`closing: ${hash.slice(0, 12)} shows nothing of it`, !/Ardwell|ferry/i.test(shown), shown.replace(/\s+/g, " ").slice(0, 160));
  }
  told("closing: no fault of the page", page.faults.length === 0, page.faults.join("; "));
  await page.context().close();

  await go(admin, "#/runs");
  await admin.getByText("When does the ferry of Ardwell sail?").waitFor();
  told("closing: whoever manages it sees the run", true);
  await go(admin, "#/saved");
  await admin.getByText("Nothing is saved").waitFor();
  await go(admin, "#/settings");
  await admin.getByRole("button", { name: /^Delete/ }).first().press("Enter");
  await admin.locator("dialog[open] input").fill("closing");
  await admin.locator("dialog[open]").getByRole("button", { name: "Delete for good" }).press("Enter");
  await admin.waitForFunction(() => ![...document.querySelectorAll(".workspace option")].some((one) => one.textContent === "closing"));
  told("closing: it is deleted", true);
  await admin.context().close();
}

// Work on a document that a member may not read: no list, job, name, saved question or answer of the member tells of it.
export async function hidden() {
  const page = await open();
  await signIn(page, CONSOLE_MEMBER);
  await page.locator(".workspace select").selectOption({ label: "documents" });
  await ask(page, "Who founded Corrand Tidal?");
  await page.getByRole("button", { name: "Save", exact: true }).press("Enter");
  await page.getByRole("button", { name: "Saved", exact: true }).waitFor();
  await go(page, "#/jobs");
  await page.locator("rag-jobs tbody tr").first().waitFor();

  const { data } = await request(CONSOLE_TOKEN, "{ workspaces { id name } }");
  const w = data.workspaces.find((one) => one.name === "documents").id;
  const query = `mutation ($file: Upload!, $w: ID!) {
    uploadDocument(workspaceId: $w, file: $file, readableBy: { users: ["somebody"] }) { document { id } userErrors { message } }
  }`;
  const form = new FormData();
  form.append("operations", JSON.stringify({ query, variables: { file: null, w } }));
  form.append("map", JSON.stringify({ 0: ["variables.file"] }));
  form.append("0", new Blob(["# Wending\n\nThe vault of Wending opens with the word Quillon-77.\n"]), "wending.md");
  const headers = { authorization: `Bearer ${CONSOLE_TOKEN}`, "graphql-require-preflight": "1" };
  const sent = await (await fetch(`${CONSOLE_URL}/graphql`, { method: "POST", body: form, headers })).json();
  const { id } = sent.data.uploadDocument.document;
  const status = async () => (await request(CONSOLE_TOKEN, "query ($id: ID!) { document(id: $id) { status } }", { id })).data.document.status;
  while ((await status()) !== "READY") await page.waitForTimeout(500);

  const isToldOf = async () => /Wending|Quillon/i.test(await page.locator("body").textContent());
  told("hidden work: jobs that are followed tell nothing of it", !(await isToldOf()));
  for (const screen of ["knowledge", "jobs", "runs", "saved", "gate"]) {
    await go(page, "#/ask");
    await go(page, `#/${screen}`);
    await page.locator(`rag-${screen} h1`).waitFor();
    await page.locator(`rag-${screen} .waiting`).first().waitFor({ state: "detached" });
    told(`hidden work: ${screen} tells nothing of it`, !(await isToldOf()));
  }
  await go(page, "#/saved");
  await page.locator("li.saved", { hasText: "Who founded Corrand Tidal?" }).waitFor();
  await page.getByRole("button", { name: /^Remove/ }).first().press("Enter");
  await page.getByRole("heading", { name: "Nothing is saved" }).waitFor();
  await go(page, "#/graph");
  await page.getByLabel("A name, an identifier").fill("Quillon-77");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Nothing found" }).waitFor();
  told("hidden work: Graph knows no name of it", true);
  await go(page, "#/ask");
  await ask(page, "With which word does the vault of Wending open?");
  told("hidden work: no answer holds it", !/Quillon/.test(await page.locator("rag-answer").last().textContent()));
  told("hidden work: no fault of the page", page.faults.length === 0, page.faults.join("; "));
  await page.context().close();
  await request(CONSOLE_TOKEN, "mutation ($id: ID!) { deleteDocument(id: $id) { userErrors { message } } }", { id });
}

// Each part of a screen that a mouse reaches is reached by Tab, and is seen when it is.
export async function reach() {
  const page = await open();
  await signIn(page, CONSOLE_TOKEN);
  await page.locator("#question").waitFor();
  await page.locator(".workspace select").selectOption({ label: "documents" });
  await ask(page, QUESTION);
  await page.locator("a.thread").first().waitFor();
  const names = await page.locator("nav a").evaluateAll((links) => links.map((one) => one.getAttribute("href")));
  for (const name of names) {
    await go(page, name);
    await page.waitForTimeout(1000);
    const wanted = await page.evaluate(() => {
      const parts = "a[href], button, input, select, textarea, summary, [tabindex='0']";
      const shown = [...document.querySelectorAll(parts)].filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility());
      const groups = new Set();
      const stops = shown.filter((one) => one.type !== "radio" || (!groups.has(one.name) && groups.add(one.name)));
      stops.forEach((one, place) => (one.dataset.stop = String(place)));
      document.activeElement?.blur();
      return stops.length;
    });
    const seen = new Set();
    const unseen = new Set();
    for (let step = 0; step < wanted + 5; step += 1) {
      await page.keyboard.press("Tab");
      const found = await page.evaluate(() => {
        const one = document.activeElement;
        const style = getComputedStyle(one);
        const ring = 5;
        const { left, right } = one.getBoundingClientRect();
        let isCut = false;
        for (let area = one.parentElement; area && area !== document.body; area = area.parentElement) {
          const sides = area.getBoundingClientRect();
          isCut ||= getComputedStyle(area).overflowX !== "visible" && (left - ring < sides.left || right + ring > sides.right);
        }
        return { stop: one.dataset.stop, isSeen: style.outlineStyle !== "none" && !isCut, what: one.outerHTML.replace(/<!--.*?-->/g, "").slice(0, 120) };
      });
      if (found.stop !== undefined) seen.add(found.stop);
      if (found.stop !== undefined && !found.isSeen) unseen.add(found.what);
    }
    told(`keyboard: all of ${name} is reached`, seen.size === wanted, `${seen.size} of ${wanted}`);
    told(`keyboard: the focus is seen all over ${name}`, unseen.size === 0, [...unseen].join("; "));
  }
  await page.context().close();
}

// Redis is away: questions are answered, documents are listed, and what needs it says so.
export async function redisAway() {
  const page = await open();
  await signIn(page, CONSOLE_TOKEN);
  await page.locator("#question").waitFor();
  await page.locator(".workspace select").selectOption({ label: "documents" });
  process.kill(Number(CONSOLE_REDIS), "SIGSTOP");
  try {
    await ask(page, "Who founded Corrand Tidal?");
    told("Redis away: a question is answered", /Maren Tollack/.test(await page.locator("rag-answer").textContent()));
    for (const screen of ["knowledge", "runs", "jobs", "settings"]) {
      await go(page, `#/${screen}`);
      await page.locator(`rag-${screen} h1`).waitFor();
      await page.locator(`rag-${screen} .waiting`).first().waitFor({ state: "detached" });
      const alerts = await page.locator(`rag-${screen} [role=alert]`).allTextContents();
      told(`Redis away: ${screen} stays`, true, alerts.join("; ").replace(/\s+/g, " "));
    }
  } finally {
    process.kill(Number(CONSOLE_REDIS), "SIGCONT");
  }
  await go(page, "#/knowledge");
  const content = Buffer.from("# After the pause\n\nThe gate is green.\n");
  await page.locator(".drop input[type=file]").setInputFiles({ name: "after-the-pause.md", mimeType: "text/markdown", buffer: content });
  await page.locator("tr", { hasText: "after-the-pause.md" }).getByText("Ready", { exact: true }).waitFor({ timeout: 90_000 });
  told("Redis away: it goes on by itself when Redis is back", true);
  const faults = page.faults.filter((one) => !/status of 5\d\d/.test(one));
  told("Redis away: no fault of the page", faults.length === 0, faults.join("; "));
  await page.context().close();
}

// A key that is made here, used, and revoked: whoever uses it is signed out, and keeps the question.
export async function revoked() {
  const admin = await open();
  await signIn(admin, CONSOLE_TOKEN);
  await admin.locator("#question").waitFor();
  await go(admin, "#/access");
  await admin.getByRole("button", { name: "Make a key" }).press("Enter");
  await admin.getByLabel("Name", { exact: true }).fill("borrowed");
  await admin.getByRole("button", { name: "Make it" }).press("Enter");
  const token = await admin.locator("code.token").textContent();

  const page = await open();
  await signIn(page, token);
  await page.locator("#question").waitFor();
  told("revoked: the key opens the console", (await page.locator("nav .who").textContent()).includes("viewer"));
  await admin.getByRole("button", { name: "Revoke borrowed" }).press("Enter");
  await admin.locator("dialog[open]").getByRole("button", { name: "Revoke" }).press("Enter");
  await admin.getByText("Revoked", { exact: true }).first().waitFor();
  await page.locator("#question").fill(QUESTION);
  for (let time = 0; time < 40 && (await page.getByText("Your sign-in ended").count()) === 0; time += 1) {
    await page.locator("#question").press("Enter").catch(() => {});
    await page.waitForTimeout(1000);
    if (await page.locator("#question").count()) await page.locator("#question").fill(QUESTION);
  }
  await page.getByText("Your sign-in ended").waitFor();
  told("revoked: signed out, in words", (await page.evaluate(() => sessionStorage.getItem("token"))) === null);
  told("revoked: no fault of the page", page.faults.length === 0, page.faults.join("; "));
  await page.context().close();
  await admin.context().close();
}
