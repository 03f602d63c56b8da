// @vitest-environment edge-runtime
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { expect, it } from "vitest";
import { MINUTE } from "../../server/index.js";
import { rateLimitResponseMeta } from "../../server/trpc/index.js";
import { createLimitedTRPC } from "../support/limited-trpc.js";

it("grants, denies and streams in a runtime without Node", async () => {
  expect((globalThis as { EdgeRuntime?: string }).EdgeRuntime).toBeDefined();
  const { t, rl } = createLimitedTRPC({
    send: { kind: "token bucket", rate: 1, period: MINUTE },
  });
  const router = t.router({
    rateLimit: rl.router,
    send: t.procedure.use(rl.rateLimited("send")).query(() => true),
  });
  const get = (path: string) =>
    fetchRequestHandler({
      endpoint: "/api",
      req: new Request(`https://example.com/api/${path}`),
      router,
      responseMeta: rateLimitResponseMeta,
    });
  expect((await get("send")).status).toBe(200);
  const denied = await get("send");
  expect(denied.status).toBe(429);
  expect(denied.headers.get("Retry-After")).toBe("60");
  const input = encodeURIComponent(JSON.stringify({ items: [{ name: "send" }] }));
  const stream = await get(`rateLimit.watch?input=${input}`);
  const reader = stream.body!.getReader();
  let text = "";
  while (!text.includes('"name":"send"')) {
    const { value, done } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  expect(text).toContain('"value":0');
  await reader.cancel();
});
