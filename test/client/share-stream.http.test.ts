/** Tabs that share a stream of a real server, through tRPC's client and Node's own BroadcastChannel. */
import { describe, expect, it } from "vitest";
import { createRateLimitObserver, createTRPCTransport } from "../../client/index.js";
import { shareStream } from "../../client/index.js";
import { type PageGlobals, shareStreamOn } from "../../client/share-stream.js";
import { MINUTE } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { soon } from "../support/soon.js";
import { createWebLocks } from "../support/web-locks.js";

const LIMITS = { bucket: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 5 } } as const;
const ITEM = { name: "bucket" } as const;

describe("tabs of one caller", () => {
  it("share one stream over HTTP, and the next leader reads what the last one missed", async () => {
    await using app = await startLimitServer(LIMITS, { clock: () => 1e12 });
    const locks = createWebLocks();
    const tabs = Array.from({ length: 20 }, () => {
      const client = locks.createClient((task) => setImmediate(task));
      const page: PageGlobals = {
        ...globalThis,
        Date,
        setInterval,
        setTimeout,
        BroadcastChannel,
        navigator: { locks: client.locks },
      };
      const transport = createTRPCTransport(app.server.connect(), "rateLimit");
      const observer = createRateLimitObserver({
        transport: shareStreamOn(page, transport, { caller: "ann" }),
        pollInterval: 60_000,
      });
      observer.observe(
        ITEM,
        1,
        () => {},
        () => true,
      );
      return { observer, client };
    });
    const areRight = (value: number) =>
      soon(() => {
        for (const { observer } of tabs) {
          expect([observer.remaining(ITEM), observer.connection]).toEqual([value, "live"]);
        }
        expect(app.server.open("rateLimit.watch")).toBe(1);
      });
    await areRight(5);
    // Each tab asks once by itself, and may know the answer from the stream before it arrives.
    await soon(() => expect(app.server.requests("rateLimit.status")).toBe(tabs.length));
    const asked = app.server.requests("rateLimit.status");
    for (let value = 4; value >= 0; value--) {
      // Each of them was the leader, or is: the first one waits for the lock the longest.
      tabs.shift()!.observer.close();
      await app.limiter.limit("bucket");
      await areRight(value);
    }
    expect(app.server.requests("rateLimit.status")).toBe(asked);
    for (const { observer } of tabs) observer.close();
    await soon(() => expect(app.server.open("rateLimit.watch")).toBe(0));
  });

  it("have their own streams where there are no Web Locks, as on Node 20", async () => {
    await using app = await startLimitServer(LIMITS);
    const transport = createTRPCTransport(app.server.connect(), "rateLimit");
    const isThere = "locks" in (globalThis.navigator ?? {});
    expect(shareStream(transport, { caller: "ann" }) === transport).toBe(!isThere);
    expect(shareStream(transport, { caller: undefined })).toBe(transport);
  });
});
