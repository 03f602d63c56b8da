/**
 * Makes the films of the README, for light and for dark pages, and a still picture of each film. A film
 * shows the demo's race, the code that lost it, and the demo's button in two browsers of one visitor, with
 * the code behind the button. Everything in a film really happens. `npm run film` needs Chromium, and
 * Debian's packages `webp`, `fonts-inter` and `fonts-jetbrains-mono`.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Frame, Locator, Page } from "playwright-core";
import { launchChromium } from "../../test/support/chromium.js";
import { type Demo, startDemo } from "../../test/support/demo.js";
import { codeOfButton, losingCode } from "./code.js";
import { pageOf, SIZE, TEXT } from "./page.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Pixels for each px of the page. With more pixels, a busy machine takes fewer pictures per second. */
const SCALE = 1.6;

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
      for (const line of document.querySelectorAll("#button .line")) {
        line.classList.toggle("acts", acting.has(line.textContent.trim()));
      }
    }, 20);
  });
}

/** @param granted what the race of this film has shown, as "21 granted". */
async function tellOfLosing(film: Page, granted: string): Promise<void> {
  await film.evaluate(
    ([text]) => {
      document.querySelector("#losing p")!.innerHTML = `<b>${text}</b>, and the limit is 10.`;
    },
    [granted],
  );
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

  await tellOfLosing(film, await race!.locator(".side .granted b").first().innerText());
  await scene("losing");
  // All calls read, all calls pass, and then each of them writes.
  for (const line of ["findUnique", "row.count >=", "increment"]) {
    await film.evaluate((acting) => {
      for (const each of document.querySelectorAll("#losing .line")) {
        each.classList.toggle("acts", each.textContent.includes(acting));
      }
    }, line);
    await film.waitForTimeout(900);
  }

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
  const body = pageOf(await codeOfButton(), await losingCode());
  await film.route("**/film", (route) => route.fulfill({ contentType: "text/html", body }));
  // Get the cookie of the visitor first, or each frame would ask for a cookie of its own.
  await film.goto(demo.url);
  await film.goto(`${demo.url}/film`);
  for (const frameName of ["race", "one", "two"]) {
    const frame = film.frame({ name: frameName })!;
    // Not an earlier race, which would end while it is filmed.
    await frame.getByText(/made 25 calls each/).waitFor();
    await frame.getByText("Exactly the limit").waitFor();
    await frame.addStyleTag({ content: `:root, button { font-family: ${TEXT} !important }` });
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
