// The text layer that pdf.js lays over a page, in a real Chromium. A line of JSON asks: {path, page}; a line answers: the
// spans of the layer, each with its text and a box [left, bottom, right, top] for each letter of it, in points of the page;
// null where pdf.js does not open it.

import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { createRequire } from "node:module";
import { browser } from "./stage.mjs";

const ORIGIN = "http://pdfjs.invalid/";
const KINDS = { ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
const packaged = path.dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
const page = await browser.newPage({ viewport: { width: 1600, height: 1600 } });
let original = "";

await page.route(`${ORIGIN}**`, (route) => {
  const name = new URL(route.request().url()).pathname;
  if (name === "/") return route.fulfill({ contentType: "text/html", body: '<link rel="stylesheet" href="/web/pdf_viewer.css"><body>' });
  if (name === "/original") return route.fulfill({ contentType: "application/pdf", body: fs.readFileSync(original) });
  const file = path.join(packaged, path.normalize(name));
  return fs.existsSync(file) ? route.fulfill({ contentType: KINDS[path.extname(file)], path: file }) : route.abort();
});
await page.goto(ORIGIN);

// In the page: the layer is as wide as its words, so letters take a range's box along the line and the span's across it.
async function spans({ isOther, number }) {
  const pdfjs = await import("/build/pdf.min.mjs");
  pdfjs.GlobalWorkerOptions.workerSrc = "/build/pdf.worker.min.mjs";
  if (isOther) {
    await globalThis.opened?.destroy();
    globalThis.opened = pdfjs.getDocument({
      url: "/original",
      cMapUrl: "/cmaps/",
      standardFontDataUrl: "/standard_fonts/",
      wasmUrl: "/wasm/",
      isEvalSupported: false,
    });
  }
  const sheet = await (await globalThis.opened.promise).getPage(number);
  const viewport = sheet.getViewport({ scale: 2 });
  const container = document.createElement("div");
  container.className = "textLayer";
  container.style.cssText = "--total-scale-factor: 2; --scale-round-x: 0.01px; --scale-round-y: 0.01px";
  document.body.replaceChildren(container);
  const layer = new pdfjs.TextLayer({ textContentSource: sheet.streamTextContent(), container, viewport });
  await layer.render();
  const corner = container.getBoundingClientRect();
  const points = (left, top, right, bottom) => {
    const one = viewport.convertToPdfPoint(left - corner.left, top - corner.top);
    const other = viewport.convertToPdfPoint(right - corner.left, bottom - corner.top);
    const box = [Math.min(one[0], other[0]), Math.min(one[1], other[1]), Math.max(one[0], other[0]), Math.max(one[1], other[1])];
    return box.map((value) => Math.round(value * 100) / 100);
  };
  const range = document.createRange();
  const said = [];
  for (const span of layer.textDivs) {
    const node = span.firstChild;
    const turned = parseFloat(span.style.getPropertyValue("--rotate")) || 0;
    if (!node || turned % 90) continue;
    const whole = span.getBoundingClientRect();
    const boxes = [];
    let at = 0;
    for (const sign of node.data) {
      range.setStart(node, at);
      range.setEnd(node, (at += sign.length));
      const letter = range.getBoundingClientRect();
      const across = turned % 180 === 0;
      boxes.push(across ? points(letter.left, whole.top, letter.right, whole.bottom) : points(whole.left, letter.top, whole.right, letter.bottom));
    }
    said.push({ text: node.data, boxes });
  }
  return said;
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const isOther = asked.path !== original;
  original = asked.path;
  const found = await page.evaluate(spans, { isOther, number: asked.page }).catch((error) => {
    console.error(`${asked.path} page ${asked.page}: ${error.message}`);
    return null;
  });
  console.log(JSON.stringify(found));
}
await browser.close();
