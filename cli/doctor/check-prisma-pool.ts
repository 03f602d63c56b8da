/**
 * Finds adapters of Prisma that hide their pool from `prismaStore`, so that each decision takes the
 * longer way through Prisma.
 */
import type { DialectName } from "../../server/store/sql/driver.js";
import { advised, type Finding, ok } from "./finding.js";
import { readSources } from "./sources.js";

const CHECK = "prisma-pool";
/** Matches an adapter, and its first argument if the argument is a name. */
const ADAPTERS = /\bnew\s+(PrismaPg|PrismaMariaDb)\s*\(\s*([\w$]+\b(?!\s*[.(]))?/g;
/**
 * Matches a store and its options. `pool: false` also counts as a pool. Options that are a name may have
 * a pool.
 */
const STORE = /\bprismaStore\s*\(\s*[\w$.]+\s*(?:,\s*([^)]*))?\)/g;

export async function checkPrismaPool(root: string, dialect: DialectName): Promise<Finding[]> {
  const sources = await readSources(root);
  const texts = [...sources.values()];
  const stores = texts.flatMap((text) => [...text.matchAll(STORE)].map(([, options]) => options));
  const adapters = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(ADAPTERS)].map(([, adapter, pool]) => ({ file, adapter, pool })),
  );
  const adapter = ADAPTER_OF[dialect];
  const own = adapters.filter((each) => each.adapter === adapter);
  if (adapter === undefined || own.length === 0 || !stores.some(isWithoutPool)) return [];
  // A name may be a pool or settings, and a script may have a client of its own: give no advice in doubt.
  if (adapter === "PrismaPg" && own.some(({ pool }) => pool !== undefined)) {
    return [ok(CHECK, "the store can use the pool of Prisma's adapter")];
  }
  const [{ file }] = own as [(typeof own)[number]];
  const message = `limits work, and go through Prisma: ${adapter} in ${file} keeps its pool to itself`;
  return [advised(CHECK, `${message}. ${COST[adapter]}`, `${TODO[adapter]}; ${KEEP}`)];
}

const ADAPTER_OF: Partial<Record<DialectName, string>> = {
  postgresql: "PrismaPg",
  mysql: "PrismaMariaDb",
};

function isWithoutPool(options = ""): boolean {
  return options === "" || (options.startsWith("{") && !/\bpool\b/.test(options));
}

/** The figures are in docs/prisma.md. */
const COST: Record<string, string> = {
  PrismaPg: "On a pool, a lone call takes 0.6 of the time",
  PrismaMariaDb: "On a pool of their own, a lone call costs about half of this process' time",
};

const KEEP = "to keep it so, write prismaStore(prisma, { pool: false })";

const TODO: Record<string, string> = {
  PrismaPg: 'write prismaStore(prisma, { pool: "own" })',
  PrismaMariaDb: "give the store a small pool of mysql2 or mariadb, prismaStore(prisma, { pool })",
};
