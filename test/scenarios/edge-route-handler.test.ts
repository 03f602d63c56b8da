// @vitest-environment edge-runtime
import { expect, it } from "vitest";
import {
  betterAuthStorage,
  createRateLimiter,
  ipKey,
  memoryStore,
  MINUTE,
  rateLimitResponse,
} from "../../server/index.js";

it("answers a route handler in a runtime without Node", async () => {
  expect((globalThis as { EdgeRuntime?: string }).EdgeRuntime).toBeDefined();
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { send: { kind: "token bucket", rate: 1, period: MINUTE } },
  });
  async function POST(request: Request): Promise<Response> {
    try {
      const key = ipKey(request.headers.get("x-real-ip"));
      await limiter.limit("send", { key, throws: true });
      return new Response("sent");
    } catch (error) {
      return rateLimitResponse(error);
    }
  }
  const post = (address: string) =>
    POST(new Request("https://example.com/", { headers: { "x-real-ip": address } }));
  expect((await post("2001:db8::1")).status).toBe(200);
  expect((await post("2001:db8::2")).status).toBe(429);
  expect((await post("2001:db8:0:1::1")).status).toBe(200);
  expect((await post("unknown")).status).toBe(400);

  const storage = betterAuthStorage(limiter);
  const path = `192.0.2.1|/${"long/".repeat(1000)}`;
  expect(await storage.consume(path, { window: 60, max: 1 })).toMatchObject({ allowed: true });
  expect(await storage.consume(path, { window: 60, max: 1 })).toMatchObject({ allowed: false });
  expect(await storage.consume(`${path}x`, { window: 60, max: 1 })).toMatchObject({
    allowed: true,
  });
});
