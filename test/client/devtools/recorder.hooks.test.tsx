// @vitest-environment jsdom
/** The devtools record calls that hooks send, keep back and hold. */
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Recorder } from "../../../client/devtools/recorder.js";
import { rateLimitLink } from "../../../client/index.js";
import { observersOf } from "../../../client/transport.js";
import { untypedOf } from "../../../client/trpc-clients.js";
import type { WhenLimited } from "../../../client/types.js";
import { startPage, useRateLimitedMutation } from "../../support/page.js";
import { soon } from "../../support/soon.js";

afterEach(cleanup);

type Page = Awaited<ReturnType<typeof startPage>>;

/** A page with one mutation of one token, whose calls the devtools record. */
async function record(
  page: Page,
  {
    name = "hourly",
    whenLimited = "reject" as WhenLimited,
    inTurn = false,
  }: { name?: "hourly" | "sendMessage"; whenLimited?: WhenLimited; inTurn?: boolean } = {},
) {
  const untyped = untypedOf(page.client);
  const observers = observersOf(untyped.runtime);
  const recorder = new Recorder(observers, untyped);
  let last: Promise<unknown> = Promise.resolve();
  function take() {
    const send = () => page.client.take.mutate({ name });
    return (last = inTurn ? last.then(send) : send());
  }
  function Button() {
    const mutation = useRateLimitedMutation(name, {
      mutationFn: take,
      whenLimited,
    });
    return <button onClick={() => mutation.mutate()}>Take</button>;
  }
  page.render(<Button />);
  await soon(() => expect([...observers][0]?.connection).toBe("live"));
  recorder.timeline.clear();
  return {
    recorder,
    send: () => fireEvent.click(screen.getByRole("button")),
    events: () =>
      recorder.timeline.events
        .filter(({ kind }) => kind !== "corrected")
        .map(({ kind, count, path, text, times }) => `${kind} ${count} ${path} ${text} ×${times}`)
        .reverse(),
  };
}

it("tells a call of a hook once, with the procedure that it sent", async () => {
  await using page = await startPage();
  const { send, events, recorder } = await record(page);
  send();
  await soon(() => expect(events()).toEqual(["granted 1 take  ×1"]));
  send();
  await soon(() => expect(events()).toEqual(["granted 1 take  ×2"]));
  expect(recorder.procedures.of("hourly")).toEqual([{ path: "take", evidence: "hook" }]);
});

it("tells of each call for itself, where several start together and are sent one by one", async () => {
  await using page = await startPage();
  const { send, events } = await record(page, { inTurn: true });
  for (let i = 0; i < 3; i++) send();
  await soon(() => expect(events()).toEqual(["granted 1 take  ×3"]));
});

it("tells it once, where a link has the same limit", async () => {
  const link = rateLimitLink({ limits: { take: "hourly" } });
  await using page = await startPage({ links: [link] });
  const { send, events, recorder } = await record(page);
  send();
  await soon(() => expect(events()).toEqual(["granted 1 take  ×1"]));
  expect(recorder.procedures.of("hourly")).toEqual([{ path: "take", evidence: "link" }]);
});

it("tells a denial that the hook has predicted, so that nothing was sent", async () => {
  await using page = await startPage();
  const { send, events } = await record(page);
  for (let i = 0; i < 3; i++) send();
  await soon(() => expect(events()).toEqual(["granted 1 take  ×3"]));
  const before = page.server.requests("take");
  send();
  await soon(() =>
    expect(events().at(-1)).toMatch(
      /^denied 1 undefined by the page, which did not send it: try again in/,
    ),
  );
  expect(page.server.requests("take")).toBe(before);
});

it("tells a denial of the server once, and not that a debit was given back", async () => {
  await using page = await startPage();
  const { send, events } = await record(page, { whenLimited: "send" });
  await page.limiter.limit("hourly", { count: 3 });
  send();
  await soon(() =>
    expect(events()).toEqual([expect.stringMatching(/^denied 1 take try again in .* ×1$/)]),
  );
});

it("tells how many calls a hook holds, and that the first one is granted", async () => {
  await using page = await startPage();
  const { send, events, recorder } = await record(page, {
    name: "sendMessage",
    whenLimited: "wait",
  });
  const [observer] = recorder.observers;
  await page.limiter.limit("sendMessage", { count: 3 });
  await soon(() => expect(observer!.remaining({ name: "sendMessage" })).toBe(0));
  send();
  send();
  await soon(() =>
    expect(events().slice(0, 2)).toEqual([
      "waiting undefined undefined a call waits in the page ×1",
      "waiting undefined undefined 2 calls wait in the page ×1",
    ]),
  );
  // One that goes a few ms too early is denied, and waits again.
  const granted = () => recorder.timeline.events.filter(({ kind }) => kind === "granted");
  await soon(() => expect(granted()).toMatchObject([{ count: 1, path: "take", times: 1 }]));
});
