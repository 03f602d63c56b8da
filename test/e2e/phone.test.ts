/** A phone that becomes the visitor of a page: by the address in the terminal, and by that in the page. */
import { networkInterfaces } from "node:os";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { localAddress } from "../../example-app/phone/local-address.js";
import { violationsOf } from "../support/axe.js";
import { startDemo } from "../support/demo.js";
import { problemsOf } from "../support/problems.js";
import { expectOneBucket } from "../support/seen-calls.js";
import { openBrowser } from "./shared.js";

const PHONE = { width: 390, height: 844 };
const NO_NETWORK = "this machine has no address in a local network";
const hasNetwork = localAddress(networkInterfaces()) !== undefined;

let browser: Browser;
let contexts: BrowserContext[] = [];
beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  await Promise.all(contexts.map((context) => context.close()));
  contexts = [];
});
afterAll(() => browser.close());

async function open(url: string, viewport = { width: 1280, height: 800 }) {
  const context = await browser.newContext({ viewport });
  contexts.push(context);
  const page = await context.newPage();
  const problems = problemsOf(page);
  await page.goto(url);
  return Object.assign(page, { problems });
}

const left = (page: Page, count: number) =>
  page.getByText(`You have ${count} of 5 calls left.`).waitFor();
const live = (page: Page) => page.locator(".connection[data-state=live]").waitFor();
const send = (page: Page) => page.getByRole("button", { name: /^Send/ }).click();
const card = (page: Page) => page.getByRole("region", { name: "Now with your phone" });
const cookieOf = async (page: Page) =>
  (await page.context().cookies()).find(({ name }) => name === "visitor")?.value;

/** The address below the code in the terminal. */
async function printedBy(demo: { output(): string }): Promise<string> {
  const find = () => /^http:\/\/(?!localhost).*\/phone\/\S+$/m.exec(demo.output())?.[0];
  await expect.poll(find).toBeDefined();
  return find()!;
}

it.for([{ args: [] }, { args: ["--processes", "2"] }])(
  "drains one bucket with the computer, by the address in the terminal, with the options $args",
  async ({ args }, { skip }) => {
    if (!hasNetwork) skip(NO_NETWORK);
    await using demo = await startDemo({ args });
    const address = await printedBy(demo);
    expect(demo.output()).toMatch(/^█{25,}$/m);
    const computer = await open(demo.url);
    await live(computer);
    const phone = await open(address, PHONE);
    await live(phone);
    // The token is gone from the address, and so from what a visitor may share.
    expect(phone.url()).toBe(new URL("/", address).href);
    expect(await cookieOf(phone)).toBe(await cookieOf(computer));
    await expectOneBucket(computer, phone, args.length === 0);
    expect([...computer.problems, ...phone.problems]).toEqual([]);
  },
);

it("becomes the visitor of the page that shows the address, and can use what needs no HTTPS", async ({
  skip,
}) => {
  if (!hasNetwork) skip(NO_NETWORK);
  await using demo = await startDemo();
  const shown = await open(demo.url);
  const newer = await open(demo.url);
  await live(newer);
  const address = (await card(shown)
    .getByText(/^http:/)
    .textContent())!;
  await card(shown).getByRole("img", { name: "Code of the address below" }).waitFor();
  const phone = await open(address, PHONE);
  await Promise.all([shown, phone].map(live));
  expect(await cookieOf(phone)).toBe(await cookieOf(shown));
  expect(await cookieOf(newer)).not.toBe(await cookieOf(shown));
  await send(phone);
  await left(shown, 4);
  expect(await violationsOf(phone)).toEqual([]);
  await phone.goto(new URL("/#chat", address).href);
  await phone.getByText("3 left", { exact: true }).waitFor();
  await phone.getByRole("textbox", { name: "Message" }).fill("from the phone");
  await phone.keyboard.press("Enter");
  await phone.getByRole("list", { name: "Messages" }).getByText("from the phone").waitFor();
  expect([...shown.problems, ...phone.problems]).toEqual([]);
});

it("is told what to do when nobody has opened the page here, or the code is an old one", async ({
  skip,
}) => {
  if (!hasNetwork) skip(NO_NETWORK);
  await using demo = await startDemo();
  const address = await printedBy(demo);
  const early = await open(address, PHONE);
  await early.getByText("Open the demo on the computer first").waitFor();
  await using later = await startDemo();
  const old = new URL(new URL(address).pathname, await printedBy(later)).href;
  const late = await open(old, PHONE);
  await late.getByText("This code is of an earlier start of the demo.").waitFor();
  for (const refused of [address, old]) {
    expect((await fetch(refused)).headers.getSetCookie()).toEqual([]);
  }
});

it("cannot reach a demo that is started with --local, and the page says so", async () => {
  await using demo = await startDemo({ args: ["--local"] });
  const page = await open(demo.url);
  await card(page)
    .getByText(
      "This demo has no address for a phone: it was started with --local, or in production.",
    )
    .waitFor();
  expect(await card(page).getByRole("img").count()).toBe(0);
  expect(demo.output()).not.toContain("/phone/");
  const port = new URL(demo.url).port;
  const elsewhere = localAddress(networkInterfaces());
  if (elsewhere === undefined) return;
  await expect(fetch(`http://${elsewhere}:${port}/`)).rejects.toThrow("fetch failed");
});
