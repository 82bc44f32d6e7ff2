// What every tour needs: one Chromium, pages that note their own faults, and a line of JSON for each thing looked at.

import fs from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { CONSOLE_CHROMIUM, CONSOLE_PICTURES, CONSOLE_URL } = process.env;

export const browser = await chromium.launch({
  executablePath: CONSOLE_CHROMIUM,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});

export const told = (name, ok, detail = "", { isTimed = false } = {}) =>
  console.log(JSON.stringify({ name, ok: Boolean(ok), detail: String(detail), timed: isTimed }));

export async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 850 }, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("console", (message) => {
    // A refused token and a page image that is not there are answers, not faults of the page.
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) page.faults.push(message.text());
  });
  page.setDefaultTimeout(30_000);
  return page;
}

export async function signIn(page, token) {
  await page.goto(`${CONSOLE_URL}/console`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

export async function ask(page, question) {
  const before = await page.locator("rag-answer").count();
  await page.locator("#question").fill(question);
  await page.locator("#question").press("Enter");
  await page.locator("rag-answer").nth(before).waitFor();
}

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// Takes a picture, and looks by axe's rules of WCAG 2.2 AA and for sideways scrolling. Takes a page that bypasses CSP.
export async function look(page, name) {
  if (CONSOLE_PICTURES) await page.screenshot({ path: `${CONSOLE_PICTURES}/${name}.png` });
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
    const { violations } = await window.axe.run(document, { runOnly: { type: "tag", values: tags } });
    return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(", ")}`);
  });
  told(`axe: ${name}`, found.length === 0, found.join("; "));
  const over = await page.evaluate(() => {
    const dialog = document.querySelector("dialog[open]");
    const inside = dialog ? Math.max(...[...dialog.children].map((one) => one.scrollWidth - one.clientWidth)) : 0;
    return Math.max(inside, document.documentElement.scrollWidth - window.innerWidth);
  });
  told(`no sideways scrolling: ${name}`, over <= 0, `${over} px`);
}

// Goes through the scenarios; what breaks off is told too.
export async function tour(...scenarios) {
  try {
    for (const scenario of scenarios) await scenario();
  } catch (error) {
    told("the tour goes to its end", false, error.message.slice(0, 600));
  } finally {
    await browser.close();
  }
}
