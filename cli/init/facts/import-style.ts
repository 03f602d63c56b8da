/**
 * Finds out how an application writes the paths of its own imports: with an alias or not, and with which
 * ending.
 */
import { parse } from "jsonc-parser";
import { dirname, join } from "node:path/posix";
import { readText } from "../files/files.js";

export interface ImportStyle {
  /** The alias of a folder, such as `~/` of `src/`, if imports use it. */
  alias: { prefix: string; folder: string } | undefined;
  /**
   * The ending of imports of a TypeScript file: no ending, the ending of the JavaScript file, or its own
   * ending.
   */
  ending: "" | "js" | "ts";
}

interface Tsconfig {
  extends?: string | string[];
  compilerOptions?: {
    module?: string;
    moduleResolution?: string;
    allowImportingTsExtensions?: boolean;
    paths?: Record<string, string[]>;
  };
}

/** The longest chain of files that extend one another. */
const DEPTH = 5;

/**
 * The compiler options of a tsconfig file, together with the options of the application's files that it
 * extends.
 */
export async function readTsconfig(
  root: string,
  file = "tsconfig.json",
  depth = DEPTH,
): Promise<Tsconfig["compilerOptions"] | undefined> {
  const text = await readText(root, file);
  if (text === undefined) return undefined;
  const parsed: unknown = parse(text, [], { allowTrailingComma: true });
  const tsconfig = typeof parsed === "object" ? ((parsed ?? {}) as Tsconfig) : {};
  const bases = [tsconfig.extends ?? []].flat().filter((base) => base.startsWith("."));
  const inherited = bases.map(async (base) => {
    const path = join(dirname(file), base.replace(/(?<!\.json)$/, ".json"));
    return depth === 0 ? undefined : readTsconfig(root, path, depth - 1);
  });
  return Object.assign({}, ...(await Promise.all(inherited)), tsconfig.compilerOptions) as object;
}

const RELATIVE = /(?:\bfrom|\bimport|\brequire\()\s*["']\.{1,2}\/[^"']*["']/g;

/** @param texts the texts of the application's sources. */
export function readImportStyle(
  tsconfig: Tsconfig["compilerOptions"],
  texts: readonly string[],
  isTyped: boolean,
): ImportStyle {
  const relative = texts.flatMap((text) => text.match(RELATIVE) ?? []);
  const alias = aliasOf(tsconfig?.paths ?? {});
  const ending = endingOf(tsconfig, relative, isTyped);
  const isUsed =
    (relative.length === 0 && ending === "") ||
    texts.some((text) => ['"', "'"].some((quote) => text.includes(quote + alias?.prefix)));
  return { alias: isUsed ? alias : undefined, ending };
}

function endingOf(
  tsconfig: Tsconfig["compilerOptions"],
  relative: readonly string[],
  isTyped: boolean,
): ImportStyle["ending"] {
  const count = (ending: RegExp) => relative.filter((text) => ending.test(text)).length;
  const [ts, js] = [count(/\.[cm]?tsx?["']$/), count(/\.[cm]?jsx?["']$/)];
  if (ts * 2 > relative.length) return "ts";
  const { module = "", moduleResolution = "" } = tsconfig ?? {};
  if (/^node(next|1|2)/i.test(module) || /^node(next|1|2)/i.test(moduleResolution)) return "js";
  // Node.js needs the endings of JavaScript files.
  if (!isTyped && relative.length === 0) return "js";
  return js > 0 ? "js" : "";
}

function aliasOf(paths: Record<string, string[]>): ImportStyle["alias"] {
  for (const [name, targets] of Object.entries(paths)) {
    const prefix = /^([^*\s]+\/)\*$/.exec(name)?.[1];
    const folder = /^\.?\/?((?:[\w-]+\/)*)\*$/.exec(targets[0] ?? "")?.[1];
    if (prefix !== undefined && folder !== undefined) return { prefix, folder };
  }
  return undefined;
}

/** The specifier by which a file of the application imports another file. */
export function specifierOf({ alias, ending }: ImportStyle, from: string, to: string): string {
  const bare =
    ending === "ts"
      ? to
      : to.replace(/\.([cm]?)[jt]sx?$/, (_, kind: string) =>
          // The endings `.mjs` and `.cjs` can never be left out.
          ending === "js" || kind !== "" ? `.${kind}js` : "",
        );
  const target = ending === "" ? bare.replace(/\/index$/, "") : bare;
  if (alias !== undefined && target.startsWith(alias.folder)) {
    return alias.prefix + target.slice(alias.folder.length);
  }
  const up = from.split("/").slice(0, -1);
  const down = target.split("/");
  while (up.length > 0 && down.length > 1 && up[0] === down[0]) {
    up.shift();
    down.shift();
  }
  return (up.length === 0 ? "./" : "../".repeat(up.length)) + down.join("/");
}
