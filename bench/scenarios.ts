/** The scenarios: which contenders call, on how many keys, and how many calls wait at a time. */
import type { DatabaseName } from "./databases.js";

export const PG = "ours, pg";
export const PRISMA = "ours, Prisma";
export const OWN_POOL = "ours, Prisma, own pool";
export const PEER = "rate-limiter-flexible, PostgreSQL";

export interface Scenario {
  title: string;
  database: DatabaseName;
  processes: number;
  /** Callers per process, each of which waits for its answer before it calls again. */
  waiting: number;
  keys: number;
  /** Tokens per key. Where denied calls are measured, fewer tokens than the run asks for. */
  tokens: number;
  /** The delay of the answers, ms. */
  roundTrip: number;
  /** The contenders of this package first, and then the peer with which they are compared. */
  contenders: readonly string[];
  peer: string;
  /** The contenders take turns call by call, so that a short disturbance hits all contenders. */
  alternating: boolean;
}

/** More tokens than any run takes. */
export const PLENTY = 1_000_000_000;

type Shape = [processes: number, waiting: number, keys: number];

const shapes: Shape[] = [
  [1, 1, 1],
  [1, 512, 1],
  ...[1, 4, 16, 64, 512].map((waiting): Shape => [1, waiting, 10_000]).slice(1),
  ...[1, 4, 16, 64, 512].map((waiting): Shape => [3, waiting, 1]),
  ...[1, 4, 16, 64, 512].map((waiting): Shape => [3, waiting, 100]),
  [3, 1, 10],
  [3, 16, 10],
  [3, 64, 1000],
];

/** The shapes through which curves are drawn, over waiting callers. */
export const curves = [
  { processes: 3, keys: 1 },
  { processes: 3, keys: 100 },
  { processes: 1, keys: 10_000 },
];

const WORDS = {
  postgresql: false,
  mysql: "MariaDB",
  sqlite: "SQLite",
  redis: "Redis",
  "redis cluster": "Redis Cluster",
} as const;

function scenario([processes, waiting, keys]: Shape, rest: Partial<Scenario> = {}): Scenario {
  const { roundTrip = 0, tokens = PLENTY, database = "postgresql" } = rest;
  const words = [
    `${processes} × ${waiting}`,
    `${keys.toLocaleString("en")} ${keys === 1 ? "key" : "keys"}`,
    tokens < PLENTY && "denied",
    roundTrip > 0 && `round trip ${roundTrip} ms`,
    WORDS[database],
  ];
  return {
    title: words.filter(Boolean).join(", "),
    database,
    processes,
    waiting,
    keys,
    tokens,
    roundTrip,
    contenders: [PG, PRISMA, PEER],
    peer: PEER,
    alternating: processes === 1 && waiting === 1,
    ...rest,
  };
}

/** A contender for scenarios where callers share a key: processes hold blocks of the key's tokens. */
const LEASED = "ours, pg, with a lease";

const LIMIT_ALL = "ours, pg, limitAll";

const FLOOD = {
  contenders: ["ours, pg, remembering denials", PG, "rate-limiter-flexible, blocking in memory"],
  peer: "rate-limiter-flexible, blocking in memory",
} as const;

const references = [
  "rate-limiter-flexible, Prisma",
  "one Serializable transaction per call",
  "bare $queryRaw, SELECT 1",
];

const mysql = {
  database: "mysql",
  contenders: ["ours, mysql2", "ours, Prisma on MariaDB", "rate-limiter-flexible, MySQL"],
  peer: "rate-limiter-flexible, MySQL",
} as const;

const redis = {
  database: "redis",
  contenders: ["ours, ioredis", "rate-limiter-flexible, ioredis", "@upstash/ratelimit, ioredis"],
  peer: "rate-limiter-flexible, ioredis",
} as const;

const cluster = {
  database: "redis cluster",
  contenders: ["ours, ioredis", "rate-limiter-flexible, ioredis"],
  peer: "rate-limiter-flexible, ioredis",
} as const;

const sqlite = {
  database: "sqlite",
  contenders: ["ours, Prisma on SQLite", "one transaction per call, SQLite"],
  peer: "one transaction per call, SQLite",
} as const;

export const scenarios: readonly Scenario[] = [
  ...shapes.map((shape) => {
    const mayLease = shape[2] === 1 ? [LEASED] : [];
    return scenario(shape, { contenders: [...mayLease, PG, OWN_POOL, PRISMA, PEER] });
  }),
  scenario([1, 64, 1], { contenders: [PG, PRISMA, PEER, ...references] }),
  // Many configs, compared with one config.
  ...[1000, 10_000].map((keys) =>
    scenario([1, 64, keys], {
      title: `1 × 64, ${keys.toLocaleString("en")} keys, 16 configs`,
      contenders: ["ours, pg, 16 tiers", "ours, pg, 16 limits", PG],
      peer: PG,
    }),
  ),
  scenario([1, 1, 1], { tokens: 37 }),
  scenario([1, 64, 1], { tokens: 37 }),
  // Callers who ignore their denials.
  scenario([1, 64, 1], { ...FLOOD, title: "1 × 64, 1 key, denied flood", tokens: 37 }),
  scenario([1, 64, 10_000], { ...FLOOD, title: "1 × 64, 10,000 keys, denied flood", tokens: 1 }),
  // Calls of all kinds, compared with plain calls, which go out together in one statement.
  scenario([3, 16, 1], {
    title: "3 × 16, 1 key, calls of all kinds",
    contenders: ["ours, pg, calls of all kinds", PG],
    peer: PG,
  }),
  scenario([2, 4, 4], {
    title: "2 × 4, 4 keys, limitAll beside held rows",
    contenders: ["ours, pg, limitAll beside held rows", LIMIT_ALL],
    peer: LIMIT_ALL,
  }),
  scenario([3, 16, 100], { roundTrip: 1 }),
  scenario([3, 16, 100], { roundTrip: 20 }),
  scenario([3, 16, 1], { roundTrip: 200 }),
  ...[
    [1, 1, 1],
    [1, 512, 1],
    [1, 64, 10_000],
    [3, 1, 1],
    [3, 4, 1],
    [3, 16, 10],
  ].map((shape) => scenario(shape as Shape, mysql)),
  ...[redis, cluster].flatMap((on) =>
    [
      [1, 1, 1],
      [1, 64, 10_000],
      [1, 512, 1],
      [3, 1, 1],
      [3, 16, 10],
      [3, 64, 100],
    ].map((shape) => scenario(shape as Shape, on)),
  ),
  ...[
    [1, 1, 1],
    [1, 64, 1],
    [3, 4, 10],
  ].map((shape) => scenario(shape as Shape, sqlite)),
];
