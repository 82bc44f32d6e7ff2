// The one client of the server: GraphQL, uploads with progress, and evidence that takes the token.

import { session } from "./session.js";

export class Fault extends Error {
  constructor(code, message, more = {}) {
    super(message);
    this.code = code;
    this.status = more.status ?? 0;
    this.traceId = more.traceId ?? "";
    this.path = more.path ?? [];
  }
}

const AWAY = new Fault("SERVER_AWAY", "The server does not answer. Is it running? What you typed is still here.");

async function send(path, request) {
  let response;
  try {
    response = await fetch(path, {
      ...request,
      headers: { authorization: `Bearer ${session.token}`, ...request.headers },
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw AWAY;
  }
  if (response.status === 401) {
    const { message } = faultOf(await response.clone().json().catch(() => null), 401);
    session.end("Your sign-in ended: the token is not valid any more.", message);
  }
  return response;
}

function faultOf(body, status) {
  const [error] = body?.errors ?? [];
  const more = error?.extensions ?? body?.error ?? body ?? {};
  const code = more.code ?? `HTTP_${status}`;
  return new Fault(code, error?.message ?? more.message ?? `The server answered ${status}.`, {
    status,
    traceId: more.traceId,
  });
}

// The data of an operation. Errors: `Fault`. With `partial` what other fields gave is kept beside the errors.
export async function graphql(document, variables = {}, { signal, partial = false } = {}) {
  const response = await send("/graphql", {
    method: "POST",
    body: JSON.stringify({ query: document, variables }),
    headers: { "content-type": "application/json", accept: "application/graphql-response+json" },
    signal,
  });
  const body = await response.json().catch(() => null);
  if (!body?.data || (body.errors?.length && !partial)) throw faultOf(body, response.status);
  return body.data;
}

// The events of a subscription, in their order, as server-sent events. Errors: `Fault`. Aborting hangs up, which ends
// what the server does for it.
export async function* events(document, variables = {}, { signal } = {}) {
  const response = await send("/graphql", {
    method: "POST",
    body: JSON.stringify({ query: document, variables }),
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    signal,
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    throw faultOf(await response.json().catch(() => null), response.status);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Fault("STREAM_BROKEN", "The connection to the server broke off. Ask again.");
      text += value.replaceAll("\r\n", "\n");
      let end;
      while ((end = text.indexOf("\n\n")) >= 0) {
        const [name, data] = eventOf(text.slice(0, end));
        text = text.slice(end + 2);
        if (name === "complete") return;
        if (name !== "next" || !data) continue;
        const body = JSON.parse(data);
        if (body.errors?.length) throw faultOf(body, response.status);
        yield Object.values(body.data)[0];
      }
    }
  } catch (error) {
    if (error instanceof TypeError) throw new Fault("STREAM_BROKEN", "The connection to the server broke off. Ask again.");
    throw error;
  } finally {
    reader.cancel().catch(() => {});
  }
}

function eventOf(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return [name, data.join("\n")];
}

// The payload of a mutation; what the caller can put right is raised as a fault too.
export function settled(payload) {
  const [error] = payload.userErrors;
  if (error) throw new Fault(error.code, error.message, { path: error.path });
  return payload;
}

export async function change(document, variables, options) {
  const data = await graphql(document, variables, options);
  return settled(Object.values(data)[0]);
}

// A file of the server as a `Blob`. Errors: `Fault`.
export async function evidence(path, { signal } = {}) {
  const response = await send(path, { method: "GET", signal });
  if (!response.ok) throw faultOf(await response.json().catch(() => null), response.status);
  return response;
}

// Saves what the server has at `path`: never opened, so that no document runs as a page of this origin.
export async function save(path, name) {
  const blob = await (await evidence(path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([blob], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Uploads one file (graphql-multipart-request-spec); `progress` is told the share that was sent, 0 to 1.
export function upload(document, variables, file, progress) {
  const form = new FormData();
  form.append("operations", JSON.stringify({ query: document, variables: { ...variables, file: null } }));
  form.append("map", JSON.stringify({ 0: ["variables.file"] }));
  form.append("0", file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/graphql");
    request.setRequestHeader("authorization", `Bearer ${session.token}`);
    request.setRequestHeader("graphql-require-preflight", "1");
    request.setRequestHeader("accept", "application/graphql-response+json");
    request.responseType = "json";
    request.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => reject(new Fault("UPLOAD_BROKEN", "The upload broke off. Send the file again."));
    request.onload = () => {
      const body = request.response;
      if (!body?.data || body.errors?.length) {
        reject(faultOf(body, request.status));
        return;
      }
      try {
        resolve(settled(Object.values(body.data)[0]));
      } catch (error) {
        reject(error);
      }
    };
    request.send(form);
  });
}
