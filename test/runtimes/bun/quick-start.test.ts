/** The quick start by hand, docs/guides/vite.md, by Bun instead of npm and Node.js. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createApplication } from "../../quick-start/application.js";
import { bun, NO_BUN } from "../../support/bun.js";

/** Why no package can be installed; `undefined` if packages can be installed. */
async function noRegistry(): Promise<string | undefined> {
  const args = ["view", "zod", "version", "--fetch-retries=0", "--fetch-timeout=10000"];
  return promisify(execFile)("npm", args).then(
    () => undefined,
    () => "needs npm's registry, which does not answer",
  );
}

describe.skipIf(bun === undefined)("the quick start by hand, in Bun", () => {
  it("grants three messages, and answers the fourth one with 429", async ({ skip }) => {
    const reason = await noRegistry();
    if (reason !== undefined) return skip(reason);
    await using application = await createApplication(bun);
    const url = await application.startApi();
    const send = () =>
      fetch(`${url}/trpc/send`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text: "Hello" }),
      });
    for (const id of [1, 2, 3]) {
      const sent = await send();
      expect(await sent.json()).toMatchObject({ result: { data: { id, text: "Hello" } } });
      expect(sent.status).toBe(200);
    }
    const denied = await send();
    expect(denied.status).toBe(429);
    const { error } = (await denied.json()) as {
      error: { data: { rateLimit: { retryAfter: number } } };
    };
    expect(error.data.rateLimit).toMatchObject({ kind: "RateLimited", name: "sendMessage" });
    expect(error.data.rateLimit.retryAfter).toBeGreaterThan(0);
    expect(error.data.rateLimit.retryAfter).toBeLessThanOrEqual(6000);
  });
});

if (bun === undefined) it("the quick start by hand, in Bun", ({ skip }) => skip(NO_BUN));
