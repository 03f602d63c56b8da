// @vitest-environment jsdom
/** A page that is open while an administrator bans, exempts and raises its user. */
import { act, cleanup } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { HOUR } from "../../../server/index.js";
import { startPage, textOf, useRateLimit } from "../../support/page.js";
import { soon } from "../../support/soon.js";

afterEach(cleanup);

/** Any instant: what an exempt caller gets does not depend on it. */
const LATER = Date.UTC(2100, 0, 1);

function Shown() {
  const { status, value, config } = useRateLimit("hourly");
  const { check } = useRateLimit("hourly");
  const shown = [
    status?.ok,
    status?.retryAt ?? "now",
    value,
    config?.capacity,
    check(LATER, 50)?.retryAt,
  ];
  return <p data-testid="a">{shown.map(String).join()}</p>;
}

describe.each(["stream", "poll"] as const)("an open page (%s)", (live) => {
  it("shows a ban, an exemption, a higher limit, and the end of each", async () => {
    await using page = await startPage({ overrides: true });
    page.render(<Shown />, { live });
    await soon(() => expect(textOf("a")).toMatch(/^true,now,3,3/));
    const { overrides } = page.limiter;
    const until = page.limiter.clock() + HOUR;
    await act(() => overrides.set("hourly", { blocked: true, until }));
    await soon(() => expect(textOf("a")).toMatch(/^false,\d+,0,3/));
    const retryAt = Number(textOf("a")!.split(",")[1]);
    // The clocks of the page and of the server are one, up to half a round trip.
    expect(Math.abs(retryAt - until)).toBeLessThan(1000);
    const denied = page.client.take.mutate({ name: "hourly" });
    await expect(denied).rejects.toMatchObject({
      data: { rateLimit: { name: "hourly", value: 0, config: { starts: [until] } } },
    });
    await act(() => overrides.set("hourly", { unlimited: true }));
    await soon(() => expect(textOf("a")).toMatch(/^true,now,3,3,undefined$/));
    await page.client.take.mutate({ name: "hourly", count: 50 });
    await act(() => overrides.set("hourly", { times: 2 }));
    // The exemption, and the ban beneath it, lie over the raise.
    await act(() => overrides.clear("hourly", { only: "unlimited" }));
    await soon(() => expect(textOf("a")).toMatch(/^false,\d+,0,6/));
    await act(() => overrides.clear("hourly", { only: "blocked" }));
    // The row has 3 of 6 tokens, or is not there yet, and full.
    await soon(() => expect(textOf("a")).toMatch(/^true,now,6,6/));
    await page.client.take.mutate({ name: "hourly", count: 5 });
    await soon(() => expect(textOf("a")).toMatch(/^true,now,1(\.\d+)?,6/));
    await act(() => overrides.clear("hourly"));
    // 5 were used, and 3 is all there is.
    await soon(() => expect(textOf("a")).toMatch(/^false,\d+,0,3/));
  });

  it("opens within 1.5 s of an upgrade, with what was used as used", async () => {
    await using page = await startPage({ overrides: true });
    page.render(<Shown />, { live });
    await page.client.take.mutate({ name: "hourly", count: 3 });
    await soon(() => expect(textOf("a")).toMatch(/^false,\d+,0,3/));
    const since = performance.now();
    await act(() => page.limiter.overrides.set("hourly", { times: 16 }));
    await soon(() => expect(textOf("a")).toMatch(/^true,now,45(\.\d+)?,48/));
    if (live === "stream") expect(performance.now() - since).toBeLessThan(1500);
  });
});

it("flips at the instant at which a ban ends, without asking", async () => {
  // No tick of the server can tell the page.
  await using page = await startPage({ overrides: true, interval: HOUR });
  page.render(<Shown />);
  await soon(() => expect(textOf("a")).toMatch(/^true/));
  const until = page.limiter.clock() + 400;
  await act(() => page.limiter.overrides.set("hourly", { blocked: true, until }));
  await soon(() => expect(textOf("a")).toMatch(/^false/));
  const asked = page.server.requests();
  await soon(() => expect(textOf("a")).toMatch(/^true/));
  expect(page.server.requests()).toBe(asked);
});
