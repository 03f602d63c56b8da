/** The part of the demo with the language model: prompts that run, queue, are denied or are cancelled. */
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { startDemo } from "../support/demo.js";
import { recordShifts } from "../support/layout-shifts.js";
import { byNight } from "../support/nightly.js";
import { problemsOf } from "../support/problems.js";
import { soon } from "../support/soon.js";
import { demo, openBrowser } from "./shared.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

/** The answers to these prompts take 5, 10 and 20 s. */
const LONG = "first two three four five six seven eight nine ten";
const LONGER = `${LONG} ${LONG}`;
const LONGEST = `${LONGER} ${LONGER}`;

let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

type ModelPage = Page & { problems: readonly string[] };

/** @param visitor each test has its own visitor with its own limits. */
async function openModel(visitor: BrowserContext, { url } = demo): Promise<ModelPage> {
  const page = await visitor.newPage();
  const problems = problemsOf(page);
  await page.goto(`${url}/#model`);
  await page.getByText(/of [\d,]+ tokens left/).waitFor();
  return Object.assign(page, { problems });
}

const askButton = (page: Page) => page.locator("form button.primary");
const forecast = (page: Page, text: string | RegExp) =>
  page.locator("#forecast").getByText(text).waitFor();
const prompt = (page: Page, text: string) => page.getByRole("listitem").filter({ hasText: text });
const queue = (page: Page) => page.locator("li").filter({ has: page.locator("progress") });

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Prompt" }).fill(text);
  await askButton(page).click();
  await prompt(page, text).waitFor();
}

/** The tokens that the page shows. */
async function left(page: Page): Promise<number> {
  const meter = page.getByRole("meter", { name: "Tokens left" });
  return Number(await meter.getAttribute("aria-valuenow"));
}

const BY_CREDITS = "Your credits pay for it, and it would run at once.";
/** Buys credits, and waits until the page shows them. */
async function buyCredits(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Buy 2,000 credits" }).click();
  await page.getByText("2,000 credits", { exact: true }).waitFor();
}

it.each([
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
])("shows the button that asks on the first screen, at $width px", async (viewport) => {
  const visitor = await browser.newContext({ viewport });
  const page = await openModel(visitor);
  const { y, height } = (await askButton(page).boundingBox())!;
  expect(y + height).toBeLessThanOrEqual(viewport.height);
  await visitor.close();
});

describe.concurrent.each(
  byNight([
    [390, 844],
    [1280, 900],
    [320, 640],
  ] as const),
)("the model at %i px", (width, height) => {
  it("says what a prompt would get, and the server then does that", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    await page.setViewportSize({ width, height });
    const shifts = await recordShifts(page);
    await forecast(page, "It would run at once.");
    await ask(page, LONG);
    await forecast(page, "It would queue");
    await ask(page, "second");
    await ask(page, "third");
    await forecast(page, "It would be denied");
    await ask(page, "fourth");
    await prompt(page, "fourth").getByText("Denied: the queue has no room").waitFor();
    await queue(page).nth(1).waitFor();
    expect(await queue(page).count()).toBe(2);
    await prompt(page, "second")
      .getByText(/It runs at \d\d:\d\d:\d\d, in \d\d s/)
      .waitFor();
    await page.locator(".answer").getByText("first two").waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}model-${width}.png`, fullPage: true });
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      width,
    );
    // The prompt is over, and its bill says what did not come back.
    await prompt(page, "first").getByText("The rest stays charged").first().waitFor();

    const turn = prompt(page, "second").getByText(/It runs at/);
    const before = /\d\d:\d\d:\d\d/.exec((await turn.textContent())!)![0];
    await prompt(page, "third").getByRole("button", { name: "Cancel" }).click();
    await prompt(page, "third").getByText("Cancelled before its turn.").waitFor();
    // The button had the focus, and is gone. So the prompt has the focus.
    await prompt(page, "third").and(page.locator(":focus")).waitFor();
    expect(await turn.textContent()).toContain(before);
    // The queue has room for another prompt now.
    await forecast(page, "It would queue");
    expect(await shifts()).toBeLessThan(0.01);
    expect(page.problems).toEqual([]);
  });
});

describe.concurrent.each(
  byNight([
    [390, 844],
    [1280, 900],
    [320, 700],
  ] as const),
)("the slots at %i px", (width, height) => {
  it("shows which are free, and lets a third prompt wait for one", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    await page.setViewportSize({ width, height });
    await buyCredits(page);
    const shifts = await recordShifts(page);
    const slots = page.getByRole("meter", { name: "Slots free" });
    async function free(count: number) {
      await soon(async () => expect(await slots.getAttribute("aria-valuenow")).toBe(String(count)));
    }
    await free(2);
    // The plan pays for the first prompt, and the credits pay for the second.
    await ask(page, LONGER);
    await free(1);
    await forecast(page, BY_CREDITS);
    await ask(page, `second ${LONGER}`);
    await free(0);
    await page.getByText(/^held until \d\d:\d\d:\d\d$/).waitFor();
    await page.getByRole("radio", { name: "100", exact: true }).check();
    await forecast(page, "It would wait for a slot");
    await ask(page, "third");
    await prompt(page, "third").getByText("Its turn has come.").waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}model-slots-${width}.png`, fullPage: true });
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      width,
    );
    await prompt(page, "third").getByText("third third").waitFor();
    await free(2);
    await forecast(page, "It would run at once.");
    // On a slow machine, the text for a shorter answer may come too late to count as an effect of the
    // press.
    expect(await shifts()).toBeLessThan(0.02);
    expect(page.problems).toEqual([]);
  });
});

/** The credits that the page shows. */
async function credits(page: Page): Promise<number> {
  const text = await page.locator(".credits b").textContent();
  return Number(text!.replace(",", ""));
}

describe.concurrent.each(
  byNight([
    [390, 844],
    [1280, 900],
    [320, 700],
  ] as const),
)("the credits at %i px", (width, height) => {
  it("pay when the plan cannot, and what is not used comes back", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    await page.setViewportSize({ width, height });
    await page.getByText("0 credits", { exact: true }).waitFor();
    const shifts = await recordShifts(page);
    await buyCredits(page);
    // The plan has its tokens back at the end of this answer, and could pay again.
    await ask(page, LONGEST);
    await forecast(page, BY_CREDITS);
    await page.getByRole("button", { name: "Ask", exact: true }).waitFor();
    await ask(page, `second ${LONG}`);
    await prompt(page, "second").locator(".answer").getByText("second first").waitFor();
    await soon(async () => expect(await credits(page)).toBe(989));
    // The credits that are left do not pay for another prompt.
    await page.getByRole("textbox", { name: "Prompt" }).fill("third");
    await forecast(page, "It would queue");
    await prompt(page, "second").getByText("Paid with credits.").first().waitFor();
    // 11 words of the prompt, and 110 words of the answer.
    await soon(async () => expect(await credits(page)).toBe(1_879));
    await forecast(page, BY_CREDITS);
    await page.screenshot({ path: `${SCREENSHOTS}model-credits-${width}.png`, fullPage: true });
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      width,
    );
    expect(await shifts()).toBeLessThan(0.01);
    expect(page.problems).toEqual([]);
  });
});

describe.concurrent("the credits", () => {
  it("are bought once when the answer is lost, and the purchase is sent again", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    const sent: unknown[] = [];
    await page.route(/model\.buyCredits/, async (route) => {
      sent.push(route.request().postDataJSON());
      const response = await route.fetch();
      await (sent.length === 1 ? route.abort() : route.fulfill({ response }));
    });
    await buyCredits(page);
    await page.getByText("You have bought 2,000 credits.").waitFor();
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
    expect(await credits(page)).toBe(2_000);
    // The next press is another purchase.
    await page.getByRole("button", { name: "Buy 2,000 credits" }).click();
    await page.getByText("4,000 credits", { exact: true }).waitFor();
  });

  it("leave a prompt to the queue when another tab has spent them first", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    await buyCredits(page);
    await ask(page, LONGEST);
    await forecast(page, BY_CREDITS);
    await page.route(/model\.askNow/, async (route) => {
      const data = { text: LONGER, length: 1_000 };
      // The answer to this prompt takes ten seconds.
      visitor.request.post(`${demo.url}/trpc/model.askNow`, { data }).catch(() => {});
      await soon(async () => expect(await credits(page)).toBe(980));
      await route.continue();
    });
    await ask(page, "second");
    await queue(page).filter({ hasText: "second" }).waitFor();
  });

  it("are not sold beyond what a balance holds", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    let sent = 0;
    page.on("request", (request) => void (sent += Number(request.url().includes("buyCredits"))));
    for (let i = 1; i <= 5; i++) {
      await page.getByRole("button", { name: "Buy 2,000 credits" }).click();
      await page
        .getByText(`${2 * i},000 credits`, { exact: true })
        .first()
        .waitFor();
    }
    const full = page.getByRole("button", { name: "No room for more" });
    expect(await full.getAttribute("aria-disabled")).toBe("true");
    await full.press("Enter");
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    expect(sent).toBe(5);
  });
});

describe.concurrent("the model", () => {
  it("gives back the tokens of a page that goes away in the middle of an answer", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    await ask(page, LONGER);
    await page.locator(".answer").getByText("first two").waitFor();
    const other = await openModel(visitor);
    expect(await left(other)).toBeLessThan(400);
    await page.close();
    await soon(async () => expect(await left(other)).toBeGreaterThan(1_050));
  });

  it("gives back the tokens of a page that goes away while its prompt waits", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    await ask(page, LONGER);
    await page.locator(".answer").getByText("first two").waitFor();
    const other = await openModel(visitor);
    await ask(other, "second");
    await queue(other).waitFor();
    const queued = page.getByText(/^queue: \d+ s$/);
    await queued.waitFor();
    await other.close();
    // By itself, the queue would end after 40 s.
    await page.getByText("nothing queued").waitFor({ timeout: 25_000 });
  });

  it("follows a change of the plan at once, with the queue, and in the visitor's other tab", async () => {
    await using visitor = await browser.newContext();
    const [page, other] = [await openModel(visitor), await openModel(visitor)];
    await ask(page, LONGER);
    await ask(page, "second");
    const turn = await prompt(page, "second")
      .getByText(/It runs at/)
      .textContent();
    const runsAt = Date.now() + Number(/in (\d+) s/.exec(turn!)![1]) * 1_000;
    await page.getByRole("radio", { name: "10,000", exact: true }).check();
    await forecast(page, "It can never run on this plan, which grants 3,600 tokens");
    await askButton(page).click();
    await page.getByText("Denied for good").waitFor();
    const denied = page.getByRole("listitem").filter({ hasText: "Denied for good" });
    await denied.getByRole("button", { name: "Ask again" }).click();
    // The prompt is another item now, and has the focus.
    await denied.and(page.locator(":focus")).waitFor();

    // The page that has changed the plan sends a request at once, and does not wait for its stream.
    const asksAnew = () => page.waitForRequest(/rateLimit\.status/);
    let asked = asksAnew();
    await page.getByRole("radio", { name: "Paid" }).check();
    await asked;
    await page.getByText("of 12,000 tokens left").waitFor();
    await prompt(page, "second").getByText("second second").waitFor();
    // By the old plan, the second prompt would still wait.
    expect(Date.now()).toBeLessThan(runsAt);
    // The forecast stays so until the answer to the second prompt has ended, and gives back what it has
    // not used.
    await forecast(page, /It would (queue|run at once)/);
    const now = /It was denied\. Nothing was taken\. It would (find a place in the queue|run) now/;
    await page.getByText(now).waitFor();
    expect(await page.getByText("Denied for good").count()).toBe(0);
    await other.getByText("of 12,000 tokens left").waitFor();
    await other.getByRole("radio", { name: "Paid", checked: true }).waitFor();

    asked = asksAnew();
    await page.getByRole("radio", { name: "Free" }).check();
    await asked;
    await page.getByText("of 1,200 tokens left").waitFor();
    await forecast(page, "It can never run");
    expect(page.problems.filter((text) => !text.includes("413"))).toEqual([]);
  });

  it("first shows tokens that flow back, in the case that the page opens with", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    await page.getByText(/^Ask once\./).waitFor();
    await askButton(page).click();
    await soon(async () => expect(await left(page)).toBeLessThan(300));
    await page.getByText(/^\d{3} came back$/).waitFor();
    await soon(async () => expect(await left(page)).toBeGreaterThan(1_000));
  });

  it("goes on with the queue while another part is shown, and says when to one who presses Enter", async () => {
    await using visitor = await browser.newContext();
    const page = await openModel(visitor);
    for (const text of [LONG, "second", "third"]) await ask(page, text);
    await page.getByText(/^2 waiting, the next in \d\d s$/).waitFor();
    await forecast(page, "It would be denied");
    const field = page.getByRole("textbox", { name: "Prompt" });
    await field.fill("fourth");
    await field.press("Enter");
    await page.locator(".not-yet").getByText("Not yet: in").first().waitFor();
    expect(await field.inputValue()).toBe("fourth");
    expect(await page.getByRole("listitem").filter({ hasText: "fourth" }).count()).toBe(0);

    const turn = prompt(page, "second").getByText(/It runs at/);
    const before = /\d\d:\d\d:\d\d/.exec((await turn.textContent())!)![0];
    await page.goto(`${demo.url}/#log-in`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await page.goto(`${demo.url}/#model`);
    await turn
      .getByText(before)
      .or(turn.filter({ hasText: before }))
      .first()
      .waitFor();
    await prompt(page, LONG).getByText("The rest stays charged").first().waitFor();
  });

  it("says that a prompt is lost when its server is killed, and goes on with the next one", async () => {
    await using visitor = await browser.newContext();
    await using own = await startDemo();
    const page = await openModel(visitor, own);
    await ask(page, LONGER);
    await page.locator(".answer").getByText("first two").waitFor();
    const { databaseUrl, url } = own;
    await own.interrupt();
    await page.getByText("The connection broke.").first().waitFor();
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await page.locator(".connection[data-state=live]").waitFor();
    await page.getByRole("radio", { name: "100", exact: true }).check();
    await forecast(page, "It would run at once.");
    await ask(page, "hello again");
    await prompt(page, "hello again").getByText("hello again again").waitFor();
  });
});
