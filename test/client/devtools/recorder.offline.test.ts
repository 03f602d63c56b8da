/** A page that the devtools take offline, also if its stream was opened before the devtools. */
import { expect, it, onTestFinished } from "vitest";
import { Recorder } from "../../../client/devtools/recorder.js";
import { observersOf } from "../../../client/transport.js";
import { untypedOf } from "../../../client/trpc-clients.js";
import { HOUR } from "../../../server/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { settled, soon } from "../../support/soon.js";

const LIMITS = {
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
} as const;
const item = { name: "hourly" } as const;

/** @param isLate whether the plugin is made when the stream is live, as where it is loaded later. */
async function startPage(isLate: boolean) {
  const app = await startLimitServer(LIMITS);
  onTestFinished(() => app[Symbol.asyncDispose]());
  const client = app.server.connect();
  const untyped = untypedOf(client);
  const record = () => new Recorder(observersOf(untyped.runtime), untyped);
  const early = isLate ? undefined : record();
  const observer = app.observe(client);
  let changes = 0;
  observer.observe(item, 1, () => changes++);
  await soon(() => expect(observer.connection).toBe("live"));
  await settled(() => app.server.requests());
  return { ...app, client, observer, recorder: early ?? record(), changes: () => changes };
}

it.each([
  { when: "before its stream", isLate: false },
  { when: "after its stream", isLate: true },
])("knows nothing of the server until it is online again: made $when", async ({ isLate }) => {
  const page = await startPage(isLate);
  const before = page.changes();
  page.recorder.setOffline(true);
  await soon(() => expect(page.observer.connection).toBe("offline"));
  expect(page.changes()).toBeGreaterThan(before);
  await expect(page.client.take.mutate({ name: "hourly" })).rejects.toThrow(
    "The devtools keep this page offline",
  );
  const { streamed } = page.observer.inspect();
  await page.limiter.limit("hourly", { count: 2 });
  // It came, and was not heard.
  await soon(() => expect(page.observer.inspect().streamed).toBe(streamed + 1));
  const asked = page.server.requests();
  page.observer.refresh();
  await settled(() => page.observer.remaining(item));
  expect(page.observer.remaining(item)).toBe(3);
  expect(page.server.requests()).toBe(asked);

  page.recorder.setOffline(false);
  await soon(() => expect(page.observer.remaining(item)).toBe(1));
  await soon(() => expect(page.observer.connection).toBe("live"));
  await page.limiter.limit("hourly");
  await soon(() => expect(page.observer.remaining(item)).toBe(0));
});

it("is a matter of one page, and not of another tab whose stream it holds", async () => {
  const page = await startPage(false);
  page.recorder.setOffline(true);
  await settled(() => page.server.requests());
  expect(page.server.open("rateLimit.watch")).toBe(1);
});

it("can be pretended in meanwhile", async () => {
  const page = await startPage(false);
  page.recorder.setOffline(true);
  page.recorder.pretend(page.observer, "hourly", "drained");
  expect(page.observer.remaining(item)).toBe(0);
  page.recorder.setOffline(false);
  await soon(() => expect(page.observer.remaining(item)).toBe(3));
});

it("stops calls that are on their way", async () => {
  const page = await startPage(false);
  const release = page.server.delay("take");
  const sent = page.client.take.mutate({ name: "hourly" });
  await soon(() => expect(page.server.requests("take")).toBe(1));
  page.recorder.setOffline(true);
  await expect(sent).rejects.toThrow("The devtools keep this page offline");
  release();
});
