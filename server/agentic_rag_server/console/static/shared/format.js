// How values are written for people.

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const NUMBER = new Intl.NumberFormat();
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

export const count = (value) => NUMBER.format(value);
export const when = (text) => (text ? TIME.format(new Date(text)) : "–");
export const day = (text) => (text ? DAY.format(new Date(`${text}T12:00:00Z`)) : "–");

export function ago(text) {
  if (!text) return "–";
  const seconds = (new Date(text) - Date.now()) / 1000;
  const steps = [
    ["second", 60],
    ["minute", 60],
    ["hour", 24],
    ["day", 30],
    ["month", 12],
    ["year", Infinity],
  ];
  let value = seconds;
  for (const [unit, size] of steps) {
    if (Math.abs(value) < size) return RELATIVE.format(Math.round(value), unit);
    value /= size;
  }
  return "–";
}

export function bytes(value) {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)} kB`;
  return `${(value / 1e6).toFixed(value < 1e7 ? 1 : 0)} MB`;
}

export function duration(seconds) {
  if (seconds < 0.0995) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function dollars(value) {
  if (value === null || value === undefined) return "unknown";
  if (value === 0) return "$0";
  return value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(2)}`;
}

export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const words = (name) => name.toLowerCase().replaceAll("_", " ");
export const sentence = (name) => words(name).replace(/^./, (letter) => letter.toUpperCase());

// A reason of the server as a sentence of its own: names that it puts between backticks are plain words here.
export function reason(message) {
  const said = message.replaceAll("`", "").replace(/^./u, (letter) => letter.toUpperCase());
  return /[.!?…]$/.test(said) ? said : `${said}.`;
}

// A name as one word of a command line.
export const quoted = (name) => (/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

// An address of somebody else as text: nobody opens it by accident.
export const defanged = (url) => url.replace(/^http/i, "hxxp").replaceAll(".", "[.]");

// Parts of a text that is counted in code points, which JavaScript's strings are not.
export function cut(text, start, end) {
  return Array.from(text).slice(start, end).join("");
}
