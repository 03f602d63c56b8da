/** Limits in an application as create-t3-app generates it, built by Next and run in production. */
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, BrowserContextOptions, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { buildT3App, hasT3App, NO_T3_APP, startT3App, type T3App } from "../support/t3-app.js";
import { openBrowser } from "./shared.js";
import { COUNTDOWN } from "../support/countdown.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

// The build takes minutes. By day, `test:scaffolds` and `test:quick-start` test T3 applications.
const isRun = hasT3App && isNightly;
if (!isRun) {
  describe("a T3 app", () => {
    it("has limits", ({ skip }) => skip(hasT3App ? NIGHTLY_ONLY : NO_T3_APP));
  });
}

describe.runIf(isRun)("a T3 app", () => {
  let browser: Browser;
  let app: T3App;
  let contexts: BrowserContext[] = [];
  let users = 0;

  beforeAll(async () => {
    await buildT3App();
    [browser, app] = await Promise.all([openBrowser(), startT3App()]);
  }, 600_000);
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    contexts = [];
  });
  afterAll(async () => {
    await browser?.close();
    await app?.[Symbol.asyncDispose]();
  });

  const newUser = () => `user-${++users}`;

  /** A browser of its own, in which this user is logged in. */
  async function device(user: string, options?: BrowserContextOptions): Promise<BrowserContext> {
    const context = await browser.newContext({
      viewport: { width: 800, height: 500 },
      ...options,
    });
    contexts.push(context);
    await context.addCookies([{ name: "user", value: user, url: app.url }]);
    return context;
  }

  /** Opens a page. Records what the page logs as a problem, and the tRPC requests that it makes. */
  async function open(context: BrowserContext, path = "/", url = app.url) {
    const page = await context.newPage();
    const problems: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/api/trpc/")) requests.push(pathname.slice("/api/trpc/".length));
    });
    await page.goto(url + path);
    return Object.assign(page, { problems, requests });
  }

  const shows = (page: Page, text: string | RegExp) => page.getByText(text).waitFor();
  const left = (page: Page, count: number) => shows(page, `Posts left: ${count}`);
  const button = (page: Page) => page.locator("button[type=submit]");

  async function post(page: Page, name: string): Promise<void> {
    await page.getByPlaceholder("Title").fill(name);
    await button(page).click();
    await shows(page, `Your most recent post: ${name}`);
  }

  /** Calls a procedure as a script would, with superjson. */
  const call = (user: string, input: object) =>
    fetch(`${app.url}/api/trpc/post.create`, {
      method: "POST",
      headers: { cookie: `user=${user}`, "content-type": "application/json" },
      body: JSON.stringify({ json: input }),
    });

  async function exhaust(user: string): Promise<void> {
    for (const name of ["a", "b", "c"]) expect((await call(user, { name })).status).toBe(200);
  }

  const htmlOf = async (user: string, path = "/") =>
    (await fetch(app.url + path, { headers: { cookie: `user=${user}` } })).text();

  it("counts down with a plain useMutation, opens the button again by itself, and then posts", async () => {
    const page = await open(await device(newUser()));
    await left(page, 3);
    await post(page, "one");
    await left(page, 2);
    await post(page, "two");
    await left(page, 1);
    await post(page, "three");
    await button(page).filter({ hasText: "Wait" }).waitFor();
    await left(page, 0);
    expect(await button(page).isDisabled()).toBe(true);
    expect(await page.locator(COUNTDOWN).textContent()).toMatch(/^(10|[1-9])s$/);
    await page.screenshot({ path: `${SCREENSHOTS}t3-1-limited.png` });

    await button(page).filter({ hasText: "Submit" }).waitFor();
    await left(page, 1);
    await page.screenshot({ path: `${SCREENSHOTS}t3-2-open.png` });
    await post(page, "four");
    expect(page.problems).toEqual([]);
    // The stream was enough: the page never asked for its limit.
    expect(page.requests.filter((path) => path.includes("rateLimit."))).toEqual([
      "rateLimit.watch",
    ]);
  });

  it("takes a post off at the click, and gives it back if it does not reach the server", async () => {
    const page = await open(await device(newUser()));
    await shows(page, "Connection: live");
    const held: Route[] = [];
    await page.route(/post\.create/, (route) => void held.push(route));
    await page.getByPlaceholder("Title").fill("lost");
    await button(page).click();
    await expect.poll(() => held.length).toBe(1);
    await left(page, 2);
    await held[0]!.abort();
    await page.locator("main").getByRole("alert").waitFor();
    await left(page, 3);
  });

  it("renders a prefetched limit on the server, and does not ask for it again", async () => {
    const user = newUser();
    expect(await htmlOf(user)).toMatch(/Posts left: (<!-- -->)?3</);

    const page = await open(await device(user));
    await shows(page, "Connection: live");
    await left(page, 3);
    expect(page.requests).toEqual(["rateLimit.watch"]);
    expect(page.problems).toEqual([]);
  });

  it("renders a countdown on the server, which goes on in the browser", async () => {
    const user = newUser();
    await exhaust(user);
    expect(await htmlOf(user)).toMatch(
      /disabled=""><span>Wait <\/span><span><span [^>]*data-state="waiting"[^>]*>(?:10|[1-9])s<\/span>/,
    );
    const withoutScripts = await open(await device(user, { javaScriptEnabled: false }));
    expect(await button(withoutScripts).textContent()).toMatch(/^Wait (10|[1-9])s$/);

    const page = await open(await device(user));
    await button(page).filter({ hasText: "Submit" }).waitFor();
    await post(page, "after the wait");
    expect(page.problems).toEqual([]);
  });

  it("answers a denied call with the limit, and an invalid one with Zod's error", async () => {
    const user = newUser();
    const invalid = await call(user, { name: "" });
    expect(invalid.status).toBe(400);
    const { data: zod } = ((await invalid.json()) as ErrorBody).error.json;
    expect(zod.zodError?.fieldErrors).toHaveProperty("name");
    expect(zod.rateLimit).toBeUndefined();

    await exhaust(user);
    const denied = await call(user, { name: "d" });
    expect(denied.status).toBe(429);
    const { data } = ((await denied.json()) as ErrorBody).error.json;
    expect(data).toMatchObject({ zodError: null, rateLimit: { name: "createPost" } });
  });

  it("streams through a route handler, in superjson", async () => {
    const input = encodeURIComponent(JSON.stringify({ json: { items: [{ name: "createPost" }] } }));
    const abort = new AbortController();
    const answer = await fetch(`${app.url}/api/trpc/rateLimit.watch?input=${input}`, {
      headers: { cookie: `user=${newUser()}` },
      signal: abort.signal,
    });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    let text = "";
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("createPost")) break;
    }
    abort.abort();
    expect(text).toMatch(/data: \{"json":\{"name":"createPost",.*"value":3,/);
  });

  it("shows what another tab and another device take, and nothing to another user", async () => {
    const user = newUser();
    const context = await device(user);
    const tabs = [await open(context), await open(context), await open(await device(user))];
    const stranger = await open(await device(newUser()));
    await Promise.all([...tabs, stranger].map((tab) => shows(tab, "Connection: live")));
    for (const [turn, tab] of tabs.entries()) {
      await post(tab, `from ${turn}`);
      await Promise.all(tabs.map((each) => left(each, 2 - turn)));
    }
    await Promise.all(tabs.map((tab) => button(tab).filter({ hasText: "Wait" }).waitFor()));
    await left(stranger, 3);
    for (const tab of [...tabs, stranger]) expect(tab.problems).toEqual([]);
  });

  it("polls where the client has no link for the stream, and says so", async () => {
    const user = newUser();
    const page = await open(await device(user), "/without-stream/stream");
    await shows(page, "Connection: polling");
    await left(page, 3);
    expect((await call(user, { name: "elsewhere" })).status).toBe(200);
    await left(page, 2);
    expect(new Set(page.requests)).toEqual(new Set(["rateLimit.status"]));
    expect(page.problems).toEqual([]);
  });

  it('makes no request in intervals with live: "off"', async () => {
    const context = await device(newUser());
    await context.clock.install();
    const [off, polling] = [
      await open(context, "/without-stream/off"),
      await open(context, "/without-stream/stream"),
    ];
    await Promise.all([left(off, 3), left(polling, 3)]);
    await Promise.all([off, polling].map((page) => page.clock.runFor(600_000)));
    expect(polling.requests.length).toBeGreaterThan(1);
    expect(off.requests).toEqual([]);

    await post(off, "one");
    await left(off, 2);
    // One request after the call. The latest post travels in the same request.
    expect(off.requests).toEqual(["post.create", "rateLimit.status,post.getLatest"]);
    expect(off.problems).toEqual([]);
  });

  it("limits the calls of server components and of server actions", async () => {
    const user = newUser();
    const page = await open(await device(user), "/actions");
    await shows(page, /^\d+ posts$/);
    expect(await htmlOf(user, "/actions")).toMatch(/<p>\d+ posts<\/p>/);
    expect(await htmlOf(user, "/actions")).toMatch(/<p>The report opens in (29|30) minutes<\/p>/);

    const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Post" }) });
    await form.getByRole("button").click();
    await form.getByText("Posted").waitFor();
    await call(user, { name: "b" });
    await call(user, { name: "c" });
    await form.getByRole("button").click();
    await form.getByText(/^Denied by createPost: try again in (10|[1-9]) s$/).waitFor();
    expect(page.problems).toEqual([]);
  });

  it("limits a server action without tRPC, and the page follows it", async () => {
    const page = await open(await device(newUser()), "/actions");
    const form = page.locator("form").filter({ has: page.getByPlaceholder("Feedback") });
    const send = form.getByRole("button");
    await page.getByPlaceholder("Feedback (2 left)").waitFor();
    await send.click();
    await shows(page, "Thank you");
    await page.getByPlaceholder("Feedback (1 left)").waitFor();
    await send.click();
    await page.getByPlaceholder("Feedback (0 left)").waitFor();
    await send.click();
    await shows(page, /^Try again in (29|30) minutes$/);
    await page.screenshot({ path: `${SCREENSHOTS}t3-3-actions.png` });
    expect(page.problems).toEqual([]);
  });

  it("stops while a page has its stream open", async () => {
    await using other = await startT3App();
    const page = await open(await device(newUser()), "/", other.url);
    await shows(page, "Connection: live");
    expect(await other.stop()).toBe(0);
  });
});

interface ErrorBody {
  error: {
    json: {
      data: { rateLimit?: { name: string }; zodError: { fieldErrors: object } | null };
    };
  };
}
