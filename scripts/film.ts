/**
 * Makes the film of the README: code on the left, the demo in the browsers of two visitors on the
 * right. Everything in it really happens. `npm run film` needs Chromium, and `img2webp` of Debian's
 * package `webp`.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FrameLocator, Page } from "playwright-core";
import { highlightLines } from "../example-app/highlight-code.js";
import { launchChromium } from "../test/support/chromium.js";
import { startDemo } from "../test/support/demo.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUT = join(ROOT, "docs/demo.webp");
const SIZE = { width: 1280, height: 720 };
/** ms. */
const LENGTH = 10_000;

const MESSAGES = ["Hello!", "Is the build green?", "I think so", "Shipping it", "Done"];

/** The code of the chat, without its imports and its form, so that the letters can be large. */
async function codeOfChat(): Promise<string> {
  const text = await readFile(join(ROOT, "example-app/chat/minimal.tsx"), "utf8");
  const shown = text
    .slice(text.indexOf("// The limit"), text.indexOf("    </form>"))
    .replace(/^ {2}return \([^]*?(?=^ *\{send\.held)/m, "  // …\n")
    .trimEnd();
  const lines = highlightLines(shown);
  const escape = (piece: string) => piece.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return lines
    .map((pieces) =>
      pieces
        .map((piece) =>
          typeof piece === "string"
            ? escape(piece)
            : `<span class="${piece[0]}">${escape(piece[1])}</span>`,
        )
        .join(""),
    )
    .map((line) => `<div class="line">${line || " "}</div>`)
    .join("");
}

const STYLE = `
  body { margin: 0; display: grid; grid-template-columns: 690px 1fr; gap: 16px; padding: 16px;
    box-sizing: border-box; width: ${SIZE.width}px; height: ${SIZE.height}px; background: #e4e2ef;
    font-family: system-ui, sans-serif; }
  .code { background: #fff; border-radius: 12px; padding: 12px 0; overflow: hidden;
    font: 12.2px/22.5px ui-monospace, "DejaVu Sans Mono", monospace; color: #1c1a24; }
  .line { white-space: pre; padding: 0 16px; }
  .line.acts { background: #e6e3fb; box-shadow: inset 3px 0 #4338ca; }
  .comment { color: #5b5966; } .keyword { color: #86198f; } .string { color: #0b6b3a; }
  .number { color: #9a3412; } .type { color: #075985; }
  .browsers { display: grid; grid-template-rows: repeat(2, minmax(0, 1fr)); gap: 16px; }
  figure { margin: 0; background: #fff; border-radius: 12px; overflow: hidden; display: grid;
    grid-template-rows: 30px minmax(0, 1fr); min-height: 0; }
  figcaption { font-size: 13px; padding: 0 12px; display: flex; align-items: center; gap: 6px;
    background: #f3f2f8; color: #5b5966; }
  figcaption::before { content: ""; width: 34px; height: 8px;
    background: radial-gradient(circle, #c9c6d8 4px, transparent 4.5px) 0 0 / 12px 8px; }
  iframe { border: 0; width: 133.4%; height: 133.4%; scale: 0.75; transform-origin: 0 0; }`;

const page = (
  code: string,
) => `<!doctype html><meta charset="utf-8" /><style>${STYLE}</style><div class="code">${code}</div>
  <div class="browsers">
    <figure><figcaption>One visitor</figcaption><iframe name="one" src="/?seat=1#chat"></iframe></figure>
    <figure><figcaption>Another one</figcaption><iframe name="two" src="/?seat=2#chat"></iframe></figure>
  </div>`;

/** Marks the lines that contain one of these texts, and no others. */
async function mark(film: Page, ...texts: string[]): Promise<void> {
  await film.evaluate((wanted) => {
    for (const line of document.querySelectorAll(".line")) {
      line.classList.toggle(
        "acts",
        wanted.some((text) => line.textContent.includes(text)),
      );
    }
  }, texts);
}

const field = (visitor: FrameLocator) => visitor.getByRole("textbox", { name: "Message" });

async function play(film: Page): Promise<void> {
  const [one, two] = [film.frameLocator("[name=one]"), film.frameLocator("[name=two]")];
  const until = async (ms: number, start: number) =>
    film.waitForTimeout(Math.max(0, start + ms - Date.now()));
  const start = Date.now();
  await until(700, start);
  await field(one).fill(MESSAGES.join("\n"));
  await until(1_700, start);
  await mark(film, "rl.rateLimited", "prisma.message.create");
  await field(one).press("Enter");
  await until(2_700, start);
  await mark(film, 'whenLimited: "wait"', "send.held");
  await until(4_300, start);
  await field(two).pressSequentially("My bucket is my own", { delay: 45 });
  await mark(film, "rl.rateLimited", "prisma.message.create");
  await field(two).press("Enter");
  await until(6_400, start);
  await mark(film, 'whenLimited: "wait"', "send.held");
  await one.getByText(MESSAGES[3]!).and(one.locator("[aria-label=Messages] p")).waitFor();
  await mark(film, "rl.rateLimited", "prisma.message.create");
  await until(LENGTH - 1_000, start);
  await mark(film, 'whenLimited: "wait"', "send.held");
  await until(LENGTH, start);
}

/** Takes pictures until `isOver`. @returns their files, each with its time on the screen, ms */
async function record(film: Page, folder: string, isOver: () => boolean) {
  const pictures: { file: string; at: number }[] = [];
  while (!isOver()) {
    const file = join(folder, `${String(pictures.length).padStart(3, "0")}.png`);
    const at = Date.now();
    await writeFile(file, await film.screenshot());
    pictures.push({ file, at });
  }
  const end = Date.now();
  return pictures.map(({ file, at }, i) => ({ file, ms: (pictures[i + 1]?.at ?? end) - at }));
}

const folder = await mkdtemp(join(tmpdir(), "film-"));
const [browser, demo] = await Promise.all([launchChromium(), startDemo()]);
const context = await browser.newContext({ viewport: SIZE });
const film = await context.newPage();
const code = await codeOfChat();
await film.route("**/film", (route) =>
  route.fulfill({ contentType: "text/html", body: page(code) }),
);
// The cookies of both visitors, before both frames ask for them at once.
await film.goto(`${demo.url}/?seat=1#chat`);
await film.goto(`${demo.url}/?seat=2#chat`);
await film.goto(`${demo.url}/film`);
for (const name of ["one", "two"]) {
  await film.frameLocator(`[name=${name}]`).getByText("3 left").waitFor();
}
let isOver = false;
const played = play(film).finally(() => (isOver = true));
const pictures = await record(film, folder, () => isOver);
await played;
const frames = pictures.flatMap(({ file, ms }) => ["-d", String(ms), file]);
execFileSync("img2webp", ["-loop", "0", "-mixed", "-q", "60", "-m", "6", ...frames, "-o", OUT]);
await browser.close();
await demo[Symbol.asyncDispose]();
await rm(folder, { recursive: true });
console.log(`${OUT}: ${pictures.length} pictures in ${LENGTH / 1000} s`);
