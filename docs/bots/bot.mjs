// A one-file bot played from JavaScript: Node 18 or newer and onnxruntime-node or onnxruntime-web, nothing of prial.
//
//   npm install onnxruntime-web                                                 in the folder from which it is run
//   node bot.mjs bot.onnx "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As" 5 6 2         own cards; scores, own first
//   node bot.mjs bot.onnx --check vectors.jsonl online-3 online                 prial export --vectors vectors.jsonl; rules, agent
//   node bot.mjs bot.onnx --time 100 "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As"    milliseconds for a decision

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const RANKS = "23456789TJQKA";
const SUITS = "cdhs";
const cardId = (text) => 4 * RANKS.indexOf(text[0]) + SUITS.indexOf(text[1]);
const cardText = (card) => RANKS[Math.floor(card / 4)] + SUITS[card % 4];

function runtime() {
  const require = createRequire(process.cwd() + "/");
  for (const name of ["onnxruntime-node", "onnxruntime-web"]) {
    try {
      return require(name);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw new Error(`needs onnxruntime-node or onnxruntime-web in ${process.cwd()}: npm install onnxruntime-web`);
}

const ort = runtime();

export async function load(path) {
  if (ort.env.wasm) ort.env.wasm.numThreads = 1; // more need a page that is isolated, and bring nothing here
  // onnxruntime before 1.19 answers wrongly with memory patterns.
  const options = { intraOpNumThreads: 1, enableMemPattern: false, logSeverityLevel: 3 };
  return ort.InferenceSession.create(readFileSync(path), options);
}

/** All answers for one decision. Every list is as long as the rules want it; what has not happened is -1. */
export async function decide(session, given) {
  const { cards, scores, dealer = 0, target = 7, temperature = 0, seed = 0 } = given;
  const [dealt, players] = [cards.length, scores.length];
  const none = (length) => new Array(length).fill(-1);
  const ints = (values, ...shape) => new ort.Tensor("int32", Int32Array.from(values), [1, ...shape]);
  const answers = await session.run({
    cards: ints(cards, dealt),
    given_up: ints(given.givenUp?.length ? given.givenUp : none(dealt), dealt),
    scores: ints(scores, players),
    target: ints([target]),
    dealer: ints([dealer]),
    exchanges: ints(given.exchanges ?? none(players), players),
    calls: ints(given.calls ?? none(players), players),
    laid: ints(given.laid ?? none(12), 4, 3),
    temperature: new ort.Tensor("float32", Float32Array.of(temperature), [1]),
    seed: ints([seed]),
  });
  const found = Object.fromEntries(Object.entries(answers).map(([name, tensor]) => [name, [...tensor.data]]));
  found.hands = [0, 3, 6, 9].map((start) => found.hands.slice(start, start + 3)).filter((hand) => hand[0] >= 0);
  return found;
}

/** What is told by seat at the table, own first; true, false and null as 1, 0 and -1. */
function relative(values, seat) {
  return [...values.slice(seat), ...values.slice(0, seat)].map((value) => (value === null ? -1 : Number(value)));
}

/**
 * Compares with conformance vectors: what is laid has to be undominated, decisions as the agent's that the file was made of.
 * Those of a level come by the seed.
 */
async function check(session, path, rulesId, agent) {
  const lines = readFileSync(path, "ascii").trim().split("\n").map((line) => JSON.parse(line));
  const rules = lines.find((line) => line.kind === "rules" && line.id === rulesId).options;
  let [done, compared, faults] = [0, 0, 0];
  for (const line of lines) {
    if (line.kind !== "position" || line.rules !== rulesId || line.phase === "call") continue;
    const { view } = line;
    const found = await decide(session, {
      cards: view.cards.map(cardId),
      givenUp: view.given_up.map(cardId),
      scores: relative(view.scores, view.seat),
      target: rules.target,
      dealer: (view.dealer - view.seat + rules.players) % rules.players,
      exchanges: relative(view.exchanges, view.seat),
      seed: line.seed,
    });
    done++;
    const decision = line.decisions[agent] ?? line.decisions_by_seed[agent];
    if (decision !== undefined) compared++;
    if (line.phase === "exchange") {
      if (decision === undefined || decision === ["keep", "exchange"][found.exchange[0]]) continue;
      faults++;
      console.log(`${line.command}: expected ${decision}`);
      continue;
    }
    const laid = found.strengths.slice(0, line.undominated[0].strengths.length).join();
    const same = line.undominated.filter((one) => one.strengths.join() === laid).map((one) => one.lay);
    const right = decision === undefined ? same.length > 0 : same.includes(decision);
    if (right && found.candidates[0] === line.undominated.length) continue;
    faults++;
    console.log(`${line.command}: laid ${laid}, ${found.candidates[0]} candidates, expected ${decision ?? "undominated hands"}`);
  }
  console.log(`${done} positions, ${compared} decisions compared, ${faults} faults`);
  return faults === 0;
}

async function time(session, count, cards) {
  const taken = [];
  for (let turn = 0; turn < count; turn++) {
    const start = performance.now();
    await decide(session, { cards, scores: [0, 0, 0] });
    taken.push(performance.now() - start);
  }
  taken.sort((a, b) => a - b);
  console.log(`median ${taken[count >> 1].toFixed(1)} ms, fastest ${taken[0].toFixed(1)} ms of ${count}`);
}

const [path, ...words] = process.argv.slice(2);
const session = await load(path);
if (words[0] === "--check") {
  process.exitCode = (await check(session, ...words.slice(1))) ? 0 : 1;
} else if (words[0] === "--time") {
  await time(session, Number(words[1]), words[2].split(" ").map(cardId));
} else {
  const scores = words.slice(1).map(Number);
  const found = await decide(session, { cards: words[0].split(" ").map(cardId), scores: scores.length ? scores : [0, 0, 0] });
  console.log("lay", found.hands.map((hand) => hand.map(cardText).join(" ")).join(" | "));
  console.log("spare", found.spare.filter((card) => card >= 0).map(cardText).join(" "));
  console.log("chances", found.chances.map((chance) => chance.toFixed(2)).join(" "));
  process.exitCode = found.ok[0] === 1 ? 0 : 1;
}
