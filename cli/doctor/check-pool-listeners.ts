/**
 * Finds pools of `pg` in the sources without a listener to their errors: neither the application listens,
 * nor a store of the limiter that has the pool.
 */
import { type Finding, ok, warning } from "./finding.js";
import { readSources, type Sources } from "./sources.js";

const CHECK = "pool-errors";
const PACKAGE = /["'](pg|@neondatabase\/serverless)["']/;
/** Matches a new pool, and the name of the variable, if the name stands in the same line. */
const OPENS = /(?:\b(\w+)\s*(?::[^\n;=]*)?(?:\?\?)?=[^\n;]*?)?\bnew\s+(?:\w+\.)?Pool\s*\(/g;
const IN_ADAPTER = /\bnew\s+PrismaPg\s*\(\s*new\s+(?:\w+\.)?Pool\s*\(/g;
const LISTENS = /\.on\s*\(\s*["'`]error["'`]/;

export async function checkPools(root: string): Promise<Finding[]> {
  const sources = await readSources(root);
  const opening = [...sources].filter(
    ([, text]) => PACKAGE.test(text) && text.search(OPENS) !== -1,
  );
  if (opening.length === 0) return [];
  const silent = opening.filter(([file, text]) => !isHeard(file, text, sources));
  if (silent.length === 0) return [ok(CHECK, "the errors of pg.Pool are listened to")];
  const hasKysely = silent.some(([, text]) => text.includes("kysely"));
  return [
    warning(
      CHECK,
      `a pg.Pool is opened without a listener to its errors, in ${silent.map(([file]) => file).join(", ")}`,
      'add pool.on("error", …) where the pool is opened' +
        (hasKysely ? ", and give it to kyselyStore as pool" : "") +
        ": without a listener, the end of an idle connection ends the process",
    ),
  ];
}

/** Whether something listens to each pool that the file opens. */
function isHeard(file: string, text: string, sources: Sources): boolean {
  if (LISTENS.test(text)) return true;
  const users = [...sources].filter(([other, code]) => other === file || imports(code, file));
  const hasStore = (name: string) =>
    [...sources.values()].some((code) => code.includes(`${name}(`));
  // prismaStore finds a pool that is opened inside of the adapter, and listens to the pool.
  const others = hasStore("prismaStore") ? text.replace(IN_ADAPTER, "") : text;
  return [...others.matchAll(OPENS)].every(([, pool]) => {
    if (pool === undefined) return /\bpgStore\s*\(\s*new\b/.test(others);
    return GIVES.some(
      ({ store, pattern }) =>
        hasStore(store) && users.some(([, code]) => new RegExp(pattern(pool)).test(code)),
    );
  });
}

/**
 * The stores that listen to a pool, and the code that passes the pool to them, as in docs/connections.md.
 */
const GIVES: { store: string; pattern: (pool: string) => string }[] = [
  { store: "pgStore", pattern: (pool) => String.raw`\bpgStore\s*\(\s*(?:\w+\.)*${pool}\b` },
  {
    store: "kyselyStore",
    pattern: (pool) =>
      pool === "pool"
        ? String.raw`\bkyselyStore\s*\([^;]*\bpool\b`
        : String.raw`\bkyselyStore\s*\([^;]*\bpool\s*:\s*(?:\w+\.)*${pool}\b`,
  },
  {
    store: "drizzleStore",
    pattern: (pool) => String.raw`\bdrizzle\s*\(\s*(?:\{[^}]*\bclient\s*:\s*)?${pool}\b`,
  },
  { store: "prismaStore", pattern: (pool) => String.raw`\bnew\s+PrismaPg\s*\(\s*${pool}\b` },
];

/** Whether an import of the code ends in the name of the file, or of its folder for an index. */
function imports(code: string, file: string): boolean {
  const path = file.replace(/\.\w+$/, "").replace(/\/index$/, "");
  const name = path.slice(path.lastIndexOf("/") + 1);
  return new RegExp(String.raw`["'][^"']*/${name}(?:/index)?(?:\.\w+)?["']`).test(code);
}
