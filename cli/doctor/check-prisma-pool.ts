/**
 * Finds adapters of Prisma that hide their pool from `prismaStore`, so that each decision takes the
 * longer way through Prisma.
 */
import type { DialectName } from "../../server/store/sql/driver.js";
import { type Finding, ok, warning } from "./finding.js";
import { readSources } from "./sources.js";

const CHECK = "prisma-pool";
/** The first argument, as far as it is a name. A text or an object with settings has none. */
const ADAPTERS = /\bnew\s+(PrismaPg|PrismaMariaDb)\s*\(\s*([\w$]+\b(?!\s*[.(]))?/g;
/** `pool` is also given if it is `false`. Options that are a name may have one. */
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
  // Whether a name is a pool or settings cannot be told for sure. A script may have a client, too.
  if (adapter === "PrismaPg" && own.some(({ pool }) => pool !== undefined)) {
    return [ok(CHECK, "the store can use the pool of Prisma's adapter")];
  }
  const message = `${adapter} in ${own[0]!.file} hides its pool, so limits go through Prisma`;
  return [warning(CHECK, message, ADVICE[adapter]!)];
}

const ADAPTER_OF: Partial<Record<DialectName, string>> = {
  postgresql: "PrismaPg",
  mysql: "PrismaMariaDb",
};

function isWithoutPool(options = ""): boolean {
  return options === "" || (options.startsWith("{") && !/\bpool\b/.test(options));
}

const ADVICE: Record<string, string> = {
  PrismaPg:
    "open the pool yourself, new PrismaPg(new pg.Pool({ connectionString })): a lone call then " +
    "takes about 0.6 of the time; pool: false of prismaStore ends this warning",
  PrismaMariaDb:
    "give the store a small pool of mysql2 or mariadb, prismaStore(prisma, { pool }): a lone call " +
    "then costs about half of this process' time; pool: false ends this warning",
};
