// The changes of a list while it is looked at, as they happen.

import { Fault, events } from "./api.js";

const AGAIN_SECONDS = 5;

// Calls `take` with each event of a subscription while the page is looked at, and `lost` whenever events may have been
// missed: before the first ones, and where the stream broke off. A hidden page follows nothing, since a browser opens
// few connections to one server. Returns a function that ends it.
export function follow(operation, variables, take, lost) {
  let stream = null;
  let timer = 0;

  async function listen() {
    clearTimeout(timer);
    const mine = (stream = new AbortController());
    try {
      for await (const event of events(operation, variables, { signal: mine.signal })) {
        if (mine.signal.aborted) return;
        const isBehind = event.missed || isStart(event);
        if (isBehind) lost();
        else take(event);
      }
    } catch (error) {
      if (mine.signal.aborted || error.name === "AbortError") return;
      if (!(error instanceof Fault)) throw error;
    }
    if (!mine.signal.aborted) timer = setTimeout(listen, AGAIN_SECONDS * 1000);
  }

  function look() {
    end();
    if (document.visibilityState === "visible") listen();
  }

  function end() {
    clearTimeout(timer);
    stream?.abort();
  }

  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    end();
  };
}

// The event between what stood there and what changes: whoever reads the list then misses nothing.
const isStart = (event) => (event.document === null || event.job === null) && !event.missed;
