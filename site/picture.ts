/**
 * Draws the pictures that are shown beside a link to the site: `npm run picture`, with Chromium. The
 * repository keeps the pictures, so that the site is built without a browser.
 */
import { fileURLToPath } from "node:url";
import { launchChromium } from "../test/support/chromium.js";
import { CALLS, LIMIT } from "./app/count/engine/run.js";
import { isExact, verdictOf } from "./app/count/explain.js";
import { PRESETS } from "./app/count/presets.js";
import { QUESTION } from "./app/count/result-picture.js";
import { runHere } from "./app/count/run-here.js";
import { PICTURE_SIZE, PICTURES } from "./head-tags.js";

const PUBLIC = fileURLToPath(new URL("app/public/", import.meta.url));

const STYLE = `
  * { box-sizing: border-box; margin: 0; }
  body { position: relative; width: 1200px; height: 630px; padding: 64px 72px; overflow: hidden;
    font-family: system-ui, sans-serif; color: #eeedf3;
    background: radial-gradient(900px 600px at 88% 8%, #37308a, transparent 70%), #14131b; }
  .name { display: flex; align-items: center; gap: 18px; font-size: 32px; font-weight: 650; }
  .mark { display: grid; grid-template-columns: repeat(3, 12px); gap: 6px; }
  .mark i, .tokens i { border-radius: 50%; background: #a5a0ff; }
  .mark i { width: 12px; height: 12px; }
  .mark i:nth-child(n + 6) { background: none; box-shadow: inset 0 0 0 2px #5d58a8; }
  h1 { margin-top: 44px; max-width: 1010px; font-size: 68px; font-weight: 700; line-height: 1.1;
    letter-spacing: -0.025em; text-wrap: balance; }
  .below { position: absolute; inset: auto 72px 64px; display: flex; align-items: center;
    justify-content: space-between; }
  .tokens { display: flex; align-items: center; gap: 14px; }
  .tokens i { width: 34px; height: 34px; }
  .tokens i:nth-of-type(n + 3) { background: none; box-shadow: inset 0 0 0 3px #5d58a8; }
  .tokens b { margin-left: 14px; padding: 16px 28px; font-size: 28px; font-weight: 600;
    color: #16151d; background: #a5a0ff; border-radius: 14px; }
  .for { font-size: 30px; color: #b9b7c8; }
  .question { padding-block: 52px; }
  .question h1 { margin: 28px 0 34px; max-width: none; font-size: 56px; white-space: nowrap; }
  li { display: grid; grid-template-columns: 356px 1fr 130px; gap: 20px; align-items: center;
    height: 56px; font-size: 26px; font-weight: 500; }
  ul { margin: 0; padding: 0; list-style: none; }
  .calls { display: grid; grid-template-columns: repeat(50, 9px); gap: 1.6px; }
  .calls i { width: 9px; height: 9px; border-radius: 50%; box-shadow: inset 0 0 0 1.5px #4a4857; }
  .calls i[data-is="granted"] { background: #5fd39f; box-shadow: none; }
  .calls i[data-is="over"] { background: #ff9d94; border-radius: 0; box-shadow: none; scale: 0.8;
    rotate: 45deg; }
  b { text-align: right; white-space: nowrap; }
  .exact b, .exact { color: #5fd39f; }
  li:not(.exact) b { color: #ff9d94; }`;

const NAME = `<div class="name"><span class="mark">${"<i></i>".repeat(9)}</span>trpc-rate-limit</div>`;

const SITE = `<!doctype html><style>${STYLE}</style>${NAME}
  <h1>Limit calls exactly, in your own database, and show users when they can call again.</h1>
  <div class="below">
    <div class="tokens">${"<i></i>".repeat(5)}<b>Send · 2 left</b></div>
    <div class="for">tRPC · Prisma, Drizzle, SQL · React</div>
  </div>`;

/** With a row for each preset, from a run of the seed with which the page begins. */
async function questionPage(): Promise<string> {
  const rows: string[] = [];
  for (const { title, code } of PRESETS) {
    const run = await runHere(code, 1);
    const calls = Array.from({ length: CALLS }, (_, i) => {
      const outcome = i >= run.granted ? "" : i < LIMIT ? "granted" : "over";
      return `<i data-is="${outcome}"></i>`;
    });
    rows.push(
      `<li class="${isExact(run) ? "exact" : ""}">${title}<span class="calls">${calls.join("")}</span><b>${verdictOf(run)}</b></li>`,
    );
  }
  return `<!doctype html><style>${STYLE}</style><body class="question">${NAME}
    <h1>${QUESTION}</h1><ul>${rows.join("")}</ul>`;
}

const browser = await launchChromium();
const page = await browser.newPage({ viewport: PICTURE_SIZE });
for (const [{ file }, html] of [
  [PICTURES.site, SITE],
  [PICTURES.question, await questionPage()],
] as const) {
  await page.setContent(html);
  await page.screenshot({ path: PUBLIC + file });
}
await browser.close();
