// Runs the audits of the `graphql-http` package against a server: node audit.js URL TOKEN. One JSON object a line.
import { auditServer } from "graphql-http";

const [url, token] = process.argv.slice(2);
const results = await auditServer({
  url,
  fetchFn: (input, init = {}) =>
    fetch(input, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
});
for (const result of results) {
  const { id, name, status } = result;
  console.log(JSON.stringify({ id, name, status, reason: result.reason ?? null }));
}
