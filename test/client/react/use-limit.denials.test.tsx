// @vitest-environment jsdom
/** The hooks of several limits after one denial, over HTTP. */
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { isRateLimitError, rateLimitLink } from "../../../client/index.js";
import { startPage, useRateLimit, useRateLimitedMutation } from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

const NAMES = ["hourly", "sendMessage", "fractional"] as const;

afterEach(cleanup);

it.each(["a link", "a mutation hook"])(
  "every exhausted limit shows its wait at once after one denial that %s has seen",
  async (how) => {
    const links = how === "a link" ? [rateLimitLink()] : [];
    await using page = await startPage({ links });
    const send = () => page.client.takeAll.mutate([...NAMES]);
    const { result, unmount } = renderHook(
      () => ({
        statuses: [useRateLimit("hourly"), useRateLimit("sendMessage"), useRateLimit("fractional")],
        ours: useRateLimitedMutation("sendMessage", { mutationFn: send }),
      }),
      { wrapper: ({ children }) => page.around(children, { live: "off" }) },
    );
    const oks = () => result.current.statuses.map(({ status }) => status?.ok);
    await soon(() => expect(oks()).toEqual([true, true, true]));
    await settled(() => page.server.requests());
    // Others exhaust two limits. From here on nothing but the denial reaches the page.
    const release = page.server.delay("rateLimit.status");
    await page.limiter.limit("hourly", { count: 3 });
    await page.limiter.limit("sendMessage", { count: 3 });
    const error: unknown = await act(() =>
      (how === "a link" ? send() : result.current.ours.mutateAsync()).catch((thrown) => thrown),
    );
    const rateLimit = isRateLimitError(error) ? error.data.rateLimit : undefined;
    expect(rateLimit?.denials?.map(({ name }) => name)).toEqual(["hourly", "sendMessage"]);
    expect(oks()).toEqual([false, false, true]);
    const [hourly, sendMessage] = result.current.statuses.map(({ status }) => status?.retryAt);
    // Each shows its own wait: an hour, and two and a half seconds at most.
    expect(hourly! - sendMessage!).toBeGreaterThan(3_000_000);
    expect(result.current.ours.retryAt).toBe(sendMessage);
    release();
    await soon(() => expect(page.server.open("rateLimit.status")).toBe(0));
    expect(oks()[0]).toBe(false);
    unmount();
  },
);
