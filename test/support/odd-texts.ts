/**
 * Generators of files for `init` that are written in odd ways. Each file has the content of a usual file.
 */
import fc from "fast-check";

const LINE_ENDS = fc.constantFrom("\n", "\r\n", "mixed");
const TRAILS = ["", "\n", "\n\n\n"];

/** Varies the line ends, a byte order mark, and the end of the file. The bytes are UTF-8. */
export function odd(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const seed = fc.array(fc.boolean(), { minLength: 7, maxLength: 7 });
  const parts = fc.tuple(text, LINE_ENDS, seed, fc.boolean(), fc.constantFrom(...TRAILS));
  return parts.map(([plain, end, isWindows, hasMark, trail]) => {
    let i = 0;
    const ended = (plain.trimEnd() + trail).replaceAll("\n", () =>
      end === "mixed" ? (isWindows[i++ % isWindows.length] ? "\r\n" : "\n") : end,
    );
    return (hasMark ? "\uFEFF" : "") + ended;
  });
}

const VERSIONS = fc.constantFrom("^1.0.0", "*", 'file:"a"', "npm:b@{1}", "é", "a\\b", "}, {");
const ENTRIES = fc.dictionary(
  fc.constantFrom("@trpc/server", "a", "react", "trpc", "ts", "zod", "ünï"),
  VERSIONS,
);
const EXTRAS = fc.constantFrom<object>(
  {},
  { pnpm: { packageExtensions: { x: { dependencies: { y: "1" } } } } },
  { overrides: { dependencies: "1" }, keywords: ['"dependencies": {'] },
  { devDependencies: { typescript: "7" } },
);

/** @param packages the packages that the application must keep. */
export function packageJson(packages: Record<string, string>): fc.Arbitrary<string> {
  return fc
    .tuple(EXTRAS, ENTRIES, fc.constantFrom<string | number>(0, 1, 2, 4, "\t", "two"), fc.boolean())
    .map(([extras, entries, indent, isTight]) => {
      const value = { name: "app", ...extras, dependencies: { ...entries, ...packages } };
      if (indent === "two") return twoToALine(JSON.stringify(value, undefined, 2));
      const text = JSON.stringify(value, undefined, indent);
      return isTight ? text : text.replaceAll(/":(?=["{])/g, '" : ');
    });
}

const twoToALine = (text: string) => text.replaceAll(/(": ".*",)\n\s*(".*": ".*")/g, "$1 $2");

const COMMENTS = fc.constantFrom(
  " // tables, and",
  " // }",
  " // it's",
  ' /* " */',
  " /* ` ${ */",
  " // export const appRouter = createTRPCRouter({",
  ' // import { ZodError } from "zod";',
  "\n/*\nmodel RateLimit {\n  id Int @id\n}\n*/",
);

const PLACES = fc.array(fc.tuple(fc.nat({ max: 200 }), COMMENTS), { maxLength: 4 });

/** The text with comments at the ends of some lines. */
export function commented(text: string): fc.Arbitrary<string> {
  return PLACES.map((comments) => withComments(text.split("\n"), comments));
}

function withComments(lines: string[], comments: [number, string][]): string {
  for (const [at, comment] of comments) lines[at % lines.length] += comment;
  return lines.join("\n");
}

/** Code with comments at the ends of some lines, in another team's style. */
export function code(text: string): fc.Arbitrary<string> {
  const style = fc.record({ single: fc.boolean(), bare: fc.boolean(), tabs: fc.boolean() });
  return fc.tuple(PLACES, style).map(([comments, { single, bare, tabs }]) => {
    const lines = text.split("\n").map((line) => {
      const quoted = single ? line.replaceAll(/"([^"']*)"/g, "'$1'") : line;
      const ended = bare ? quoted.replace(/;$/, "") : quoted;
      return tabs ? ended.replace(/^(?: {2})+/, (all) => "\t".repeat(all.length / 2)) : ended;
    });
    return withComments(lines, comments);
  });
}
