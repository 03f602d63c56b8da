/**
 * For Vite: `import code from "code:./minimal.tsx"` gives the text of a file, and its lines as pieces
 * that CSS colours. The code is split while building, so the page has no highlighter.
 */
import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
import { parser } from "@lezer/javascript";
import type { Plugin } from "vite";
import { readFacts } from "./package-facts.js";
import type { Code, CodePiece } from "./shared/page/code.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SCHEME = "code:";
/** Vite leaves names with this beginning alone. Because of `END`, no plugin compiles the file. */
const PREFIX = "\0code:";
const END = ".js";

const typescript = parser.configure({ dialect: "ts jsx" });
/** The classes of the pieces, for styles.css. Names of variables keep the colour of the text. */
const kinds = tagHighlighter([
  { tag: tags.comment, class: "comment" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], class: "keyword" },
  { tag: [tags.string, tags.special(tags.string), tags.attributeValue], class: "string" },
  { tag: [tags.number, tags.bool, tags.null], class: "number" },
  { tag: [tags.typeName, tags.tagName], class: "type" },
  { tag: [tags.propertyName, tags.attributeName], class: "property" },
]);

export function highlightLines(text: string): CodePiece[][] {
  const lines: CodePiece[][] = [[]];
  highlightCode(
    text,
    typescript.parse(text),
    kinds,
    (piece, kind) => lines.at(-1)!.push(kind === "" ? piece : [kind, piece]),
    () => lines.push([]),
  );
  return lines;
}

export function highlightedCode(): Plugin {
  return {
    name: "highlighted code",
    enforce: "pre",
    config() {
      const { repository, docs, version } = readFacts();
      return {
        define: {
          "import.meta.env.VITE_REPOSITORY": JSON.stringify(repository),
          "import.meta.env.VITE_DOCS": JSON.stringify(docs),
          "import.meta.env.VITE_VERSION": JSON.stringify(version),
        },
      };
    },
    resolveId(source, importer) {
      if (!source.startsWith(SCHEME) || importer === undefined) return null;
      return PREFIX + resolve(dirname(importer), source.slice(SCHEME.length)) + END;
    },
    async load(id) {
      if (!id.startsWith(PREFIX)) return null;
      const file = id.slice(PREFIX.length, -END.length);
      this.addWatchFile(file);
      const text = (await readFile(file, "utf8")).trimEnd();
      const code: Code = { path: relative(ROOT, file), text, lines: highlightLines(text) };
      return `export default ${JSON.stringify(code)}`;
    },
  };
}
