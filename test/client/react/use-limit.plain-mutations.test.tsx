// @vitest-environment jsdom
/** Mutations of any client, without our hook, count down through `rateLimitLink`. */
import { focusManager, useMutation } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { afterEach, describe, expect, it } from "vitest";
import { rateLimitLink } from "../../../client/index.js";
import {
  type PageOptions,
  startPage,
  useRateLimit,
  useRateLimitedMutation,
} from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

const [STATUS, TAKE] = ["rateLimit.status", "take"];

afterEach(cleanup);

type Page = Awaited<ReturnType<typeof startPage>>;

/** A component that uses a mutation and shows the limit. */
async function startMutation(
  useTake: (page: Page) => { mutateAsync(variables: { name: "hourly" }): Promise<unknown> },
  options: PageOptions,
) {
  const page = await startPage({ links: [rateLimitLink({ limits: { [TAKE]: "hourly" } })] });
  const { result, unmount } = renderHook(
    () => ({ limit: useRateLimit("hourly"), take: useTake(page).mutateAsync }),
    { wrapper: ({ children }) => page.around(children, options) },
  );
  const value = () => result.current.limit.value;
  await soon(() => expect(value()).toBe(3));
  if (options.live === "off") expect(result.current.limit.connection).toBe("polling");
  else await soon(() => expect(result.current.limit.connection).toBe("live"));
  // The first answers were slow. A few more tell the server's time to the ms.
  await settled(() => page.server.requests());
  for (let more = 0; more < 5; more++) {
    const before = page.server.requests(STATUS);
    act(() => focusManager.onFocus());
    await soon(() => expect(page.server.requests(STATUS)).toBe(before + 1));
    await soon(() => expect(page.server.open(STATUS)).toBe(0));
  }
  await settled(() => page.server.requests());
  const asked = page.server.requests(STATUS);
  return {
    ...page,
    value,
    /** Starts a call. React 18 renders nothing until `act` is over, so it does not last as long. */
    take() {
      let call: Promise<unknown> | undefined;
      act(() => void (call = result.current.take({ name: "hourly" })));
      return call;
    },
    asked: () => page.server.requests(STATUS) - asked,
    async [Symbol.asyncDispose]() {
      unmount();
      await page[Symbol.asyncDispose]();
    },
  };
}

/** What `api.take.useMutation()` of `createTRPCReact` does: a mutation whose function calls the client. */
const usePlain = ({ client }: Page) =>
  useMutation({ mutationFn: (input: { name: "hourly" }) => client.take.mutate(input) });

const useOptions = ({ client, queryClient }: Page) => {
  const trpc = createTRPCOptionsProxy<Page["router"]>({ client, queryClient });
  return useMutation(trpc.take.mutationOptions());
};

/** Debits by itself, and its call passes the link. */
const useOurs = ({ client }: Page) =>
  useRateLimitedMutation("hourly", {
    mutationFn: (input: { name: "hourly" }) => client.take.mutate(input),
  });

describe.each([
  ["useMutation with a client", usePlain],
  ["useMutation with mutationOptions()", useOptions],
  ["useRateLimitedMutation", useOurs],
])("%s and the link", (_, useTake) => {
  it("counts each call once while the stream is live, without another request", async () => {
    await using page = await startMutation(useTake, {});
    for (const left of [2, 1, 0]) {
      const call = page.take();
      await act(async () => void (await call));
      await soon(() => expect(page.value()).toBe(left));
      await settled(page.value);
      expect([page.value(), page.asked()]).toEqual([left, 0]);
    }
  });

  it("counts each call once without a stream, and asks once after the answer", async () => {
    await using page = await startMutation(useTake, { live: "off" });
    const answer = page.server.delay(TAKE);
    const call = page.take();
    await soon(() => expect(page.value()).toBe(2));
    expect(page.asked()).toBe(0);
    answer();
    await call;
    await settled(() => page.server.requests());
    expect([page.value(), page.asked()]).toEqual([2, 1]);
  });
});
