// A one-file bot played from JavaScript, as a program (see USAGE) or a module.

import { readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const USAGE = `A one-file bot played from JavaScript: Node 18 or newer and onnxruntime-node or onnxruntime-web, nothing of prial.

npm install onnxruntime-web                                                 in the folder from which it is run
node bot.mjs bot.onnx "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As" 5 6 2       own cards; scores, own first
node bot.mjs bot.onnx --check vectors.jsonl online-3                        prial export --vectors vectors.jsonl
node bot.mjs bot.onnx --time 100 "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As"   milliseconds for a decision
`;
const RANKS = "23456789TJQKA";
const SUITS = "cdhs";
const cardId = (text) => 4 * RANKS.indexOf(text[0]) + SUITS.indexOf(text[1]);
const cardText = (card) => RANKS[Math.floor(card / 4)] + SUITS[card % 4];

/** What was asked for cannot be; the message is one line. */
class WordsError extends Error {}

function runtime() {
  const require = createRequire(process.cwd() + "/");
  for (const name of ["onnxruntime-node", "onnxruntime-web"]) {
    try {
      return require(name);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw new WordsError(`needs onnxruntime-node or onnxruntime-web in ${process.cwd()}: npm install onnxruntime-web`);
}

/** The values of one field of a message of Protocol Buffers, which ONNX files are. */
function* fields(bytes, wanted) {
  let at = 0;
  const number = () => {
    let [value, factor, byte] = [0, 1, 128];
    for (; byte > 127 && at < bytes.length; factor *= 128) value += ((byte = bytes[at++]) & 127) * factor;
    return value;
  };
  while (at < bytes.length) {
    const tag = number();
    const kind = tag % 8; // 0 a number, 1 eight bytes, 2 a length and so many bytes, 5 four bytes
    const said = kind === 0 || kind === 2 ? number() : 0;
    const length = { 0: 0, 1: 8, 2: said }[kind] ?? 4;
    if (kind === 2 && Math.floor(tag / 8) === wanted) yield bytes.subarray(at, at + length);
    at += length;
  }
}

/** What a bot's file says about itself: its metadata, which onnxruntime does not tell in JavaScript. */
function aboutOf(bytes) {
  for (const entry of fields(bytes, 14)) {
    const [[key], [value]] = [[...fields(entry, 1)], [...fields(entry, 2)]];
    if (String(key) === "prial") return JSON.parse(String(value));
  }
  throw new WordsError("no one-file bot");
}

export class Bot {
  static async load(path) {
    const [bot, bytes] = [new Bot(), readFileSync(path)];
    bot.about = aboutOf(bytes);
    bot.rules = bot.about.rules;
    bot.ort = runtime();
    if (bot.ort.env.wasm) bot.ort.env.wasm.numThreads = 1; // more need a page that is isolated, and bring nothing here
    // onnxruntime before 1.19 answers wrongly with memory patterns.
    const options = { intraOpNumThreads: 1, enableMemPattern: false, logSeverityLevel: 3 };
    bot.session = await bot.ort.InferenceSession.create(bytes, options);
    return bot;
  }

  /** All answers for one decision. Every list is as long as the rules want it; what has not happened is left out, or -1. */
  async decide(given) {
    const { players, cards_dealt: dealt } = this.rules;
    const { cards, scores, dealer = 0, target = this.rules.target, temperature = this.about.temperature, seed = 0 } = given;
    const none = (length) => new Array(length).fill(-1);
    const ints = (values, ...shape) => new this.ort.Tensor("int32", Int32Array.from(values), [1, ...shape]);
    const answers = await this.session.run({
      cards: ints(cards, dealt),
      given_up: ints(given.givenUp?.length ? given.givenUp : none(dealt), dealt),
      scores: ints(scores, players),
      target: ints([target]),
      dealer: ints([dealer]),
      exchanges: ints(given.exchanges ?? none(players), players),
      calls: ints(given.calls ?? none(players), players),
      laid: ints(given.laid ?? none(12), 4, 3),
      temperature: new this.ort.Tensor("float32", Float32Array.of(temperature), [1]),
      seed: ints([seed]),
    });
    const found = Object.fromEntries(Object.entries(answers).map(([name, tensor]) => [name, [...tensor.data]]));
    found.hands = [0, 3, 6, 9].map((start) => found.hands.slice(start, start + 3)).filter((hand) => hand[0] >= 0);
    return found;
  }
}

/** What is told by seat at the table, own first; true, false and null as 1, 0 and -1. */
function relative(values, seat) {
  return [...values.slice(seat), ...values.slice(0, seat)].map((value) => (value === null ? -1 : Number(value)));
}

/**
 * Compares with conformance vectors: what is laid has to be undominated, decisions as the bot's own agent's. Those of a level
 * come by the seed.
 */
async function check(bot, path, rulesId) {
  const lines = readFileSync(existing(path), "ascii").trim().split("\n").map((line) => JSON.parse(line));
  const rules = lines.find((line) => line.kind === "rules" && line.id === rulesId)?.options;
  if (rules === undefined) throw new WordsError(`${path}: no rules '${rulesId}'`);
  if (Object.entries(rules).some(([option, value]) => bot.rules[option] !== value))
    throw new WordsError(`${rulesId}: not the rules that the bot was made for`);
  const agent = bot.about.agent;
  let [done, compared, faults] = [0, 0, 0];
  for (const line of lines) {
    if (line.kind !== "position" || line.rules !== rulesId || line.phase === "call") continue;
    const { view } = line;
    const found = await bot.decide({
      cards: view.cards.map(cardId),
      givenUp: view.given_up.map(cardId),
      scores: relative(view.scores, view.seat),
      dealer: (view.dealer - view.seat + rules.players) % rules.players,
      exchanges: relative(view.exchanges, view.seat),
      temperature: 0,
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

async function measure(bot, count, cards) {
  const taken = [];
  for (let turn = 0; turn < count; turn++) {
    const start = performance.now();
    await bot.decide({ cards, scores: new Array(bot.rules.players).fill(0) });
    taken.push(performance.now() - start);
  }
  taken.sort((a, b) => a - b);
  console.log(`median ${taken[count >> 1].toFixed(1)} ms, fastest ${taken[0].toFixed(1)} ms of ${count}`);
}

// ---- the program ---------------------------------------------------------------------------------------------------

function cardsOf(text, rules) {
  const cards = text.split(/\s+/).filter(Boolean);
  const wrong = cards.find((card) => card.length !== 2 || !RANKS.includes(card[0]) || !SUITS.includes(card[1]));
  if (wrong) throw new WordsError(`cards: no card '${wrong}'; expected rank and suit, such as As Td 2c`);
  if (cards.length !== rules.cards_dealt) throw new WordsError(`cards: expected ${rules.cards_dealt}, got ${cards.length}`);
  return cards.map(cardId);
}

function whole(text, what, least = 0) {
  const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1;
  if (number < least) throw new WordsError(`${what}: expected a whole number from ${least}, got '${text}'`);
  return number;
}

function existing(path) {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new WordsError(`${path}: no such file`);
  return path;
}

async function main(words) {
  const option = words[1]?.startsWith("--") ? words[1] : null;
  if (words.length < 2 || (option && (!["--check", "--time"].includes(option) || words.length !== 4))) {
    console.error(USAGE);
    return false;
  }
  const [path, first, ...rest] = words;
  const bot = await Bot.load(existing(path));
  if (option === "--check") return check(bot, ...rest);
  if (option === "--time") {
    await measure(bot, whole(rest[0], "--time", 1), cardsOf(rest[1], bot.rules));
    return true;
  }
  const { players } = bot.rules;
  const scores = rest.length ? rest.map((score) => whole(score, "scores")) : new Array(players).fill(0);
  if (scores.length !== players) throw new WordsError(`scores: expected ${players}, got ${scores.length}`);
  const found = await bot.decide({ cards: cardsOf(first, bot.rules), scores });
  console.log("lay", found.hands.map((hand) => hand.map(cardText).join(" ")).join(" | "));
  console.log("spare", found.spare.filter((card) => card >= 0).map(cardText).join(" "));
  console.log("chances", found.chances.map((chance) => chance.toFixed(2)).join(" "));
  return found.ok[0] === 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof WordsError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
