/**
 * Makes the films of the README, for light and for dark pages, and a still picture of each film. A film
 * shows the demo's race, and then the demo's button in two browsers of one visitor, with the code behind
 * the button. Everything in a film really happens. `npm run film` needs Chromium, and Debian's package
 * `webp`.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Frame, Locator, Page } from "playwright-core";
import { highlightLines } from "../example-app/highlight-code.js";
import { launchChromium } from "../test/support/chromium.js";
import { type Demo, startDemo } from "../test/support/demo.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The width at which the README shows the film, so that a letter of 14 px has 14 px there. */
const SIZE = { width: 800, height: 540 };
/** Pixels for each px of the page. With more pixels, a busy machine takes fewer pictures per second. */
const SCALE = 1.6;

/** The lines of code in the second scene, from the files that run. */
const EXCERPTS = [
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

const escaped = (piece: string) => piece.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

async function codeOfButton(): Promise<string> {
  const parts = EXCERPTS.map(async ({ caption, file, lines }) => {
    const text = await readFile(join(ROOT, "example-app/overview", file), "utf8");
    const texts = text.split("\n");
    const highlighted = highlightLines(text);
    const numbers = lines.map((wanted) => texts.findIndex((line) => line.includes(wanted)));
    if (numbers.includes(-1)) throw new Error(`${file} has no longer each of ${lines.join(", ")}`);
    const indent = Math.min(...numbers.map((number) => texts[number]!.search(/\S/)));
    const shown = numbers.map((number) => {
      const html = highlighted[number]!.map((piece) =>
        typeof piece === "string"
          ? escaped(piece)
          : `<span class="${piece[0]}">${escaped(piece[1])}</span>`,
      );
      return `<div class="line">${html.join("").slice(indent)}</div>`;
    });
    return `<div class="line comment">// ${caption}</div>${shown.join("")}`;
  });
  return (await Promise.all(parts)).join("");
}

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; width: ${SIZE.width}px; height: ${SIZE.height}px; overflow: hidden;
    background: light-dark(#dfdcf0, #2a2838); font: 14px/1.4 system-ui, sans-serif; }
  .scene { position: absolute; inset: 0; padding: 12px; box-sizing: border-box; display: grid;
    gap: 12px; }
  #race { grid-template: minmax(0, 1fr) / minmax(0, 1fr); }
  #button { grid-template: 246px minmax(0, 1fr) / repeat(2, minmax(0, 1fr)); }
  body:not([data-scene="race"]) #race, body:not([data-scene="button"]) #button {
    visibility: hidden; }
  figure, .code { margin: 0; background: light-dark(#fff, #1c1b23); border-radius: 10px;
    overflow: hidden; }
  figure { display: grid; grid-template-rows: 30px minmax(0, 1fr); }
  figcaption { padding: 0 12px; display: flex; align-items: center; gap: 8px;
    background: light-dark(#f0eff5, #34323f); color: light-dark(#5c5a68, #b9b7c6); }
  figcaption::before { content: ""; width: 34px; height: 10px; background:
    radial-gradient(circle, light-dark(#bfbccd, #6b6880) 4px, transparent 4.5px) 0 0 / 12px 10px; }
  iframe { border: 0; width: 100%; height: 100%; }
  .code { grid-column: span 2; padding: 4px 0; align-content: center; color: light-dark(#1b1a21, #eeedf3);
    font: 14.6px/19.5px ui-monospace, "DejaVu Sans Mono", monospace; }
  .line { white-space: pre; padding: 0 12px; border-left: 3px solid transparent; }
  .line.acts { background: light-dark(#e2defc, #383369); border-color: light-dark(#4338ca, #a5a0ff); }
  .comment { color: light-dark(#5c5a68, #a5a3b3); } .keyword { color: light-dark(#8a2b9c, #e0a0f0); }
  .string { color: light-dark(#11734b, #7fdcae); } .number { color: light-dark(#9a4a00, #ffb86b); }
  .type { color: light-dark(#0a6190, #7cc7f5); }
  #pointer { position: absolute; left: 0; top: 0; width: 22px; transition: translate 0.45s ease-in-out;
    translate: 700px 500px; z-index: 1; }
  #pointer path { fill: #1b1a21; stroke: #fff; stroke-width: 1.5; }
  #pointer circle { fill: #f0b95a; opacity: 0; }
  #pointer.pressed circle { opacity: 0.75; }`;

const figure = (name: string, caption: string) =>
  `<figure><figcaption>${caption}</figcaption><iframe name="${name}" src="/"></iframe></figure>`;

const page = (code: string) => `<!doctype html><meta charset="utf-8" /><style>${STYLE}</style>
  <body data-scene="race">
  <div class="scene" id="race">${figure("race", "The demo")}</div>
  <div class="scene" id="button">${figure("one", "One browser")}${figure("two", "The same visitor, another browser")}
    <div class="code">${code}</div></div>
  <svg id="pointer" viewBox="-11 -11 22 33" overflow="visible"><circle r="13" />
    <path d="M0 0v17l4.2-4 2.8 6.3 2.9-1.3-2.8-6.2h5.7z" /></svg></body>`;

/** Hides everything but this card in a page, so that the letters can be large. */
async function showOnly(frame: Frame, card: string, letter: number): Promise<void> {
  await frame.locator(card).evaluate((element: HTMLElement, px) => {
    document.documentElement.style.cssText = `overflow: hidden; font-size: ${px}px`;
    for (let shown = element; shown !== document.body; shown = shown.parentElement!) {
      shown.style.cssText = "padding: 0; margin: 0; border: 0; min-height: 0; display: block";
      for (const other of shown.parentElement!.children as Iterable<HTMLElement>) {
        if (other !== shown) other.style.display = "none";
      }
    }
    element.style.cssText =
      "display: grid; padding: 8px 14px; border: 0; border-radius: 0; height: 100vh; align-content: space-evenly; gap: 0";
  }, letter);
}

/** Marks the lines of code that act, as the pages of the two browsers mark them. */
async function followActs(film: Page): Promise<void> {
  await film.evaluate(() => {
    const browsers = [...document.querySelectorAll<HTMLIFrameElement>("#button iframe")];
    setInterval(() => {
      const lines = browsers.flatMap(({ contentDocument: inside }) => [
        ...inside!.querySelectorAll('.line[data-acts="true"]'),
      ]);
      const acting = new Set(lines.map((line) => line.textContent.trim()));
      for (const line of document.querySelectorAll(".code .line")) {
        line.classList.toggle("acts", acting.has(line.textContent.trim()));
      }
    }, 20);
  });
}

/** Draws the pointer at the target of the mouse. */
async function pointAt(film: Page, target: Locator, part = 0.6): Promise<void> {
  const { x, y, width, height } = (await target.boundingBox())!;
  await film.evaluate(
    ([left, top]) => {
      document.getElementById("pointer")!.style.translate = `${left - 11}px ${top - 11}px`;
    },
    [x + width * part, y + height * 0.6] as const,
  );
}

async function press(film: Page, target: Locator): Promise<void> {
  const pressed = (is: boolean) =>
    film.evaluate(
      (value) => document.getElementById("pointer")!.classList.toggle("pressed", value),
      is,
    );
  await pressed(true);
  // A disabled button takes the press, and does nothing.
  await target.click({ force: true });
  await film.waitForTimeout(90);
  await pressed(false);
}

async function play(film: Page): Promise<void> {
  const [race, one, two] = ["race", "one", "two"].map((name) => film.frame({ name })!);
  const again = race!.locator(".again button");
  const [send, other] = [one!, two!].map((frame) => frame.locator(".try button").first());
  const scene = (name: string) =>
    film.evaluate((value) => (document.body.dataset["scene"] = value), name);

  await film.waitForTimeout(800);
  await pointAt(film, again);
  await film.waitForTimeout(550);
  await press(film, again);
  await race!.getByText("Exactly the limit").waitFor({ state: "hidden" });
  await race!.getByText("Exactly the limit").waitFor();
  await film.waitForTimeout(1_200);

  await scene("button");
  await pointAt(film, send!);
  await film.waitForTimeout(800);
  for (let i = 0; i < 5; i++) {
    await press(film, send!);
    await film.waitForTimeout(60);
  }
  await film.waitForTimeout(200);
  await pointAt(film, other!);
  await other!.getByText("Send").waitFor();
  await film.waitForTimeout(350);
  await press(film, other!);
  await film.waitForTimeout(450);
  await press(film, other!);
  await other!.getByText("Send").waitFor();
  await film.waitForTimeout(600);
}

/** Takes pictures until `isOver`. @returns their files, each with its time on the screen, ms */
async function record(film: Page, folder: string, isOver: () => boolean) {
  const pictures: { file: string; at: number }[] = [];
  const session = await film.context().newCDPSession(film);
  while (!isOver()) {
    const file = join(folder, `${String(pictures.length).padStart(3, "0")}.png`);
    const at = Date.now();
    // Take pictures as fast as the browser can, and no faster than a screen.
    const { data } = await session.send("Page.captureScreenshot", {
      optimizeForSpeed: true,
      // Without `scale`, a picture has one pixel for each px.
      clip: { x: 0, y: 0, ...SIZE, scale: SCALE },
    });
    await writeFile(file, data, "base64");
    pictures.push({ file, at });
  }
  const end = Date.now();
  const shown = pictures.map(({ file, at }, i) => ({
    file,
    ms: (pictures[i + 1]?.at ?? end) - at,
  }));
  // The film ends with its first picture.
  return [...shown, { file: shown[0]!.file, ms: 300 }];
}

/** @param name the name of the file in `docs`, without its ending. */
async function make(browser: Browser, demo: Demo, scheme: "light" | "dark", name: string) {
  const folder = await mkdtemp(join(tmpdir(), "film-"));
  const context = await browser.newContext({
    viewport: SIZE,
    deviceScaleFactor: SCALE,
    colorScheme: scheme,
  });
  const film = await context.newPage();
  const code = await codeOfButton();
  await film.route("**/film", (route) =>
    route.fulfill({ contentType: "text/html", body: page(code) }),
  );
  // Get the cookie of the visitor first, or each frame would ask for a cookie of its own.
  await film.goto(demo.url);
  await film.goto(`${demo.url}/film`);
  for (const frameName of ["race", "one", "two"]) {
    const frame = film.frame({ name: frameName })!;
    await frame.getByText("Exactly the limit").waitFor();
    if (frameName === "race") await showOnly(frame, ".arrival", 17.5);
    else await showOnly(frame, ".try", 15.6);
  }
  for (const frameName of ["one", "two"]) {
    const frame = film.frame({ name: frameName })!;
    await frame.addStyleTag({ content: ".try .last, .try h2 { display: none }" });
  }
  await followActs(film);
  await film.waitForTimeout(500);
  let isOver = false;
  const played = play(film).finally(() => (isOver = true));
  const pictures = await record(film, folder, () => isOver);
  await played;
  await context.close();

  const out = join(ROOT, "docs", `${name}.webp`);
  const frames = pictures.flatMap(({ file, ms }) => ["-d", String(ms), file]);
  // Lossless files are smaller, and the last picture equals the first picture exactly.
  execFileSync("img2webp", ["-loop", "0", "-lossless", "-m", "4", ...frames, "-o", out]);
  const still = join(ROOT, "docs", `${name}-still.webp`);
  execFileSync("cwebp", ["-quiet", "-lossless", "-m", "6", pictures[0]!.file, "-o", still]);
  await rm(folder, { recursive: true });
  const length = pictures.reduce((sum, { ms }) => sum + ms, 0);
  console.log(`${out}: ${pictures.length} pictures in ${(length / 1000).toFixed(1)} s`);
}

const [browser, demo] = await Promise.all([launchChromium(), startDemo()]);
await make(browser, demo, "light", "demo");
await make(browser, demo, "dark", "demo-dark");
await browser.close();
await demo[Symbol.asyncDispose]();
