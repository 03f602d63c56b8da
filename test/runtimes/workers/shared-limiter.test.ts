import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requestAtOnce } from "./request-at-once.js";
import { emptyTable } from "./d1-database.js";
import { hasWorkerd, NO_WORKERD, type StartedWorker, startWorker } from "./start-worker.js";

describe.skipIf(!hasWorkerd)(`a limiter in a Worker (${NO_WORKERD})`, () => {
  let worker: StartedWorker;
  beforeAll(async () => {
    // Without nodejs_compat, so no module of Node is there.
    worker = await startWorker(new URL("binding-worker.ts", import.meta.url), {
      d1Databases: ["DB"],
    });
    await emptyTable(await worker.d1("DB"));
  });
  afterAll(() => worker[Symbol.asyncDispose]());

  const json = async (path: string) => (await worker.fetch(path)).json() as Promise<unknown>;

  it("needs nothing of Node", async () => {
    expect(await json("process")).toBe("undefined");
  });

  it.each(["memory", "shared", "onRequest"])(
    "grants exactly its tokens to simultaneous requests (%s)",
    async (limiter) => {
      for (let round = 0; round < 5; round++) {
        const counts = await requestAtOnce(worker, `${limiter}?key=${limiter}${round}`);
        expect(counts).toEqual({ "1": 37, "0": 23 });
      }
    },
  );

  it("shares a statement among the calls of one request, and no tokens are lost", async () => {
    await json("shared?key=warm");
    const before = (await json("statements")) as number;
    expect(await json("shared?key=together&calls=12")).toBe(12);
    expect((await json("statements")) as number).toBe(before + 1);
    // 12 of 60 requests get all of their 3 tokens, and one request gets 1.
    const counts = await requestAtOnce(worker, "shared?key=three&calls=3");
    expect(counts).toEqual({ "3": 12, "1": 1, "0": 47 });
  });

  it("checks the table once for all limiters of requests", async () => {
    await json("onRequest?key=first");
    const before = (await json("statements")) as number;
    for (let i = 0; i < 10; i++) await json("onRequest?key=later");
    expect((await json("statements")) as number).toBe(before + 10);
  });

  it("ends what follows an answer by the host's waitUntil: events, and autoPrune", async () => {
    const db = await worker.d1("DB");
    await db.prepare(`INSERT INTO "RateLimit" VALUES ('spent', 'long ago', 0, 0, 0)`).all();
    expect(await json("spend?key=a")).toMatchObject({ ok: true });
    await expect.poll(() => json("events"), { timeout: 10_000 }).toEqual(["spent"]);
    await expect.poll(() => json("rows"), { timeout: 10_000 }).not.toContain("long ago");
  });

  it("refuses autoPrune without waitUntil, in words", async () => {
    expect(await json("refused")).toContain("autoPrune needs waitUntil on Cloudflare Workers");
  });
});
