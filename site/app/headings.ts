/** The headings of the parts in the HTML, until the parts are there, and where no script runs. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const OVERVIEW = fileURLToPath(new URL("../../example-app/overview/", import.meta.url));
const PLAYGROUND = fileURLToPath(new URL("../../example-app/playground/page.tsx", import.meta.url));

/** The claim of the overview, in the same words and places as in the demo, so that nothing moves. */
export function claimOf(): string {
  const texts = readdirSync(OVERVIEW)
    .filter((file) => file.endsWith(".tsx"))
    .map((file) => readFileSync(OVERVIEW + file, "utf8"));
  return `<section class="overview"><header>${claimIn(texts.join("\n"))}</header></section>`;
}

/** The heading of the playground, and the sentences below it. */
export function introOf(): string {
  return introIn(readFileSync(PLAYGROUND, "utf8"));
}

/**
 * @param jsx the source of a part.
 * @returns its title and its first sentences as HTML, in the places of `Part`.
 * @throws Error if the title or a sentence is computed.
 */
export function introIn(jsx: string): string {
  const [, title] = /\stitle="([^"]+)"/.exec(jsx) ?? [];
  const [, lead] = /\slead="([^"]+)"/.exec(jsx) ?? [];
  if (title === undefined || lead === undefined) {
    throw new Error("example-app/playground has no title or lead of plain text");
  }
  return `<section class="part"><div class="intro"><h1>${title}</h1><p>${lead}</p></div></section>`;
}

/**
 * @param jsx the sources of the overview.
 * @returns its title, and the paragraph just before it, as HTML. The page has an `<h1>` above them.
 * @throws Error if the title is computed or missing.
 */
export function claimIn(jsx: string): string {
  const found = /(?:<p>([^<>{}]+)<\/p>\s*)?<Title id="([\w-]+)"[^>]*>([^<>{}]+)<\/Title>/.exec(
    jsx.replace(/\{" "\}\s*/g, " ").replace(/tabIndex=\{-1\}/g, ""),
  );
  if (found === null) {
    throw new Error(
      "example-app/overview has no <Title> of plain text, which the site shows at once",
    );
  }
  const [, above, id, title = ""] = found;
  const line = (text: string) => text.replace(/\s+/g, " ").trim();
  return `${above === undefined ? "" : `<p>${line(above)}</p>`}<h2 id="${id}">${line(title)}</h2>`;
}
