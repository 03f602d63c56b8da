/** Visitors without an account ask for keys that they make up, as on a log-in page. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, ipKey, memoryStore, MINUTE } from "../../../server/index.js";
import type { KeyResolverOptions } from "../../../server/trpc/index.js";
import { type Door, DOORS, openDoor } from "../../support/live-doors.js";

const config = { kind: "token bucket", rate: 100, period: MINUTE } as const;
type Items = { name: "account" | "address"; key?: string }[];

/** The router of the guide to failed log-ins. */
function start(door: Door, options: { maxStreams?: number; hasAddress?: boolean } = {}) {
  const { hasAddress = true, ...rest } = options;
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { account: config, address: config },
  });
  const createCaller = openDoor<{ address: string }, Items[number]["name"]>(door, {
    limiter,
    ...rest,
    expose: hasAddress ? ["account", "address"] : ["account"],
    key({ ctx, name, requested }: KeyResolverOptions<{ address: string }, string>) {
      if (name === "address") return ipKey(ctx.address);
      return requested === undefined ? null : `${requested} ${ctx.address}`;
    },
  });

  /** The answer to the opening of a stream, which then stays open. */
  async function open(address: string, items: Items) {
    const connection = new AbortController();
    onTestFinished(() => connection.abort());
    const { watch } = createCaller({ address }, { signal: connection.signal });
    const stream = (await watch({ items }))[Symbol.asyncIterator]();
    const first = await stream.next().then(
      () => "open",
      (error: Error) => error.message,
    );
    const close = async () => {
      connection.abort();
      await stream.return!(undefined);
    };
    return { first, close };
  }
  return { open };
}

let made = 0;
const accounts = (count: number): Items =>
  Array.from({ length: count }, () => ({ name: "account", key: `made up ${made++}` }));
const tooMany = "This caller has 10 streams open, and may not have more";

describe.each(DOORS)("over the %s", (door) => {
  it("a visitor counts by its address, whatever keys it makes up", async () => {
    const { open } = start(door);
    const answers: string[] = [];
    for (let i = 0; i < 30; i++) answers.push((await open("192.0.2.1", accounts(100))).first);
    expect(answers.filter((answer) => answer === "open")).toHaveLength(10);
    expect(answers.filter((answer) => answer === tooMany)).toHaveLength(20);
    expect((await open("192.0.2.2", accounts(1))).first).toBe("open");
  });

  it("the streams of a process follow a bounded number of keys that were made up", async () => {
    const { open } = start(door, { maxStreams: 2 });
    const streams: Awaited<ReturnType<typeof open>>[] = [];
    for (let i = 0; i < 12; i++) streams.push(await open(`192.0.2.${i}`, accounts(100)));
    expect(streams.filter(({ first }) => first === "open")).toHaveLength(10);
    expect(streams.at(-1)!.first).toBe(
      "Streams of this process follow 1000 requested keys, and may not follow more",
    );
    // Keys that nobody can make up are not refused.
    expect((await open("192.0.2.99", [{ name: "address" }])).first).toBe("open");
    await streams[0]!.close();
    expect((await open("192.0.2.98", accounts(100))).first).toBe("open");
  });

  it("also where no limit has the address of a visitor", async () => {
    const { open } = start(door, { maxStreams: 1, hasAddress: false });
    const answers: string[] = [];
    for (let i = 0; i < 7; i++) answers.push((await open("192.0.2.1", accounts(100))).first);
    expect(answers.filter((answer) => answer === "open")).toHaveLength(5);
  });
});
