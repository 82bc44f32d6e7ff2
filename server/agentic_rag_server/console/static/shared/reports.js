// Reports of evaluations: which figures are better when they are less, and two reports over the same questions.

import { sentence } from "./format.js";

export const LESS_IS_BETTER = new Set(["false_abstention"]);
const CHANCE = 0.05;

// A figure's name for people: `answer_contained` is "Answer contained", `ndcg@10` "NDCG@10".
export const titleOf = (name) => sentence(name).replace(/^(?:mrr|f1|ndcg)/i, (found) => found.toUpperCase());

export const percent = (share) => `${(100 * share).toFixed(1)} %`;

// Figure by figure over the questions that both reports have it for: the means, in how many questions the second is
// better and worse, and whether so uneven a split is likely by chance (two-sided sign test).
export function compare(first, second) {
  const before = new Map(first.questions.map((one) => [one.id, one]));
  const pairs = second.questions.filter((one) => before.has(one.id)).map((one) => [before.get(one.id), one]);
  const names = [...new Set(pairs.flatMap(([one, other]) => Object.keys(one.figures).filter((name) => name in other.figures)))];
  const figures = names.map((name) => compared(name, pairs)).sort((one, other) => moved(other) - moved(one));
  const turned = pairs.filter(([one, other]) => one.right !== other.right).map(([, other]) => other);
  return { figures, turned, shared: pairs.length, others: before.size + second.questions.length - 2 * pairs.length };
}

const moved = (one) => one.better + one.worse;

function compared(name, pairs) {
  const both = pairs
    .filter(([one, other]) => name in one.figures && name in other.figures)
    .map(([one, other]) => [one.figures[name], other.figures[name]]);
  const more = both.filter(([one, other]) => other > one).length;
  const less = both.filter(([one, other]) => other < one).length;
  const [better, worse] = LESS_IS_BETTER.has(name) ? [less, more] : [more, less];
  const mean = (place) => both.reduce((sum, pair) => sum + pair[place], 0) / both.length;
  return { name, first: mean(0), second: mean(1), better, worse, questions: both.length, isChance: byChance(better, worse) > CHANCE };
}

// How likely a fair coin splits better + worse throws at least so unevenly.
function byChance(better, worse) {
  const throws = better + worse;
  let share = 0.5 ** throws;
  let sum = 0;
  // Of more throws than a double's exponent holds, the normal curve says enough.
  if (throws > 1000) return Math.abs(better - worse) > 1.96 * Math.sqrt(throws) ? 0 : 1;
  for (let place = 0; place <= Math.min(better, worse); place += 1) {
    sum += share;
    share *= (throws - place) / (place + 1);
  }
  return Math.min(1, 2 * sum);
}
