/**
 * The requests that every scaffold must answer: three calls within a limit of three, its status, and the
 * fourth call's denial.
 */
import { expect } from "vitest";

/** What superjson makes of a value. */
interface Wrapped {
  json: unknown;
}

export async function expectLimitedPing(url: string): Promise<void> {
  const input = encodeURIComponent(JSON.stringify({ json: { name: "createPost" } }));
  const status = await fetch(`${url}/api/trpc/rateLimit.status?input=${input}`);
  expect(status.status).toBe(200);
  const { result } = (await status.json()) as { result: { data: Wrapped } };
  expect(result.data.json).toMatchObject({ name: "createPost", value: 3 });

  const headers = { "content-type": "application/json" };
  const ping = () => fetch(`${url}/api/trpc/ping`, { method: "POST", headers, body: "{}" });
  for (let call = 0; call < 3; call++) expect((await ping()).status).toBe(200);
  const denied = await ping();
  expect(denied.status).toBe(429);
  expect(denied.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  const { error } = (await denied.json()) as { error: Wrapped };
  expect(error.json).toMatchObject({
    data: { rateLimit: { kind: "RateLimited", name: "createPost" } },
  });
}
