/**
 * Draws the picture that is shown beside a link to the site: `npm run picture`, with Chromium. The
 * repository keeps the picture, so that the site is built without a browser.
 */
import { fileURLToPath } from "node:url";
import { launchChromium } from "../test/support/chromium.js";
import { PICTURE, PICTURE_SIZE } from "./head-tags.js";

const OUT = fileURLToPath(new URL(`app/public/${PICTURE}`, import.meta.url));

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
  .for { font-size: 30px; color: #b9b7c8; }`;

const PAGE = `<!doctype html><style>${STYLE}</style>
  <div class="name"><span class="mark">${"<i></i>".repeat(9)}</span>trpc-rate-limit</div>
  <h1>Limit calls exactly, in your own database, and show users when they can call again.</h1>
  <div class="below">
    <div class="tokens">${"<i></i>".repeat(5)}<b>Send · 2 left</b></div>
    <div class="for">tRPC · Prisma, Drizzle, SQL · React</div>
  </div>`;

const browser = await launchChromium();
const page = await browser.newPage({ viewport: PICTURE_SIZE });
await page.setContent(PAGE);
await page.screenshot({ path: OUT });
await browser.close();
