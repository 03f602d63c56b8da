/** Values that are not a client. The clients themselves are tested in `test/redis`. */
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { redisPort } from "../../../../server/redis/clients/recognize-client.js";

const open = (client: unknown) => () => redisPort(client as never);
const method = () => undefined;

describe("redisPort", () => {
  it.each([
    ["nothing", undefined],
    ["a URL", "redis://127.0.0.1:6379"],
    ["options", { host: "127.0.0.1" }],
    ["a class", Redis],
  ])("names the clients that it knows when it is given %s", (_, client) => {
    expect(open(client)).toThrow(/^redisStore needs a client of ioredis 5 or 6, .* for a cluster$/);
  });

  it("says that a promise has to be awaited", () => {
    expect(open(Promise.resolve())).toThrow(/this is a promise: await it first$/);
  });

  it("says which kinds of node-redis it does not take", () => {
    expect(open({ isOpen: true, sendCommand: method })).toThrow(/node-redis 4 is not supported/);
    expect(open({ isOpen: true, sendCommand: method, acquire: method })).toThrow(/createSentinel/);
  });

  it("refuses a pipeline, and shows no password of its client", () => {
    const client = new Redis({ lazyConnect: true, password: "secret" });
    expect(open(client.pipeline())).toThrow(/this is a pipeline of one$/);
    try {
      redisPort(client.pipeline() as never);
    } catch (error) {
      expect(String(error)).not.toContain("secret");
    }
  });

  it("knows by their options which clients send commands again", () => {
    const resends = (options: object) =>
      redisPort(new Redis({ lazyConnect: true, ...options })).resends;
    expect(resends({})).toBe(true);
    expect(resends({ maxRetriesPerRequest: null })).toBe(true);
    expect(resends({ maxRetriesPerRequest: 0 })).toBe(false);
    expect(resends({ autoResendUnfulfilledCommands: false })).toBe(false);
  });

  it("says that a client of node-redis has to be connected", async () => {
    const port = redisPort({ isOpen: false, sendCommand: method, withTypeMapping: method });
    await expect(port.send(["PING"], undefined)).rejects.toThrow(/await client.connect\(\)/);
  });
});
