/** Servers that the store refuses, and its error messages. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE } from "../../../server/index.js";
import type { RedisStoreOptions } from "../../../server/redis/index.js";
import { readPage } from "../../docs/pages.js";
import { missingForRedis, startRedis } from "../../redis/redis-server.js";
import { createRedisRows } from "../../support/redis-rows.js";

const limits = { calls: { kind: "token bucket", rate: 3, period: MINUTE } } as const;
const missing = missingForRedis();

async function start(settings: Record<string, string>, user = "") {
  const server = await startRedis(settings);
  onTestFinished(() => server.stop());
  const redis = createRedisRows(`redis://${user}127.0.0.1:${server.port}`);
  onTestFinished(() => {
    redis.client.disconnect();
  });
  const open = (options?: RedisStoreOptions, { overrides = false } = {}) =>
    createRateLimiter({ store: redis.open(options, { lazyConnect: false }), limits, overrides });
  return { server, open };
}

describe.skipIf(missing !== undefined)("a server of Redis", () => {
  it.each(["allkeys-lru", "volatile-ttl"])(
    "is refused with the policy %s, until that is changed",
    async (policy) => {
      const { server, open } = await start({ "maxmemory-policy": policy });
      const limiter = open();
      const message = new RegExp(
        `maxmemory-policy of Redis is ${policy}.*noeviction.*eviction: "ignore"`,
      );
      const kind = "StoreFailure";
      await expect(limiter.limit("calls")).rejects.toThrow(message);
      await expect(limiter.limit("calls")).rejects.toMatchObject({ kind });
      await server.run("CONFIG", "SET", "maxmemory-policy", "noeviction");
      expect(await limiter.limit("calls")).toMatchObject({ ok: true });
    },
  );

  it('may delete rows with `eviction: "ignore"`', async () => {
    const { open } = await start({ "maxmemory-policy": "allkeys-lru" });
    expect(await open({ eviction: "ignore" }).limit("calls")).toMatchObject({ ok: true });
  });

  it("has to allow INFO, or the operator has to know better", async () => {
    const { server, open } = await start({}, "limits:secret@");
    await server.run("ACL", "SETUSER", "limits", "on", ">secret", "~*", "&*", "+@all", "-info");
    await expect(open().limit("calls")).rejects.toThrow(/may not use INFO.*eviction: "ignore"/);
    expect(await open({ eviction: "ignore" }).limit("calls")).toMatchObject({ ok: true });
  });

  it("needs no other commands than docs/redis.md lists", async () => {
    const { text } = await readPage("docs/redis.md");
    const listed = text.slice(text.indexOf("## Permissions")).matchAll(/`([A-Z]+)`/g);
    const commands = [...listed].map(([, command]) => `+${command!.toLowerCase()}`);
    const { server, open } = await start({}, "limits:secret@");
    const rights = ["on", ">secret", "~test:*", "&*", "-@all", ...commands];
    await server.run("ACL", "SETUSER", "limits", ...rights);
    const limiter = open({}, { overrides: true });
    const options = { key: "ann" };
    expect(await limiter.limit("calls", options)).toMatchObject({ ok: true });
    await limiter.overrides.set("calls", { ...options, blocked: true });
    expect(await limiter.limit("calls", options)).toMatchObject({ ok: false });
    expect(await limiter.overrides.clear("calls", options)).toBe(true);
    expect((await limiter.list("calls")).items).toHaveLength(1);
    expect(await limiter.prune()).toBe(0);
    expect(await limiter.forget("ann")).toBe(1);
  });

  it("that is a replica is named as one, and no key is", async () => {
    const master = await startRedis();
    onTestFinished(() => master.stop());
    const { open } = await start({ replicaof: `127.0.0.1 ${master.port}` });
    const error: Error = await open()
      .limit("calls", { key: "a@example.org" })
      .then(
        () => new Error("granted"),
        (reason: Error) => reason,
      );
    expect(error.message).toMatch(/READONLY.*this is a replica: connect to the master/);
    expect(JSON.stringify([error, error.cause, String(error.cause)])).not.toContain("example.org");
    expect(Object.keys(error.cause!)).not.toContain("command");
  });
});

describe.runIf(missing !== undefined)("a server of Redis", () => {
  it("is refused if it deletes rows", ({ skip }) => skip(missing!));
});
