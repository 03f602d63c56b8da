/** What is measured: who calls, on how many keys, with how many calls waiting at a time. */
import { contenders } from "./contenders.js";

export const OURS = "trpc-rate-limit";
export const PEER = "rate-limiter-flexible, PostgreSQL";
export const BARE = "bare $queryRaw, SELECT 1";
export const BARE_UPDATE = "bare $queryRaw, UPDATE of one row";

export interface Scenario {
  title: string;
  keys: number;
  /** Callers per process, each of which waits for its answer before it calls again. */
  waiting: number;
  processes: number;
  /** Tokens per key; fewer than the run takes where denied calls are measured. */
  tokens: number;
  /** Those that are too slow, or too wrong, to wait for are left out elsewhere. */
  contenders: readonly string[];
  /** The contenders take turns call by call, so that a short disturbance hits all of them. */
  alternating?: boolean;
}

/** More tokens than any run takes. */
export const PLENTY = 1_000_000_000;

const all = Object.keys(contenders);
const limiters = all.filter((name) => name !== BARE_UPDATE);
const main = [OURS, PEER];
const usual = { processes: 1, tokens: PLENTY };

export const lone: Scenario = {
  ...usual,
  title: "one caller, one key",
  keys: 1,
  waiting: 1,
  contenders: all,
  alternating: true,
};
export const hot: Scenario = {
  ...usual,
  title: "one key, 512 waiting",
  keys: 1,
  waiting: 512,
  contenders: [...main, BARE],
};
export const many: Scenario = {
  ...hot,
  title: "10,000 keys, 512 waiting",
  keys: 10_000,
};
export const shared: Scenario = {
  ...usual,
  title: "one key, 3 processes × 64",
  keys: 1,
  waiting: 64,
  processes: 3,
  contenders: main,
};

export const scenarios: readonly Scenario[] = [
  lone,
  { ...usual, title: "one key, 64 waiting", keys: 1, waiting: 64, contenders: limiters },
  hot,
  { ...usual, title: "10,000 keys, 64 waiting", keys: 10_000, waiting: 64, contenders: limiters },
  many,
  shared,
  { ...shared, title: "10,000 keys, 3 processes × 64", keys: 10_000 },
  {
    ...usual,
    title: "one key, denied, 64 waiting",
    keys: 1,
    waiting: 64,
    tokens: 37,
    contenders: main,
  },
];
