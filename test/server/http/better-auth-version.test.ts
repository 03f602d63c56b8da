/**
 * Versions of better-auth that are too old. `npm run install:test-projects` installs them. Without them,
 * the tests report that they are skipped.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  betterAuthPlugin,
  betterAuthStorage,
  createRateLimiter,
  memoryStore,
  MINUTE,
} from "../../../server/index.js";

const PROJECT = fileURLToPath(new URL("../../better-auth/", import.meta.url));
const isInstalled = existsSync(`${PROJECT}node_modules/better-auth-1-5`);
/** Computed, because what it imports may not be there. */
const AUTH = `${PROJECT}old-auth.ts`;
type Create = (parts: object) => { handler(request: Request): Promise<Response> };

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { logIns: { kind: "token bucket", rate: 5, period: MINUTE } },
});
const plugin = () =>
  betterAuthPlugin(limiter, { "/sign-in/email": { name: "logIns", key: () => "ada" } });

const signIn = () =>
  new Request("http://localhost/api/auth/sign-in/email", {
    method: "POST",
    headers: { "content-type": "application/json", "x-real-ip": "192.0.2.1" },
    body: JSON.stringify({ email: "ada@example.com", password: "a guess" }),
  });

if (!isInstalled) {
  it("refuses old versions of better-auth", ({ skip }) => {
    skip("needs npm run install:test-projects");
  });
}

describe.skipIf(!isInstalled)("an old better-auth", async () => {
  const { createAuth15, createAuth16 } = (
    isInstalled ? await import(/* @vite-ignore */ AUTH) : {}
  ) as Record<"createAuth15" | "createAuth16", Create>;

  it("is told by the storage which version it needs, where it cannot charge in one step", async () => {
    const auth = createAuth15({ customStorage: betterAuthStorage(limiter) });
    await expect(auth.handler(signIn())).rejects.toThrow(
      "betterAuthStorage needs better-auth 1.7 or later: this version reads and writes a count in two " +
        "steps, between which other requests pass; update better-auth",
    );
  });

  it("is limited by the storage where it can charge in one step", async () => {
    const auth = createAuth16({ customStorage: betterAuthStorage(limiter) });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await auth.handler(signIn())).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
  });

  it.each([
    ["1.5", "1.5.6", () => createAuth15],
    ["1.6", "1.6.34", () => createAuth16],
  ])("is told by the plugin which version it needs: %s", async (_name, version, create) => {
    const auth = create()({ plugins: [plugin()] });
    await expect(auth.handler(signIn())).rejects.toThrow(
      `betterAuthPlugin needs better-auth 1.7 or later, got ${version}; update better-auth`,
    );
  });
});

it.each(["1.7.0", "1.7.25", "1.10.0", "2.0.0", undefined, "canary"])(
  "the plugin starts with version %s",
  (version) => {
    const start = { version, options: {}, logger: { warn: expect.unreachable } };
    expect(plugin().init(start)).toBeUndefined();
  },
);
