// @vitest-environment jsdom
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { isRateLimitError, rateLimitLink } from "../../../client/index.js";
import { startPage, useRateLimitedMutation } from "../../support/page.js";
import { soon } from "../../support/soon.js";

const TAKE = "take";

afterEach(cleanup);

/** A mutation with a limit, through a link that knows the limit, too. */
async function startBoth(whenLimited: "reject" | "wait") {
  const link = rateLimitLink({ whenLimited, limits: { [TAKE]: "hourly" }, maxWait: 1000 });
  const page = await startPage({ links: [link] });
  const take = () => page.client.take.mutate({ name: "hourly" });
  const hook = renderHook(() => useRateLimitedMutation("hourly", { mutationFn: take }), {
    wrapper: ({ children }) => page.around(children),
  });
  const now = () => hook.result.current;
  await soon(() => expect(now().limit.value).toBe(3));
  await soon(() => expect(now().limit.connection).toBe("live"));
  await soon(() => expect(page.server.open("rateLimit.status")).toBe(0));
  // One more answer, so that no earlier one is in flight: it would not include the debit.
  await page.client.rateLimit.status.query({ name: "hourly" });
  return {
    page,
    now,
    take,
    async [Symbol.asyncDispose]() {
      hook.unmount();
      await page[Symbol.asyncDispose]();
    },
  };
}

it.each(["reject", "wait"] as const)(
  "a link with whenLimited %s does not deny a call because of its own debit",
  async (whenLimited) => {
    await using both = await startBoth(whenLimited);
    for (const sent of [1, 2, 3]) {
      await act(async () => both.now().mutateAsync());
      expect(both.page.server.requests(TAKE)).toBe(sent);
      await soon(() => expect(both.now().limit.value).toBe(3 - sent));
    }
    // A call without a debit is judged by the remaining tokens.
    const error: unknown = await both.take().catch((reason: unknown) => reason);
    expect(isRateLimitError(error)).toBe(true);
    expect(both.page.server.requests(TAKE)).toBe(3);
  },
);

it("counts the debits of calls in flight against others", async () => {
  await using both = await startBoth("reject");
  const answer = both.page.server.delay(TAKE);
  for (let calls = 0; calls < 3; calls++) act(() => both.now().mutate());
  await soon(() => expect(both.page.server.open(TAKE)).toBe(3));
  const error: unknown = await both.take().catch((reason: unknown) => reason);
  expect(isRateLimitError(error)).toBe(true);
  expect(both.page.server.open(TAKE)).toBe(3);
  answer();
  await soon(() => expect(both.now().isSuccess).toBe(true));
});
