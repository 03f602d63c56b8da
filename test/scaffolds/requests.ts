/** What every scaffold has to answer: a limit of three, its status, and the fourth call's denial. */
import { expect } from "vitest";

interface Options {
  /** Whether the application's transformer is superjson. */
  superjson: boolean;
}

export async function expectLimitedPing(url: string, { superjson }: Options): Promise<void> {
  const unwrap = (value: unknown) => (superjson ? (value as { json: unknown }).json : value);
  const name = { name: "createPost" };
  const input = encodeURIComponent(JSON.stringify(superjson ? { json: name } : name));
  const status = await fetch(`${url}/api/trpc/rateLimit.status?input=${input}`);
  expect(status.status).toBe(200);
  const { result } = (await status.json()) as { result: { data: unknown } };
  expect(unwrap(result.data)).toMatchObject({ name: "createPost", value: 3 });

  const headers = { "content-type": "application/json" };
  const ping = () => fetch(`${url}/api/trpc/ping`, { method: "POST", headers, body: "{}" });
  for (let call = 0; call < 3; call++) expect((await ping()).status).toBe(200);
  const denied = await ping();
  expect(denied.status).toBe(429);
  const { error } = (await denied.json()) as { error: unknown };
  expect(unwrap(error)).toMatchObject({
    data: { rateLimit: { kind: "RateLimited", name: "createPost" } },
  });
}
