import { describe, expect, it } from "vitest";
import { emptyTable } from "./d1-database.js";
import { hasWorkerd, NO_WORKERD, startWorker } from "./start-worker.js";

describe.skipIf(!hasWorkerd)(`Hono's middleware in a Worker (${NO_WORKERD})`, () => {
  it("lets exactly its tokens through, with their header fields", async () => {
    await using worker = await startWorker(new URL("hono-worker.ts", import.meta.url), {
      d1Databases: ["DB"],
    });
    await emptyTable(await worker.d1("DB"));
    for (let round = 0; round < 3; round++) {
      const requests = Array.from({ length: 60 }, async () => worker.fetch(`?key=${round}`));
      const answers = await Promise.all(requests);
      const granted = answers.filter(({ status }) => status === 200);
      const denied = answers.filter(({ status }) => status === 429);
      expect([granted.length, denied.length]).toEqual([37, 23]);
      expect(granted[0]!.headers.get("RateLimit-Policy")).toBe('"send";q=37;w=60');
      expect(denied[0]!.headers.get("Retry-After")).toMatch(/^[12]$/);
      expect(await denied[0]!.json()).toMatchObject({ kind: "RateLimited", name: "send" });
    }
    expect((await worker.fetch("")).status).toBe(400);
  });
});
