/** The example's API as any program can call it, over HTTP and with only a cookie. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { RaceProcesses } from "../../../../example-app/race/processes.js";
import { createApp } from "../../../../example-app/shared/server/app.js";
import { openDatabase } from "../../../../example-app/shared/server/database.js";

async function startExample(race?: RaceProcesses) {
  const folder = await mkdtemp(join(tmpdir(), "example-"));
  await writeFile(join(folder, "index.html"), "<title>chat</title>");
  const prisma = await openDatabase(`file:${join(folder, "test.db")}`);
  const server = await createApp(prisma, folder, 1, race);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    prisma,
    url,
    /** A visitor who came by the page. */
    async visitor() {
      const cookies = (await fetch(url)).headers.getSetCookie();
      return { cookie: cookies[0]!.split(";")[0]!, attributes: cookies[0]! };
    },
    send: (body: string, cookie = "") =>
      fetch(`${url}/trpc/chat.send`, {
        method: "POST",
        headers: { "content-type": "application/json", cookie },
        body,
      }),
    async contents() {
      const [messages, limits] = await Promise.all([
        prisma.message.findMany(),
        prisma.rateLimit.findMany(),
      ]);
      return { messages: messages.length, limits };
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await prisma.$disconnect();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const body = (text: string) => JSON.stringify({ text, nonce: crypto.randomUUID() });
const message = body("hello");

describe("the example's API", () => {
  it("lets one visitor send three of four quick messages, and tells the fourth what to wait", async () => {
    await using example = await startExample();
    const { cookie } = await example.visitor();
    for (let i = 0; i < 3; i++) {
      expect((await example.send(body("hello"), cookie)).status).toBe(200);
    }
    // The example's schema maps the model to a table by another name.
    const rows = await example.prisma.$queryRaw<
      { name: string }[]
    >`SELECT "name" FROM "rate_limits"`;
    expect(rows.filter(({ name }) => name === "sendMessage")).toHaveLength(1);
    const before = await example.contents();
    const denied = await example.send(message, cookie);
    expect(denied.status).toBe(429);
    const { error } = (await denied.json()) as { error: { data: { rateLimit: unknown } } };
    expect(error.data.rateLimit).toMatchObject({ kind: "RateLimited", name: "sendMessage" });
    const { retryAfter } = error.data.rateLimit as { retryAfter: number };
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(6000);
    expect(await example.contents()).toEqual(before);
    // Somebody else is not concerned.
    const other = await example.visitor();
    expect((await example.send(message, other.cookie)).status).toBe(200);
  });

  it("hands out a cookie that no script can read, and takes none but its own", async () => {
    await using example = await startExample();
    const { cookie, attributes } = await example.visitor();
    expect(attributes).toContain("HttpOnly");
    expect(attributes).toContain("SameSite=Lax");
    expect((await example.send(message, cookie)).headers.getSetCookie()).toEqual([]);
    const [id, signature] = cookie.slice("visitor=".length).split(".");
    for (const forged of [`${id}x.${signature}`, `${id}.`, `${id}`, "a.b", ".", "%E0%A4%A"]) {
      const answer = await example.send(message, `visitor=${forged}`);
      expect(answer.headers.getSetCookie()).toHaveLength(1);
    }
  });

  it.each([
    ["a body that is not JSON", "{ text: hello", 400],
    ["an empty body", "", 400],
    ["no text", "{}", 400],
    ["no nonce", JSON.stringify({ text: "hello" }), 400],
    ["a text of blanks", body("   "), 400],
    ["a text that is too long", body("x".repeat(501)), 400],
    ["a body that is far too large", body("x".repeat(100_000)), 413],
  ])("changes nothing for %s", async (_what, text, status) => {
    await using example = await startExample();
    const { cookie } = await example.visitor();
    const answer = await example.send(text, cookie);
    expect(answer.status).toBe(status);
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).not.toBe("");
    expect(await example.contents()).toEqual({ messages: 0, limits: [] });
  });

  it("changes nothing for a name that does not exist or a key of 10,000 characters", async () => {
    await using example = await startExample();
    const { cookie } = await example.visitor();
    for (const input of [{ name: "nope" }, { name: "sendMessage", key: "k".repeat(10_000) }]) {
      const query = encodeURIComponent(JSON.stringify(input));
      const answer = await fetch(`${example.url}/trpc/rateLimit.status?input=${query}`, {
        headers: { cookie },
      });
      expect(answer.status).toBe(400);
    }
    expect((await fetch(`${example.url}/trpc/nope`)).status).toBe(404);
    expect(await example.contents()).toEqual({ messages: 0, limits: [] });
  });
});

it("starts the processes of races when it listens, and when the page is asked for, if it is told to", async () => {
  const start = vi.fn<() => void>();
  await using example = await startExample({ start, end() {}, both: async () => [] });
  expect(start).toHaveBeenCalledTimes(1);
  const { cookie } = await example.visitor();
  expect(start).toHaveBeenCalledTimes(2);
  await fetch(`${example.url}/?seat=2`);
  expect(start).toHaveBeenCalledTimes(3);
  await example.send(message, cookie);
  await fetch(`${example.url}/assets/main.js`);
  expect(start).toHaveBeenCalledTimes(3);
});
