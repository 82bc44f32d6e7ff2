// Uploads of a tab: files wait in a queue, two go at one time, and each tells how far it is.

import { Fault, upload } from "./api.js";
import { UPLOAD } from "../operations/knowledge.js";

const AT_ONE_TIME = 2;

export class Uploads extends EventTarget {
  items = [];
  running = 0;

  // Queues files; `file.webkitRelativePath` keeps the folders of a dropped folder.
  add(workspaceId, files) {
    for (const file of files) {
      this.items.push({
        file,
        workspaceId,
        path: file.webkitRelativePath || file.name,
        share: 0,
        state: "waiting",
        text: "",
      });
    }
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
      item.text = error.message;
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
