import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { startDemo } from "../support/demo.js";
import { recordShifts } from "../support/layout-shifts.js";
import { problemsOf } from "../support/problems.js";
import { followPartLink } from "../support/show-part.js";
import { soon } from "../support/soon.js";
import type { SharedDemo } from "./global-setup.js";
import { demo as sharedDemo, openBrowser } from "./shared.js";
import { COUNTDOWN } from "../support/countdown.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));
/** The example refills one message every six seconds. */
const REFILL = 6000;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

type ChatPage = Page & { problems: readonly string[] };

/** Opens the chat. Each error that the page logs is in `problems`, for the test to check. */
async function openChat(context: BrowserContext, { url }: SharedDemo): Promise<ChatPage> {
  const page = await context.newPage();
  const problems = problemsOf(page);
  await page.goto(`${url}/#chat`);
  return Object.assign(page, { problems });
}

/** A demo with a new visitor. */
async function openExample(demo: SharedDemo = sharedDemo) {
  const contexts: BrowserContext[] = [];
  async function newVisitor(): Promise<BrowserContext> {
    const context = await browser.newContext();
    contexts.push(context);
    return context;
  }
  const visitor = await newVisitor();
  return {
    demo,
    newVisitor,
    visitor,
    async [Symbol.asyncDispose]() {
      await Promise.all(contexts.map((context) => context.close()));
    },
  };
}

/** From then on, the stream reports only changes, so it says nothing about a call that is held. */
const live = (page: Page) => page.locator(".connection[data-state=live]");
const button = (page: Page) => page.locator("button[type=submit]");
const labelled = (page: Page, text: string | RegExp) => button(page).filter({ hasText: text });
const fill = (page: Page) => button(page).locator(".fill");
const field = (page: Page) => page.getByRole("textbox", { name: "Message" });
const stored = (page: Page) => page.getByRole("list", { name: "Messages" }).getByRole("listitem");
const pending = (page: Page) =>
  page.getByRole("list", { name: "Not sent yet" }).getByRole("listitem");
const own = (page: Page) => stored(page).filter({ hasText: /^You / });
/** The visitor's own message with that text; in `all` messages, any visitor's. */
const messages = (page: Page, text: string, all = own(page)) =>
  all.filter({ has: page.getByText(text, { exact: true }) });
const textsOf = (all: Locator) => all.locator("p:last-child").allTextContents();
const status = (page: Page, text: string) =>
  page.locator("#composer-note").filter({ hasText: text }).waitFor();
/** The meter as a screen reader finds it, while it shows this many messages. */
const meter = (page: Page, left: number): Locator =>
  page
    .getByRole("meter", { name: "Messages left", exact: true })
    .and(page.locator(`[aria-valuenow="${left}"][aria-valuetext="${left} of 3"]`));

/** Resolves when the element is at another place. */
async function untilItMoves(element: Element): Promise<void> {
  const { x } = element.getBoundingClientRect();
  while (element.getBoundingClientRect().x === x) await new Promise(requestAnimationFrame);
}

async function send(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press("Enter");
  await messages(page, text).waitFor();
}

/** Keeps the next message from the server. The test lets the message go, or loses it. */
async function holdNextSend(page: Page): Promise<() => Promise<Route>> {
  const held: Route[] = [];
  await page.route("**/trpc/chat.send*", (route) => void held.push(route), { times: 1 });
  return async () => {
    await soon(() => expect(held.length).toBe(1));
    return held[0]!;
  };
}

/** Sends a first message on a new page, and keeps the message from the server. */
async function sendHeld(visitor: BrowserContext, demo: SharedDemo, text: string) {
  const page = await openChat(visitor, demo);
  await meter(page, 3).waitFor();
  await live(page).waitFor();
  const message = await holdNextSend(page);
  await field(page).fill(text);
  await field(page).press("Enter");
  return { page, message };
}

describe("the chat, alone on the machine", () => {
  it("counts down from what is left to a wait, and back to sending at the promised second", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}1-ready.png` });
    await send(page, "one");
    await meter(page, 2).waitFor();
    await send(page, "two");
    await meter(page, 1).waitFor();
    await send(page, "three");
    await labelled(page, "Wait").waitFor();
    const shifts = await recordShifts(page);
    const waitingSince = Date.now();
    await meter(page, 0).waitFor();
    const { width } = (await button(page).boundingBox())!;
    // Two lines wait in the field, as one line does.
    await field(page).fill("four\nfive");
    await field(page).press("Enter");
    expect(await button(page).isDisabled()).toBe(true);
    expect(await page.locator(COUNTDOWN).textContent()).toMatch(/^[1-6]s$/);
    // The page says when, for a screen reader, too. The button fills, and so does the meter.
    await status(page, "Not yet: in");
    const filled = () => fill(page).evaluate((element) => element.getBoundingClientRect().width);
    const before = await filled();
    await soon(async () => expect(await filled()).toBeGreaterThan(before + 10));
    await meter(page, 0).locator("rect:last-child").evaluate(untilItMoves);
    await page.screenshot({ path: `${SCREENSHOTS}2-waiting.png` });

    await labelled(page, /^Send/).waitFor();
    // The button came back by itself with the first token, give or take a slow machine.
    expect(Date.now() - waitingSince).toBeLessThan(2 * REFILL);
    expect(await shifts()).toBeLessThan(0.01);
    expect(await violationsOf(page)).toEqual([]);
    // No countdown moves anything.
    expect((await button(page).boundingBox())!.width).toBe(width);
    // The text that was typed during the wait is still there, and was not sent by itself.
    expect(await field(page).inputValue()).toBe("four\nfive");
    expect(await textsOf(own(page))).toEqual(["one", "two", "three"]);
    await field(page).press("Enter");
    await messages(page, "four").waitFor();
    await pending(page).or(messages(page, "five")).getByText("five", { exact: true }).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}3-sent-again.png` });
    expect(page.problems).toEqual([]);
  });
});

// These tests mostly wait, so they wait together. The tests use `soon`, because `expect.poll` must know
// its test, which it does not know when several tests run at once.
describe.concurrent("the chat", () => {
  it("takes a message off the meter and shows it as pending, before the server has heard of it", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    await live(page).waitFor();
    const message = await holdNextSend(page);
    await field(page).fill("one");
    await button(page).click();
    await meter(page, 2).waitFor();
    await pending(page).filter({ hasText: "Sending…" }).waitFor();
    expect(await own(page).count()).toBe(0);
    // The field has kept the focus, so the visitor can go on typing.
    await page.keyboard.type("and more");
    await (await message()).continue();
    await messages(page, "one").waitFor();
    await soon(async () => expect(await pending(page).count()).toBe(0));
    expect(await field(page).inputValue()).toBe("and more");
    expect(page.problems).toEqual([]);
  });

  it("sends a message again whose answer was lost, and shows it once", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const { page, message } = await sendHeld(visitor, demo, "one");
    const route = await message();
    const again = page.waitForResponse(/chat\.send/);
    // The server stores the message, and the page does not learn so.
    await route.fetch();
    await route.abort();
    await messages(page, "one").waitFor();
    expect((await again).status()).toBe(200);
    await soon(async () => expect(await pending(page).count()).toBe(0));
    expect(await textsOf(own(page))).toEqual(["one"]);
  });

  it("takes one token for a message that is under way when the page is loaded again", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const { page, message } = await sendHeld(visitor, demo, "one");
    // The server has the message, and the page is gone before the answer comes.
    await (await message()).fetch();
    const again = page.waitForResponse(/chat\.send/);
    await page.reload();
    expect((await again).status()).toBe(200);
    await messages(page, "one").waitFor();
    await soon(async () => expect(await pending(page).count()).toBe(0));
    const answer = await visitor.request.get(
      `${demo.url}/trpc/rateLimit.status?input=${encodeURIComponent('{"name":"sendMessage"}')}`,
    );
    const { result } = (await answer.json()) as { result: { data: { value: number } } };
    expect(result.data.value).toBeGreaterThanOrEqual(2);
    await meter(page, 2).or(meter(page, 3)).waitFor();
    expect(await textsOf(own(page))).toEqual(["one"]);
  });

  it("gives back a message that gets nowhere: its text, and its place on the meter", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    // The page does not learn that nothing was charged.
    await page.route(/rateLimit\.status/, (route) => route.abort());
    let tries = 0;
    await page.route(/chat\.send/, (route) => route.abort().then(() => void tries++));
    await field(page).fill("one");
    await field(page).press("Enter");
    await meter(page, 2).waitFor();
    await status(page, "The server did not take it");
    await soon(() => expect(tries).toBe(10));
    await meter(page, 3).waitFor();
    await soon(async () => expect(await field(page).inputValue()).toBe("one"));
    await page.unroute(/chat\.send/);
    await field(page).press("Enter");
    await messages(page, "one").waitFor();
    await status(page, "Enter sends");
  });

  it("keeps a message that is denied although the page knew of no wait, and sends it in time", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    // This page gets one answer about its limit, and then no other.
    let asked = 0;
    await visitor.route(/rateLimit\.watch/, (route) => route.abort());
    await visitor.route(/rateLimit\.status/, (route) =>
      asked++ === 0 ? route.continue() : route.abort(),
    );
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    for (const text of ["b1", "b2", "b3"]) {
      const data = { text, nonce: crypto.randomUUID() };
      const answer = await visitor.request.post(`${demo.url}/trpc/chat.send`, { data });
      expect(answer.status()).toBe(200);
    }
    await field(page).fill("b4");
    await field(page).press("Enter");
    await pending(page)
      .filter({ hasText: /goes at \d\d:\d\d:\d\d/ })
      .waitFor();
    await labelled(page, "Wait").waitFor();
    await meter(page, 0).waitFor();
    await messages(page, "b4").waitFor();
    expect(await textsOf(own(page))).toEqual(["b1", "b2", "b3", "b4"]);
  });

  it("sends several lines as messages, each in its turn at the promised second, until cancelled", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    const lines = Array.from({ length: 10 }, (_, i) => `line ${i + 1}`);
    await field(page).fill(lines.join("\n"));
    await labelled(page, "Send 10 messages").click();
    await messages(page, "line 3").waitFor();
    await soon(async () => expect(await pending(page).count()).toBe(7));
    await page.getByText(/^7 waiting, the next in [1-6] s$/).waitFor();
    // A log reads out all changes to a screen reader, so the countdown stands outside of it.
    expect(await page.getByRole("log").getByText("the next in").count()).toBe(0);
    const texts = await pending(page).allTextContents();
    await page.screenshot({ path: `${SCREENSHOTS}4-held.png` });
    const times = texts.map((text, i) => {
      const match = /^Your message goes at (\d\d):(\d\d):(\d\d)line (\d+)$/.exec(text);
      expect(match?.[4]).toBe(`${i + 4}`);
      const [hours, minutes, seconds] = match!.slice(1, 4).map(Number);
      return (hours! * 60 + minutes!) * 60 + seconds!;
    });
    // One message every six seconds, also over midnight. The last digit may be rounded either way.
    times.slice(1).forEach((time, i) => {
      expect(Math.abs(((time - times[i]! + 86_400) % 86_400) - 6)).toBeLessThanOrEqual(1);
    });
    await messages(page, "line 4").waitFor();
    const sentAt = await messages(page, "line 4").locator("time").getAttribute("datetime");
    const zone = new Date().getTimezoneOffset() * 60;
    const late = (Date.parse(sentAt!) / 1000 - zone - times[0]!) % 86_400;
    // Long before the turn of the next message, also on a slow machine.
    expect(late).toBeLessThan(REFILL / 1000 - 1);
    await page.getByRole("button", { name: "Cancel 6 messages" }).click();
    // The messages that were not sent are in the field again, in their order. The field has the focus.
    await soon(async () => expect(await field(page).inputValue()).toBe(lines.slice(4).join("\n")));
    expect(await field(page).evaluate((element) => element === document.activeElement)).toBe(true);
    await soon(async () => expect(await pending(page).count()).toBe(0));
    expect(await textsOf(own(page))).toEqual(lines.slice(0, 4));
    expect(page.problems).toEqual([]);
  });

  it("shows a message to other visitors at once, without asking for it", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const page = await openChat(visitor, demo);
    const stranger = await openChat(await example.newVisitor(), demo);
    await Promise.all([page, stranger].map((tab) => meter(tab, 3).waitFor()));
    let requests: string[] = [];
    let quietSince = Date.now();
    stranger.on("request", (request) => {
      // The stream of limits may come after their first answers: tabs first agree on one stream. The
      // devtools are loaded when the page is idle.
      if (/rateLimit\.watch|\/assets\//.test(request.url())) return;
      requests.push(request.url());
      quietSince = Date.now();
    });
    // On a slow machine, the page may still send requests of its start.
    await expect.poll(() => Date.now() - quietSince).toBeGreaterThan(2000);
    requests = [];
    // The server keeps the messages of an earlier try of this test.
    const hello = `hello ${quietSince}`;
    const answer = `from the other process ${quietSince}`;
    await send(page, hello);
    await messages(stranger, hello, stored(stranger)).waitFor();
    expect(await messages(page, hello).textContent()).toMatch(/^You /);
    expect(await messages(stranger, hello, stored(stranger)).textContent()).toMatch(
      /^Guest \w{4} /,
    );
    // Another process serves the same database.
    await using other = await startDemo({ databaseUrl: demo.databaseUrl });
    const third = await openChat(await example.newVisitor(), other);
    await messages(third, hello, stored(third)).waitFor();
    await send(third, answer);
    await messages(page, answer, stored(page)).waitFor();
    await messages(stranger, answer, stored(stranger)).waitFor();
    expect(requests).toEqual([]);
    await meter(stranger, 3).waitFor();
  });

  it("keeps two tabs of one visitor in step", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const [first, second] = [await openChat(visitor, demo), await openChat(visitor, demo)];
    await Promise.all([first, second].map((tab) => meter(tab, 3).waitFor()));
    await send(first, "from the first tab");
    await meter(second, 2).waitFor();
    await send(second, "from the second tab");
    await meter(first, 1).waitFor();
    await send(first, "and the last one");
    await Promise.all([first, second].map((tab) => labelled(tab, "Wait").waitFor()));
  });

  it("survives a killed server: no message is missing, doubled or lost", async () => {
    await using demo = await startDemo();
    await using example = await openExample(demo);
    const { visitor } = example;
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    await send(page, "before");
    const { databaseUrl, url } = demo;
    await using other = await startDemo({ databaseUrl });
    const stranger = await openChat(await example.newVisitor(), other);
    await messages(stranger, "before", stored(stranger)).waitFor();

    await demo.kill();
    await status(page, "What you send goes out when the server is back.");
    await send(stranger, "meanwhile");
    await field(page).fill("into the void");
    await field(page).press("Enter");
    await pending(page).filter({ hasText: "Sending…" }).waitFor();
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    // The page that stayed open finds the new server by itself.
    await status(page, "Enter sends");
    await messages(page, "into the void").waitFor();
    await send(stranger, "after");
    for (const tab of [page, stranger]) {
      await messages(tab, "after", stored(tab)).waitFor();
      // The stranger's server reads at an interval what the other server has stored.
      await messages(tab, "into the void", stored(tab)).waitFor();
      expect(await textsOf(stored(tab))).toEqual(["before", "meanwhile", "into the void", "after"]);
    }
    await soon(async () => expect(await pending(page).count()).toBe(0));
  });

  it("goes on with what is held while another part is shown, and while the server is away", async () => {
    await using demo = await startDemo();
    await using example = await openExample(demo);
    const page = await openChat(example.visitor, demo);
    await meter(page, 3).waitFor();
    const sent = page.waitForResponse((response) => {
      const isSend = response.url().includes("chat.send");
      return isSend && response.request().postData()?.includes('"4"') === true;
    });
    await field(page).fill("1\n2\n3\n4\n5");
    await field(page).press("Enter");
    await page.getByText(/^2 waiting, the next in [1-6] s$/).waitFor();
    await field(page).fill("typed");
    await followPartLink(page, "Log in");
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await sent;

    const { databaseUrl, url } = demo;
    await demo.kill();
    await page.locator(".connection[data-state=offline]").waitFor();
    // The turn of the message comes while no server answers.
    await page.waitForRequest(/chat\.send/);
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await followPartLink(page, "Chat");
    await messages(page, "5").waitFor();
    expect(await field(page).inputValue()).toBe("typed");
    expect(await textsOf(own(page))).toEqual(["1", "2", "3", "4", "5"]);
    await soon(async () => expect(await pending(page).count()).toBe(0));
  });

  it("keeps what is held, and what is typed, over a reload, and sends it in its turn", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    await field(page).fill("1\n2\n3\n4\n5");
    await field(page).press("Enter");
    await page.getByText(/^2 waiting, the next in [1-6] s$/).waitFor();
    await field(page).fill("typed");
    await page.reload();
    await pending(page).getByText("5", { exact: true }).waitFor();
    expect(await field(page).inputValue()).toBe("typed");
    // Another tab is another outbox.
    const other = await openChat(visitor, demo);
    await messages(other, "5").waitFor();
    await messages(page, "5").waitFor();
    for (const tab of [page, other]) expect(await textsOf(own(tab))).toEqual([..."12345"]);
    expect(await pending(other).count()).toBe(0);
    // Messages that were sent or cancelled do not come back.
    await labelled(page, /^Send/).waitFor();
    // More lines than the limit has tokens.
    await field(page).fill("6\n7\n8\n9");
    await field(page).press("Enter");
    await page.getByRole("button", { name: /^Cancel \d message/ }).click();
    await soon(async () => expect(await pending(page).count()).toBe(0));
    const stays = await field(page).inputValue();
    await page.reload();
    // Any number of tokens may have come back meanwhile.
    await page.locator('[role="meter"][aria-valuetext$=" of 3"]').waitFor();
    expect(await pending(page).count()).toBe(0);
    expect(await field(page).inputValue()).toBe(stays);
    expect(page.problems).toEqual([]);
  });

  it("takes messages in an outage, as it says, and sends them in their order", async () => {
    await using demo = await startDemo();
    await using example = await openExample(demo);
    const page = await openChat(example.visitor, demo);
    await meter(page, 3).waitFor();
    const { databaseUrl, url } = demo;
    await page.getByText("No message yet.").waitFor();
    await demo.kill();
    await status(page, "What you send goes out when the server is back.");
    // The fourth message waits for a token, and for the connection.
    for (const text of ["a", "b", "c", "d"]) {
      await field(page).fill(text);
      await field(page).press("Enter");
      await pending(page).getByText(text, { exact: true }).waitFor();
      expect(await field(page).inputValue()).toBe("");
    }
    await status(page, "What you send goes out when the server is back.");
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await messages(page, "d").waitFor();
    expect(await textsOf(own(page))).toEqual(["a", "b", "c", "d"]);
  });

  it("gives back a message that fails together with all later ones, on a slow network, in order", async () => {
    await using example = await openExample();
    const { demo, visitor } = example;
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    const network = await visitor.newCDPSession(page);
    await network.send("Network.enable");
    await network.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 300,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    let asked = 0;
    await page.route(/chat\.send/, async (route) => {
      if (asked++ !== 1) return route.continue();
      // The visitor types before the server refuses the second message.
      await field(page).fill("5");
      const postData = route
        .request()
        .postData()!
        .replace(/"nonce":"[^"]*"/, '"nonce":"none"');
      return route.continue({ postData });
    });
    await field(page).fill("1\n2\n3\n4");
    await field(page).press("Enter");
    await status(page, "The server did not take it.");
    await soon(async () => expect(await field(page).inputValue()).toBe("2\n3\n4\n5"));
    expect(await textsOf(own(page))).toEqual(["1"]);
    await field(page).press("Enter");
    await messages(page, "3").waitFor();
    // The next message comes six seconds later.
    expect((await textsOf(own(page))).slice(0, 3)).toEqual(["1", "2", "3"]);
  });

  it("knows the visitor and the limit after a reload and after a restart of the server", async () => {
    await using demo = await startDemo();
    await using example = await openExample(demo);
    const { visitor } = example;
    const page = await openChat(visitor, demo);
    await meter(page, 3).waitFor();
    for (const text of ["a1", "a2", "a3"]) await send(page, text);
    await labelled(page, "Wait").waitFor();
    await page.reload();
    await labelled(page, "Wait").waitFor();
    const { databaseUrl, url } = demo;
    // The server stops cleanly on Ctrl-C, while a page is open.
    expect(await demo.interrupt()).toBe(0);
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await status(page, "Enter sends");
    // A server that had lost the rows would say that the bucket is full. A refill takes 18 seconds.
    expect(await meter(page, 3).count()).toBe(0);
    await labelled(page, /^Send/).waitFor();
    await send(page, "a4");
    expect(await messages(page, "a4").textContent()).toMatch(/^You /);
    expect(await textsOf(own(page))).toEqual(["a1", "a2", "a3", "a4"]);
  });
});
