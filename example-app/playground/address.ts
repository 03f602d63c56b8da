/**
 * The playground in the address of the page, so that a link shows to others what the visitor sees:
 * `#playground?kind=token-bucket&rate=30&period=60s&capacity=10&count=3&reserve`. With `run=1`, ten
 * visitors call for a minute when the link is opened.
 */
import { configOfChoice, type PlaygroundChoice } from "./choice.js";
import { BOUNDS } from "./limits.js";

const SECOND = 1000;
const PART = "#playground";
const KINDS = { "token-bucket": "token bucket", "fixed-window": "fixed window" } as const;

/** The terms of each call. */
export interface CallInput {
  /** Tokens of a call. */
  count: number;
  reserve: boolean;
}

export const PLAIN_CALL: CallInput = { count: 1, reserve: false };

/** The settings that an address asks for. */
export interface Asked {
  call: CallInput;
  /** `undefined`: the address names no limit, or one that does not work. */
  choice?: PlaygroundChoice | undefined;
  /** Whether ten visitors call, once the limit is in force. */
  isRunning?: boolean | undefined;
  /** The problem of the address, in words for the page. */
  problem?: string | undefined;
}

/** A page with nothing but the playground has no part in its address at first. */
export function isOfPlayground(hash: string): boolean {
  return hash === "" || hash.split("?")[0] === PART;
}

/** Ignores unknown names, which a later version may have written. */
export function readAddress(hash: string): Asked {
  const params = new URLSearchParams(hash.slice(hash.indexOf("?") + 1 || hash.length));
  const asked: Asked = { call: PLAIN_CALL };
  try {
    asked.choice = readChoice(params);
    const count = readNumber(params, "count") ?? PLAIN_CALL.count;
    const { min, max } = BOUNDS.count;
    if (!(count >= min && count <= max)) throw new Error(`count must be from ${min} to ${max}`);
    asked.call = { count, reserve: params.has("reserve") };
    if (params.get("run") === "1") asked.isRunning = true;
  } catch (error) {
    asked.problem = (error as Error).message;
  }
  return asked;
}

function readChoice(params: URLSearchParams): PlaygroundChoice | undefined {
  const names = ["kind", "rate", "period", "capacity", "shards", "blockFor"];
  if (!names.some((name) => params.has(name))) return undefined;
  const kind = params.get("kind") ?? "";
  if (!Object.hasOwn(KINDS, kind)) throw new Error("kind must be token-bucket or fixed-window");
  const rate = readNumber(params, "rate");
  const period = params.get("period") === "month" ? "month" : readTime(params, "period");
  if (rate === undefined) throw new Error("rate must be a number");
  if (period === undefined) throw new Error('period must be a time such as "60s", or "month"');
  const blockFor = readTime(params, "blockFor");
  const choice: PlaygroundChoice = {
    kind: KINDS[kind as keyof typeof KINDS],
    rate,
    period,
    capacity: readNumber(params, "capacity") ?? rate,
    shards: readNumber(params, "shards") ?? 1,
    ...(blockFor !== undefined && { blockFor }),
  };
  configOfChoice(choice);
  return choice;
}

/** @throws for a text that is not a number. */
function readNumber(params: URLSearchParams, name: string): number | undefined {
  const text = params.get(name);
  if (text === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new Error(`${name} must be a number`);
}

/** @returns ms. @throws for a text that is not a time. */
function readTime(params: URLSearchParams, name: string): number | undefined {
  const text = params.get(name);
  if (text === null) return undefined;
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(text)?.[1];
  if (seconds === undefined) throw new Error(`${name} must be a time such as "60s"`);
  return Math.round(Number(seconds) * SECOND);
}

/** The link with which ten visitors call when it is opened. */
export function runningLink(link: string): string {
  return `${link}&run=1`;
}

/** The part of the address from `#` on. Options of a plain call are left out. */
export function writeAddress(choice: PlaygroundChoice, { count, reserve }: CallInput): string {
  const { kind, rate, period, capacity, shards, blockFor } = choice;
  const entries = {
    kind: kind.replace(" ", "-"),
    rate,
    period: period === "month" ? period : `${period / SECOND}s`,
    capacity,
    ...(shards !== 1 && { shards }),
    ...(blockFor !== undefined && { blockFor: `${blockFor / SECOND}s` }),
    ...(count !== PLAIN_CALL.count && { count }),
  };
  const texts = Object.entries(entries).map(([name, value]) => `${name}=${value}`);
  return `${PART}?${[...texts, ...(reserve ? ["reserve"] : [])].join("&")}`;
}

/** Makes no new entry in the browser's history. */
export function replaceAddress(address: string): void {
  if (location.hash !== address) window.history.replaceState(null, "", address);
}
