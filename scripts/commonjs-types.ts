/**
 * Keeps only the declarations in `dist` that an entry point needs, and writes declarations for CommonJS
 * code. No user can import the other declarations, which are most of the server's.
 *
 * A peer has its types twice, for ES modules and for CommonJS, and TypeScript takes the copies for
 * different types. CommonJS code has to get a `t` or a mutation of its own copy. Each declaration that
 * needs a declaration of a peer therefore gets a twin, `.d.cts`, with the same text.
 *
 * The code stays an ES module, which Node.js 20.19 and later can `require`. `attw` reports this as a
 * mistake (`false-cjs`). `check:package` ignores the rule, because the rule is about default exports, and
 * the package has no default exports.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
/** Matches the specifiers of imports, but not in comments. */
const SPECIFIER = /(?<=^(?! *\/?\*).*(?:\bfrom |\bimport\())"([^"]+)"/gm;

const files = (await readdir(DIST, { recursive: true })).filter((file) => file.endsWith(".d.ts"));
const texts = new Map<string, string>();
for (const file of files) texts.set(join(DIST, file), await readFile(join(DIST, file), "utf8"));

/** The declaration that a file imports; `undefined` for a package. */
function declarationOf(specifier: string, from: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return resolve(dirname(from), specifier.replace(/\.js$/, ".d.ts"));
}

const imports = new Map<string, (string | undefined)[]>();
for (const [file, text] of texts) {
  const specifiers = [...text.matchAll(SPECIFIER)].map(([, specifier]) => specifier!);
  imports.set(
    file,
    specifiers.map((specifier) => declarationOf(specifier, file)),
  );
}

const reached = new Set<string>();
function reach(file: string): void {
  if (reached.has(file)) return;
  reached.add(file);
  for (const target of imports.get(file) ?? []) if (target !== undefined) reach(target);
}
const { exports: entries } = JSON.parse(
  await readFile(fileURLToPath(new URL("../package.json", import.meta.url)), "utf8"),
) as { exports: unknown };
for (const [entry] of JSON.stringify(entries).matchAll(/dist\/[^"]+\.d\.ts/g)) {
  reach(fileURLToPath(new URL(`../${entry}`, import.meta.url)));
}
for (const file of imports.keys()) {
  if (reached.has(file)) continue;
  imports.delete(file);
  await rm(file);
}

const twins = new Set<string>();
for (let before = -1; before !== twins.size;) {
  before = twins.size;
  for (const [file, targets] of imports) {
    if (targets.some((target) => target === undefined || twins.has(target))) twins.add(file);
  }
}

for (const file of twins) {
  const text = texts.get(file)!.replace(SPECIFIER, (quoted, specifier: string) => {
    const target = declarationOf(specifier, file);
    return target !== undefined && twins.has(target) ? quoted.replace(/js"$/, 'cjs"') : quoted;
  });
  await writeFile(file.replace(/ts$/, "cts"), text);
}
