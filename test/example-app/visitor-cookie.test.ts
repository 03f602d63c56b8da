/** A page from Vite's server in development: its first calls come from one visitor. */
import { fileURLToPath } from "node:url";
import { createServer } from "vite";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApp } from "../../example-app/shared/server/app.js";
import { openExampleDatabase } from "../support/example-database.js";
import { freePort } from "../support/free-port.js";

const CONFIG = fileURLToPath(new URL("../../example-app/vite.config.ts", import.meta.url));

async function startVite() {
  const port = await freePort();
  const vite = await createServer({
    configFile: CONFIG,
    mode: "development",
    logLevel: "silent",
    // Loading the page's modules is no part of these tests.
    optimizeDeps: { noDiscovery: true, include: [] },
    server: { port: 0, watch: null, proxy: { "/trpc": `http://127.0.0.1:${port}` } },
  });
  await vite.listen();
  onTestFinished(() => vite.close());
  const url = vite.resolvedUrls!.local[0]!;
  const { prisma } = await openExampleDatabase();

  return {
    prisma,
    async startServer() {
      // Any folder: the page comes from Vite.
      const server = await createApp(prisma, fileURLToPath(new URL("shared", import.meta.url)));
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
    },
    /** Loads the page, as a browser does. */
    load: (cookie = "") => fetch(url, { headers: { cookie, accept: "text/html,*/*" } }),
    send: (cookie = "") =>
      fetch(`${url}trpc/chat.send`, {
        method: "POST",
        headers: { "content-type": "application/json", cookie },
        body: JSON.stringify({ text: "hi", nonce: crypto.randomUUID() }),
      }),
    async visitors() {
      const messages = await prisma.message.findMany();
      return { messages: messages.length, of: new Set(messages.map((each) => each.visitor)).size };
    },
  };
}

const cookieOf = (answer: Response) => answer.headers.getSetCookie()[0]?.split(";")[0];

describe("the cookie of a visitor, in development", () => {
  it("comes with the page, so that the first calls are those of one visitor", async () => {
    const page = await startVite();
    await page.startServer();
    const cookie = cookieOf(await page.load());
    const answers = await Promise.all([page.send(cookie), page.send(cookie)]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(await page.visitors()).toEqual({ messages: 2, of: 1 });
    // The one who has it keeps it, and somebody else gets another one.
    expect(cookieOf(await page.load(cookie))).toBeUndefined();
    expect(cookieOf(await page.load())).not.toBe(cookie);
  });

  it("takes the place of one that another database has signed", async () => {
    const page = await startVite();
    await page.startServer();
    const cookie = cookieOf(await page.load("visitor=of.another"));
    expect(cookie).toMatch(/^visitor=/);
    await Promise.all([page.send(cookie), page.send(cookie)]);
    expect(await page.visitors()).toEqual({ messages: 2, of: 1 });
  });

  it("is one for the first calls of a page that was there before the server", async () => {
    const page = await startVite();
    const early = await page.load();
    expect([early.status, cookieOf(early)]).toEqual([200, undefined]);
    await page.startServer();
    const answers = await Promise.all([page.send(), page.send(), page.send()]);
    expect(new Set(answers.map(cookieOf)).size).toBe(1);
    expect(cookieOf(answers[0]!)).toMatch(/^visitor=/);
    expect(await page.visitors()).toEqual({ messages: 3, of: 1 });
  });
});
