// A small engine for prial's engine protocol in JavaScript: Node 18 or newer, no packages.
//
//   prial arena "engine:node docs/engines/greedy.mjs" greedy      plays against prial's own
//   node docs/engines/greedy.mjs --check vectors.jsonl            checks itself (prial export --vectors vectors.jsonl)
//
// It lays the strongest hand that it can, then the strongest of the cards left, and so on; it keeps its cards and never
// calls. A better engine replaces `decide`.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const RANKS = "23456789TJQKA";
const CLASSES = ["high card", "pair", "flush", "run", "running flush", "prial"];
const LOWEST = { high_card: 0, pair: 1, flush: 2 };

/** What to compare three cards by: [class, then what counts within it]; the larger is the stronger. */
export function strength(cards, flushHigh = "ace") {
  const ranks = cards.map((card) => RANKS.indexOf(card[0])).sort((a, b) => b - a);
  const [high, middle, low] = ranks;
  const three = RANKS.indexOf("3");
  if (high === low) return [5, high === three ? 13 : high]; // 3-3-3 is the best prial
  const oneSuit = cards.every((card) => card[1] === cards[0][1]);
  const aceLow = high === 12 && middle === 1 && low === 0; // A-2-3 is the best run
  if (aceLow || (high - middle === 1 && middle - low === 1)) return [oneSuit ? 4 : 3, aceLow ? 13 : high];
  if (oneSuit) {
    const value = (rank) => (rank === three && flushHigh === "three" ? 13 : rank);
    return [2, ...ranks.map(value).sort((a, b) => b - a)];
  }
  if (high === middle) return [1, high, low];
  if (middle === low) return [1, low, high];
  return [0, high, middle, low];
}

/** Negative, 0 or positive, as the first is weaker than, equal to or stronger than the second. */
export function compare(first, second) {
  for (let place = 0; place < first.length && place < second.length; place++)
    if (first[place] !== second[place]) return first[place] - second[place];
  return 0;
}

/** The strongest three cards of some that are a hand under the rules, null if none are. */
function strongest(cards, rules) {
  let best = null;
  let bestStrength = [LOWEST[rules.lowest_hand] - 0.5]; // below the weakest hand that counts
  for (let i = 0; i < cards.length; i++)
    for (let j = i + 1; j < cards.length; j++)
      for (let k = j + 1; k < cards.length; k++) {
        const hand = [cards[i], cards[j], cards[k]];
        const found = strength(hand, rules.flush_high);
        if (compare(found, bestStrength) > 0) [best, bestStrength] = [hand, found];
      }
  return best;
}

function decide(position, rules) {
  if (position.phase === "exchange") return "keep";
  if (position.phase === "call") return "pass";
  const laid = [];
  let left = position.cards;
  while (laid.length < Math.min(4, Math.floor(rules.cards_dealt / 3))) {
    const hand = strongest(left, rules);
    if (hand === null) break;
    laid.push(hand.join(" "));
    left = left.filter((card) => !hand.includes(card));
  }
  return `lay ${laid.join(" | ")}`.trim();
}

// ---- the protocol --------------------------------------------------------------------------------------------------

const FIELDS = ["seat", "dealer", "round", "scores", "cards", "givenup", "exchanges", "calls", "laid"];
let rules = null;
let position = null;

function readRules(words) {
  // A host sends every option; what is missing is as in the rule set `online`.
  const read = { cards_dealt: 13, lowest_hand: "pair", flush_high: "ace" };
  for (const word of words.filter((word) => word.includes("="))) {
    const [option, value] = word.toLowerCase().split("=");
    read[option] = /^\d+$/.test(value) ? Number(value) : value;
  }
  if (!(read.lowest_hand in LOWEST)) throw new Error(`lowest_hand: expected high_card, pair or flush`);
  return read;
}

function readPosition(words) {
  if (rules === null) throw new Error("no rules yet; expected rules ... first");
  const phase = (words[0] ?? "").toLowerCase();
  if (!["exchange", "arrange", "call"].includes(phase)) throw new Error("expected exchange, arrange or call");
  const read = {};
  let values = null;
  for (const word of words.slice(1))
    if (FIELDS.includes(word.toLowerCase())) values = read[word.toLowerCase()] = [];
    else if (values === null) throw new Error(`expected a field, got ${word}`);
    else values.push(word);
  const cards = (read.cards ?? []).map((card) => card[0].toUpperCase() + card.slice(1).toLowerCase());
  if (cards.length !== rules.cards_dealt || !cards.every((card) => /^[2-9TJQKA][cdhs]$/.test(card)))
    throw new Error(`cards: expected ${rules.cards_dealt} cards such as As Td 2c`);
  return { phase, cards };
}

function answer(line) {
  const [command, ...words] = line.replace(/^\uFEFF/, "").trim().split(/\s+/);
  switch (command.toLowerCase()) {
    case "hello":
      return "info name greedy.mjs\nok hello 1";
    case "rules":
      rules = position = null;
      rules = readRules(words);
      return "ok rules";
    case "position":
      position = null;
      position = readPosition(words);
      return "ok position";
    case "decide":
      if (position === null) throw new Error("no position yet; expected position ... first");
      return `decision ${decide(position, rules)}`;
    case "seed": // it draws nothing
    case "ping":
    case "quit":
      return ["ok", command.toLowerCase(), ...words].join(" ");
    default:
      throw new Error("no such command; expected hello, rules, position, decide, seed, ping, quit");
  }
}

function play() {
  const input = createInterface({ input: process.stdin, terminal: false });
  process.stdout.on("error", () => process.exit(0)); // the host has gone
  let over = false;
  input.on("line", (line) => {
    if (over || !line.replace(/^\uFEFF/, "").trim()) return;
    let said;
    try {
      said = answer(line);
    } catch (error) {
      said = `error ${error.message}`;
    }
    over = said === "ok quit";
    process.stdout.write(`${said}\n`, () => over && process.exit(0));
  });
}

// ---- checking itself -----------------------------------------------------------------------------------------------

function check(file) {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  let faults = 0;
  const fault = (text) => { faults++; console.log(text); };
  const hands = lines.filter((line) => line.kind === "hand");
  for (const hand of hands)
    if (CLASSES[strength(hand.cards)[0]] !== hand.class) fault(`${hand.cards.join(" ")}: expected a ${hand.class}`);
  for (const flushHigh of ["ace", "three"]) {
    const sorted = [...hands].sort((a, b) => a.strength[flushHigh] - b.strength[flushHigh]);
    for (let place = 1; place < sorted.length; place++) {
      const [below, above] = [sorted[place - 1], sorted[place]];
      const found = Math.sign(compare(strength(above.cards, flushHigh), strength(below.cards, flushHigh)));
      const expected = Math.sign(above.strength[flushHigh] - below.strength[flushHigh]);
      if (found !== expected) fault(`${above.cards.join(" ")} against ${below.cards.join(" ")}, ${flushHigh} high`);
    }
  }
  let positions = 0;
  const rulesOf = Object.fromEntries(lines.filter((line) => line.kind === "rules").map((line) => [line.id, line]));
  for (const line of lines.filter((line) => line.kind === "position" && line.phase === "arrange")) {
    positions++;
    rules = readRules(rulesOf[line.rules].command.split(" "));
    position = readPosition(line.command.split(" ").slice(1));
    // Of hands that are equally strong it may take others than prial's greedy; their strengths are the same.
    const mine = decide(position, rules).slice(3).split("|").filter((hand) => hand.trim());
    const theirs = line.decisions.greedy.slice(3).split("|").filter((hand) => hand.trim());
    const key = (hand) => strength(hand.trim().split(" "), rules.flush_high).join();
    if (mine.length && key(mine[0]) !== key(theirs[0])) fault(`${line.command}: Hand 1 is not the strongest`);
  }
  console.log(`${hands.length} hands, ${positions} positions, ${faults} faults`);
  process.exit(faults ? 1 : 0);
}

if (process.argv[2] === "--check") check(process.argv[3]);
else play();
