/** Limits that the server refuses to report: the page shows an error, and does not ask again in a loop. */
import { TRPCClientError } from "@trpc/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HOUR } from "../../server/index.js";
import { pass, snapshotOf, startAsking, startByHand } from "../support/hand-transport.js";
import { startLimitServer } from "../support/limit-server.js";
import { settled, soon } from "../support/soon.js";

const [STATUS, WATCH] = ["rateLimit.status", "rateLimit.watch"];
const LIMITS = { hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 } } as const;
const [open, secret] = [{ name: "hourly" }, { name: "hourly", key: "secret" }];

const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
beforeEach(() => void warning.mockClear());
afterEach(() => void vi.useRealTimers());

describe("a limit that the server refuses", () => {
  it.each([true, false])("has an error, and is not asked for again; stream: %s", async (stream) => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer({ stream, pollInterval: 20 });
    const onChange = vi.fn();
    observer.observe(secret, 1, onChange);
    expect(observer.error(secret)).toBeUndefined();
    await soon(() => expect(observer.error(secret)).toBeInstanceOf(TRPCClientError));
    expect(observer.error(secret)).toMatchObject({ data: { code: "BAD_REQUEST" } });
    expect(onChange).toHaveBeenCalled();
    expect(observer.status(secret, 1)).toBeUndefined();
    expect(observer.connection).toBe("polling");
    await settled(() => app.server.requests());
    const [requests, error] = [app.server.requests(), observer.error(secret)];
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(app.server.requests()).toBe(requests);
    expect(observer.error(secret)).toBe(error);
    // The page wakes up.
    observer.refresh();
    await soon(() => expect(app.server.requests(STATUS)).toBeGreaterThan(1));
    await settled(() => app.server.requests());
    expect(warning).toHaveBeenCalledTimes(1);
    expect(warning.mock.calls[0]![0]).toContain('"hourly"');
  });

  it("leaves the other limits their stream", async () => {
    await using app = await startLimitServer(LIMITS);
    const observer = app.observer({ pollInterval: 50 });
    for (const item of [open, secret]) observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    expect(observer.error(open)).toBeUndefined();
    await soon(() => expect(app.server.open(WATCH)).toBe(1));
    await app.limiter.limit("hourly");
    await soon(() => expect(observer.remaining(open)).toBe(2));
    const [streams, asked] = [app.server.requests(WATCH), app.server.requests(STATUS)];
    observer.refresh();
    await soon(() => expect(app.server.requests(STATUS)).toBe(asked + 2));
    await settled(() => app.server.requests());
    expect(app.server.requests(WATCH)).toBe(streams);
    expect(observer.connection).toBe("live");
  });
});

/** An error as a tRPC client throws it. */
const refusal = (httpStatus: number) =>
  Object.assign(new Error("refused"), { data: { httpStatus } });

describe("on a server that the test controls", () => {
  const [a, b] = [{ name: "a" }, { name: "b" }];
  beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));

  it("asks again when the observed limits change, and forgets the error with an answer", async () => {
    const { observer, requests, streams } = startByHand({ pollInterval: 1000 });
    const onChange = vi.fn();
    observer.observe(a, 1, onChange);
    await pass(1);
    requests[0]!.fail(refusal(401));
    await pass(60_000);
    expect(requests).toEqual([]);
    expect(observer.error(a)).toMatchObject({ message: "refused" });
    expect(streams.every(({ isClosed }) => isClosed)).toBe(true);
    onChange.mockClear();
    observer.observe(b, 1, () => {});
    await pass(1);
    expect(requests.map(({ name }) => name).toSorted()).toEqual(["a", "b"]);
    expect(streams.at(-1)!.names).toEqual(["b"]);
    for (const request of requests.splice(0)) request.answer(3);
    await pass(1);
    expect(observer.error(a)).toBeUndefined();
    expect(observer.status(a, 1)?.ok).toBe(true);
    expect(onChange).toHaveBeenCalled();
    // The stream has both of them now.
    expect(streams.at(-1)!.names).toEqual(["a", "b"]);
    for (const name of ["a", "b"]) streams.at(-1)!.onSnapshot(snapshotOf(name, 3));
    expect(observer.connection).toBe("live");
  });

  it.each([408, 429, 499, 500, 503])("goes on polling after HTTP %d", async (httpStatus) => {
    const { observer, requests } = await startAsking({ isStreamless: true, pollInterval: 1000 });
    requests[0]!.fail(refusal(httpStatus));
    await pass(2000);
    expect(requests).toHaveLength(1);
    expect(observer.error(a)).toBeUndefined();
    expect(warning).not.toHaveBeenCalled();
  });

  it("keeps the last known state of a limit that it may no longer ask for", async () => {
    const { observer, requests } = await startAsking({ isStreamless: true, pollInterval: 1000 });
    requests[0]!.answer(0);
    await pass(1000);
    requests[0]!.fail(refusal(403));
    await pass(10_000);
    expect(requests).toEqual([]);
    expect([observer.status(a, 1)?.ok, observer.error(a) instanceof Error]).toEqual([false, true]);
  });

  it("does not warn in production", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const { observer, requests } = await startAsking();
    requests[0]!.fail(refusal(400));
    await pass(1);
    vi.unstubAllEnvs();
    expect(observer.error(a)).toBeDefined();
    expect(warning).not.toHaveBeenCalled();
  });
});
