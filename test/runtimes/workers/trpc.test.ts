import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { EventSource } from "eventsource";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRateLimitError } from "../../../core/errors.js";
import { emptyTable } from "./d1-database.js";
import { hasWorkerd, NO_WORKERD, type StartedWorker, startWorker } from "./start-worker.js";
import type { WorkerRouter } from "./trpc-worker.js";

describe.skipIf(!hasWorkerd)(`tRPC in a Worker (${NO_WORKERD})`, () => {
  let worker: StartedWorker;
  beforeAll(async () => {
    worker = await startWorker(new URL("trpc-worker.ts", import.meta.url), { d1Databases: ["DB"] });
    await emptyTable(await worker.d1("DB"));
  });
  afterAll(() => worker[Symbol.asyncDispose]());

  function connect(user: string) {
    const url = `${worker.url}trpc`;
    const fetchAs = (input: string | URL | Request, init?: RequestInit) =>
      fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), user } });
    return createTRPCClient<WorkerRouter>({
      links: [
        splitLink({
          condition: ({ type }) => type === "subscription",
          true: httpSubscriptionLink({
            url,
            EventSource: class extends EventSource {
              constructor(address: string | URL) {
                super(address, { fetch: fetchAs as never });
              }
            } as never,
          }),
          false: httpBatchLink({ url, headers: { user }, maxItems: 1 }),
        }),
      ],
    });
  }

  const sent = (client: ReturnType<typeof connect>) =>
    client.send.mutate().catch((error: unknown) => (isRateLimitError(error) ? "denied" : error));

  it("the middleware grants exactly its tokens to simultaneous requests", async () => {
    for (let round = 0; round < 3; round++) {
      const client = connect(`sender ${round}`);
      const answers = await Promise.all(Array.from({ length: 60 }, () => sent(client)));
      expect(answers.filter((answer) => answer === "sent")).toHaveLength(37);
      expect(answers.filter((answer) => answer === "denied")).toHaveLength(23);
    }
  });

  it("a stream shows what other requests have taken, each to its own reader", async () => {
    const readers = ["ada", "bob", "ada"].map((user) => {
      const seen: number[] = [];
      const subscription = connect(user).rateLimit.watch.subscribe(
        { items: [{ name: "send" }] },
        { onData: ({ value }) => seen.push(value) },
      );
      return { seen, subscription };
    });
    const lastSeen = () => readers.map(({ seen }) => seen.at(-1));
    await expect.poll(lastSeen, { timeout: 30_000 }).toEqual([37, 37, 37]);
    expect(await sent(connect("ada"))).toBe("sent");
    expect(await sent(connect("bob"))).toBe("sent");
    expect(await sent(connect("bob"))).toBe("sent");
    await expect.poll(lastSeen, { timeout: 30_000 }).toEqual([36, 35, 36]);
    // The first reader leaves, and the other readers still get changes.
    readers[0]!.subscription.unsubscribe();
    expect(await sent(connect("ada"))).toBe("sent");
    await expect.poll(() => readers[2]!.seen.at(-1), { timeout: 30_000 }).toBe(35);
    for (const { subscription } of readers) subscription.unsubscribe();
  });
});
