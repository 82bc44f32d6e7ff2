// Uploads of a tab: files wait in a queue, two go at one time, and each tells how far it is.

import { Fault, upload } from "./api.js";
import { reason } from "./format.js";
import { ESTIMATE_UPLOAD, UPLOAD } from "../operations/knowledge.js";

const AT_ONE_TIME = 2;

export class Uploads extends EventTarget {
  items = [];
  running = 0;

  // Queues files; `file.webkitRelativePath` keeps the folders of a dropped folder. With `isEstimated` each is only read
  // and told, until `settle` is called.
  add(workspaceId, files, { isEstimated = false } = {}) {
    for (const file of files) {
      this.items.push({
        file,
        workspaceId,
        path: file.webkitRelativePath || file.name,
        share: 0,
        state: isEstimated ? "unread" : "waiting",
        text: "",
        embedding: null,
      });
    }
    this.tell();
    this.go();
    this.estimate();
  }

  // What the files that were not sent would cost, one after another.
  async estimate() {
    if (this.isReading) return;
    this.isReading = true;
    for (let item; (item = this.items.find((one) => one.state === "unread")); this.tell()) {
      const variables = { workspaceId: item.workspaceId, sourcePath: item.path };
      try {
        const found = await upload(ESTIMATE_UPLOAD, variables, item.file, () => {});
        item.embedding = found.embedding;
        item.text = found.embedding ? "" : found.errorMessage ?? "This file could not be read.";
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        item.text = reason(error.message);
      }
      if (item.state === "unread") item.state = "told";
    }
    this.isReading = false;
  }

  // Sends what was only told of a workspace, or drops it.
  settle(workspaceId, isSent) {
    const told = (one) => one.workspaceId === workspaceId && (one.state === "told" || one.state === "unread");
    if (isSent) for (const one of this.items.filter(told)) one.state = "waiting";
    else this.items = this.items.filter((one) => !told(one));
    this.tell();
    this.go();
  }

  get unfinished() {
    return this.items.filter((one) => one.state === "waiting" || one.state === "sending").length;
  }

  retry(item) {
    item.state = "waiting";
    item.share = 0;
    this.tell();
    this.go();
  }

  clear() {
    this.items = this.items.filter((one) => one.state === "waiting" || one.state === "sending");
    this.tell();
  }

  go() {
    while (this.running < AT_ONE_TIME) {
      const next = this.items.find((one) => one.state === "waiting");
      if (!next) return;
      this.running += 1;
      next.state = "sending";
      this.send(next).finally(() => {
        this.running -= 1;
        this.tell();
        this.go();
      });
    }
  }

  async send(item) {
    const variables = { workspaceId: item.workspaceId, sourcePath: item.path };
    try {
      const kept = await upload(UPLOAD, variables, item.file, (share) => {
        item.share = share;
        this.tell();
      });
      item.state = "sent";
      item.text = kept.unchanged ? "These very bytes are here already." : "";
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      item.state = "failed";
      item.text = reason(error.message);
    }
  }

  tell() {
    this.dispatchEvent(new Event("change"));
  }
}

export const uploads = new Uploads();

// The files of the sample corpus, with three questions that it answers.
export async function sample() {
  const response = await fetch("/console/sample");
  return response.ok ? response.json() : { files: [], questions: [] };
}

export async function loadSample(workspaceId) {
  const { files } = await sample();
  const fetched = await Promise.all(
    files.map(async (name) => {
      const response = await fetch(`/console/sample/${encodeURIComponent(name)}`);
      return new File([await response.blob()], name);
    }),
  );
  uploads.add(workspaceId, fetched);
}
