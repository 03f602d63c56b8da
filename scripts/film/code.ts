/** The code that the film shows, as HTML. It is read from the files that run. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { highlightLines } from "../../example-app/highlight-code.js";

const EXAMPLES = fileURLToPath(new URL("../../example-app", import.meta.url));

const BUTTON = [
  { caption: "The limit of each visitor", file: "limits.ts", lines: ["sendHello: {"] },
  {
    caption: "The procedure",
    file: "server.ts",
    lines: ["send: t.procedure", ".use(", ".mutation("],
  },
  {
    caption: "The button",
    file: "send-button.tsx",
    lines: ["const send =", "<RateLimitMeter name", "<button", "<span>", "<RateLimitCountdown"],
  },
];

/** @returns the lines behind the button, of each of its files. */
export async function codeOfButton(): Promise<string> {
  const parts = BUTTON.map(async ({ caption, file, lines }) => {
    const text = await readFile(join(EXAMPLES, "overview", file), "utf8");
    const texts = text.split("\n");
    const numbers = lines.map((wanted) => texts.findIndex((line) => line.includes(wanted)));
    if (numbers.includes(-1)) throw new Error(`${file} has no longer each of ${lines.join(", ")}`);
    return `<div class="line comment">// ${caption}</div>${shown(text, numbers)}`;
  });
  return (await Promise.all(parts)).join("");
}

/** @returns the function that counts too many, whole. */
export async function losingCode(): Promise<string> {
  const text = await readFile(join(EXAMPLES, "race/naive.ts"), "utf8");
  const texts = text.split("\n");
  const first = texts.findIndex((line) => line.includes("function naiveLimit("));
  if (first === -1) throw new Error("naive.ts has no longer its naiveLimit");
  const last = texts.indexOf("}", first);
  return shown(
    text,
    Array.from({ length: last - first + 1 }, (_, i) => first + i),
  );
}

const escaped = (piece: string) => piece.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** @param numbers the lines of the text, from 0. They lose the indent that all of them have. */
function shown(text: string, numbers: readonly number[]): string {
  const texts = text.split("\n");
  const highlighted = highlightLines(text);
  const indent = Math.min(...numbers.map((number) => texts[number]!.search(/\S/)));
  return numbers
    .map((number) => {
      const html = highlighted[number]!.map((piece) =>
        typeof piece === "string"
          ? escaped(piece)
          : `<span class="${piece[0]}">${escaped(piece[1])}</span>`,
      );
      return `<div class="line">${html.join("").slice(indent)}</div>`;
    })
    .join("");
}
