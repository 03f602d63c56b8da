// @vitest-environment jsdom
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { isRateLimitError, rateLimitLink } from "../../client/index.js";
import { startPage, useRateLimitedMutation } from "../support/page.js";
import { soon } from "../support/soon.js";

const TAKE = "take";

afterEach(cleanup);

/** A mutation that knows its limit, through a link that knows it, too. */
async function startBoth(whenRefused: "fail" | "wait") {
  const link = rateLimitLink({ whenRefused, limits: { [TAKE]: "hourly" }, maxWait: 1000 });
  const page = await startPage({ links: [link] });
  const take = () => page.client.take.mutate({ name: "hourly" });
  const hook = renderHook(() => useRateLimitedMutation("hourly", { mutationFn: take }), {
    wrapper: ({ children }) => page.around(children),
  });
  const now = () => hook.result.current;
  await soon(() => expect(now().limit.value).toBe(3));
  await soon(() => expect(now().limit.connection).toBe("live"));
  await soon(() => expect(page.server.open("rateLimit.status")).toBe(0));
  // One more answer, so that no earlier one is still on its way: it would tell of no debit.
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

it.each(["fail", "wait"] as const)(
  "a link that lets refused calls %s does not hold a call's own debit against it",
  async (whenRefused) => {
    await using both = await startBoth(whenRefused);
    for (const sent of [1, 2, 3]) {
      await act(async () => both.now().mutateAsync());
      expect(both.page.server.requests(TAKE)).toBe(sent);
      await soon(() => expect(both.now().limit.value).toBe(3 - sent));
    }
    // Others, who have debited nothing, are judged by what is left.
    const error: unknown = await both.take().catch((reason: unknown) => reason);
    expect(isRateLimitError(error)).toBe(true);
    expect(both.page.server.requests(TAKE)).toBe(3);
  },
);

it("counts the debits of calls under way against others", async () => {
  await using both = await startBoth("fail");
  const answer = both.page.server.delay(TAKE);
  for (let calls = 0; calls < 3; calls++) act(() => both.now().mutate());
  await soon(() => expect(both.page.server.open(TAKE)).toBe(3));
  const error: unknown = await both.take().catch((reason: unknown) => reason);
  expect(isRateLimitError(error)).toBe(true);
  expect(both.page.server.open(TAKE)).toBe(3);
  answer();
  await soon(() => expect(both.now().isSuccess).toBe(true));
});
