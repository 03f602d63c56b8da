import { describe, expect, it, onTestFinished, vi } from "vitest";
import { changeDigest, createRateLimiter, MINUTE } from "../../../server/index.js";
import { redisChannel } from "../../../server/redis/index.js";
import { connectRedis } from "../../support/open-redis.js";
import { createRedisRows, NO_REDIS, redisUrl } from "../../support/redis-rows.js";
import { soon } from "../../support/soon.js";

const limits = { send: { kind: "token bucket", rate: 1000, period: MINUTE } } as const;
const digest = changeDigest("send", "a");

async function start(processes: number) {
  const rows = createRedisRows();
  onTestFinished(() => rows[Symbol.asyncDispose]());
  const channel = `${rows.prefix}changes`;
  const all = Array.from({ length: processes }, () => {
    const client = connectRedis(redisUrl!);
    const changes = redisChannel(client, { channel });
    onTestFinished(async () => {
      await changes.close();
      client.disconnect();
    });
    const limiter = createRateLimiter({ store: rows.open(), limits, channel: changes });
    const received: string[] = [];
    limiter.onChange((each) => void received.push(each));
    return { client, limiter, received };
  });
  const listening = async () =>
    Number(((await rows.client.pubsub("NUMSUB", channel)) as unknown[])[1]);
  await soon(async () => expect(await listening()).toBe(processes));
  return { all, client: rows.client, channel, listening };
}

describe.skipIf(redisUrl === undefined)("redisChannel", () => {
  it("notifies the other processes of a change, and not its own", async () => {
    const { all } = await start(3);
    await all[0]!.limiter.limit("send", { key: "a" });
    await soon(() => {
      expect(all.slice(1).map(({ received }) => received)).toEqual([[digest], [digest]]);
    });
    // Its own was told without the channel.
    expect(all[0]!.received).toEqual([digest]);
  });

  it("sends neither names nor keys, and ignores what is no digest", async () => {
    const { all, client, channel } = await start(1);
    const messages: string[] = [];
    const spy = client.duplicate();
    onTestFinished(() => spy.disconnect());
    spy.on("message", (_, message) => messages.push(message));
    await spy.subscribe(channel);
    for (const odd of ["", "{", "1", '["x", 5, null, "../..", "a very long one"]', "[[1]]"]) {
      await client.publish(channel, odd);
    }
    await client.publish(channel, JSON.stringify(["another", digest]));
    await soon(() => expect(all[0]!.received).toEqual([digest]));
    await all[0]!.limiter.limit("send", { key: "a" });
    await soon(() => expect(messages).toHaveLength(7));
    expect(messages.at(-1)).not.toMatch(/send|"a"/);
  });

  it("carries messages to the other processes, and drops what is too long", async () => {
    const name = `messages ${Math.random()}`;
    const [one, two] = [0, 1].map(() => {
      const client = connectRedis(redisUrl!);
      const changes = redisChannel(client, { channel: name });
      onTestFinished(async () => {
        await changes.close();
        client.disconnect();
      });
      return { ...changes, client };
    }) as [ReturnType<typeof redisChannel> & { client: ReturnType<typeof connectRedis> }, never];
    const received: unknown[] = [];
    (two as typeof one).receive!((message) => void received.push(message));
    await soon(() => {
      one.send!("hello");
      expect(received).toContain("hello");
    });
    for (const odd of ['["x",{"message":1},{"other":2},{}]', '[{"message":3}]', '{"message":4}']) {
      await one.client.publish(name, odd);
    }
    one.send!("x".repeat(8000));
    one.send!(["last"]);
    await soon(() => expect(received.at(-1)).toEqual(["last"]));
    expect(received.filter((message) => message !== "hello")).toEqual([1, ["last"]]);
  });

  it("hears again after its connection was lost", async () => {
    const { all, client, listening } = await start(2);
    await client.client("KILL", "TYPE", "pubsub");
    await vi.waitFor(async () => expect(await listening()).toBe(2), { timeout: 5000 });
    await all[0]!.limiter.limit("send", { key: "a" });
    await soon(() => expect(all[1]!.received).toEqual([digest]));
  });

  it("takes a connection of the application, and asks for one where it can make none", async () => {
    const client = connectRedis(redisUrl!);
    const subscriber = connectRedis(redisUrl!);
    onTestFinished(() => [client, subscriber].forEach((each) => each.disconnect()));
    const received: string[] = [];
    const channel = `given ${Math.random()}`;
    const own = redisChannel(client, { channel, subscriber });
    own.subscribe((each) => void received.push(each));
    const other = redisChannel(client, { channel });
    onTestFinished(async () => {
      await own.close();
      await other.close();
    });
    await soon(async () => expect(await client.pubsub("NUMSUB", channel)).toContain(1));
    void other.publish(digest);
    await soon(() => expect(received).toEqual([digest]));
    const upstash = { exec() {}, evalsha() {}, pipeline() {} };
    expect(() => redisChannel(upstash as never)).toThrow(
      /^subscriber must be a connection of ioredis or node-redis, got undefined/,
    );
  });

  it("leaves a connection of the application without its listeners", async () => {
    const subscriber = connectRedis(redisUrl!);
    const client = connectRedis(redisUrl!);
    onTestFinished(() => [client, subscriber].forEach((each) => each.disconnect()));
    const before = subscriber.listenerCount("message");
    const subscribe = vi.spyOn(subscriber, "subscribe").mockRejectedValueOnce(new Error("down"));
    const channel = redisChannel(client, { channel: `given ${Math.random()}`, subscriber });
    channel.subscribe(() => {});
    await soon(() => expect(subscriber.listenerCount("message")).toBe(before));
    channel.subscribe(() => {});
    expect(subscriber.listenerCount("message")).toBe(before + 1);
    await channel.close();
    expect(subscriber.listenerCount("message")).toBe(before);
    channel.subscribe(() => {});
    expect(subscribe).toHaveBeenCalledTimes(2);
    expect(subscriber.listenerCount("message")).toBe(before);
  });
});

describe.runIf(redisUrl === undefined)("redisChannel", () => {
  it("notifies other processes", ({ skip }) => skip(NO_REDIS));
});
