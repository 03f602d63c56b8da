// @vitest-environment jsdom
import { act, cleanup, renderHook } from "@testing-library/react";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  isRateLimitError,
  type UseRateLimitedMutationOptions,
} from "../../../client/react/index.js";
import type { LimitServerOptions } from "../../support/limit-server.js";
import { startPage, useRateLimitedMutation } from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

const TAKE = "take";

afterEach(cleanup);

interface Variables {
  count?: number;
  fails?: boolean;
}

type Options = Partial<UseRateLimitedMutationOptions<unknown, Error, Variables>>;

/** A live page with one mutation, which takes tokens of a limit. */
async function startMutation(
  options: Options = {},
  name: "hourly" | "sendMessage" = "hourly",
  app: LimitServerOptions = {},
) {
  const page = await startPage(app);
  const take = (variables: Variables) => page.client.take.mutate({ name, ...variables });
  const lefts: (number | undefined)[] = [];
  const hook = renderHook(
    () => {
      const mutation = useRateLimitedMutation(name, { mutationFn: take, ...options });
      lefts.push(mutation.limit.value);
      return { ...mutation, left: mutation.limit.value };
    },
    { wrapper: ({ children }) => page.around(children) },
  );
  const now = () => hook.result.current;
  await soon(() => expect(now().left).toBe(3));
  await soon(() => expect(now().limit.connection).toBe("live"));
  await soon(() => expect(page.server.open("rateLimit.status")).toBe(0));
  // One more answer, so that no earlier one is in flight: it would not include the debit.
  await page.client.rateLimit.status.query({ name });
  return {
    page,
    hook,
    now,
    lefts,
    mutate: (variables: Variables = {}) => act(async () => now().mutate(variables)),
    async [Symbol.asyncDispose]() {
      hook.unmount();
      await page[Symbol.asyncDispose]();
    },
  };
}

describe("useRateLimitedMutation", () => {
  it("sends one request for each call while the stream reports the charges", async () => {
    await using page = await startMutation();
    await settled(() => page.page.server.requests());
    const requests = page.page.server.requests();
    for (let call = 1; call <= 3; call++) {
      await page.mutate();
      await soon(() => expect(page.now().isSuccess).toBe(true));
      await soon(() => expect(page.now().left).toBe(3 - call));
    }
    // Longer than the server may take to report a charge.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(page.page.server.requests()).toBe(requests + 3);
    expect(page.now().left).toBe(0);
  });

  it("takes the tokens at once, before the server has the call", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const mutationFn = () => gate;
    await using form = await startMutation({ mutationFn, count: ({ count = 1 }) => count });
    await form.mutate({ count: 2 });
    await soon(() => expect(form.now()).toMatchObject({ left: 1, isPending: true }));
    expect(form.now()).toMatchObject({ canMutate: true, held: 0 });
    open();
    await soon(() => expect(form.now().isSuccess).toBe(true));
    // The server decides, and it never got a call to charge.
    await soon(() => expect(form.now().left).toBe(3));
  });

  it("says when it may run, and changes by itself", async () => {
    await using form = await startMutation({ count: 3 }, "sendMessage");
    expect(form.now()).toMatchObject({ canMutate: true, retryAt: undefined });
    await form.mutate({ count: 1 });
    await soon(() => expect(form.now().isSuccess).toBe(true));
    await soon(() => expect(form.now().canMutate).toBe(false));
    expect(form.now().retryAt).toBe(form.now().limit.status!.retryAt);
    await soon(() => expect(form.now().canMutate).toBe(true));
    expect(form.now().retryAt).toBeUndefined();
  });

  it("gives the tokens back when no answer came", async () => {
    let fail = () => {};
    const call = new Promise<void>((_, reject) => (fail = () => reject(new Error("no network"))));
    await using form = await startMutation({ mutationFn: () => call });
    // The server cannot be asked either.
    form.page.server.block("rateLimit.status");
    await form.mutate();
    await soon(() => expect(form.now().left).toBe(2));
    fail();
    await soon(() => expect(form.now().isError).toBe(true));
    await soon(() => expect(form.now().left).toBe(3));
  });

  it("keeps the tokens of a failed call that was charged for", async () => {
    await using form = await startMutation();
    await settled(() => form.lefts.length);
    await form.mutate({ fails: true });
    await soon(() => expect(form.now().isError).toBe(true));
    await settled(() => form.now().left);
    // The answer came before the stream reported the charge, and no token came back meanwhile.
    expect(form.lefts.slice(form.lefts.indexOf(2))).not.toContain(3);
    expect(form.now().left).toBe(2);
  });

  it("asks the server when the guess about a failed call was wrong", async () => {
    await using form = await startMutation();
    // Rejected for its input, so never charged.
    await form.mutate({ count: "many" as never });
    await soon(() => expect(form.now().isError).toBe(true));
    await soon(() => expect(form.now().left).toBe(3));
  });

  it("takes tokens only for failures, where the server charges for those", async () => {
    await using form = await startMutation({ on: "error" });
    const answer = form.page.server.delay(TAKE);
    await form.mutate({ fails: true });
    await soon(() => expect(form.now().isPending).toBe(true));
    // Undo the server's own charge, so that only the observer's debit remains.
    await soon(() => expect(form.now().left).toBe(2));
    await form.page.limiter.reset("hourly");
    await soon(() => expect(form.now().left).toBe(3));
    form.page.server.block("rateLimit.status");
    answer();
    await soon(() => expect(form.now().isError).toBe(true));
    expect(form.now().left).toBe(2);
  });

  describe("while its limit is exhausted", () => {
    it("rejects at once, without a request, with a rate limit error", async () => {
      const onError = vi.fn();
      const clock = () => Date.now() + 3_600_000;
      await using form = await startMutation({ onError }, "hourly", { clock });
      await form.page.limiter.limit("hourly", { count: 3 });
      await soon(() => expect(form.now().canMutate).toBe(false));
      await form.mutate();
      await soon(() => expect(form.now().isError).toBe(true));
      expect(form.page.server.requests(TAKE)).toBe(0);
      const { error, retryAt, limit } = form.now();
      expect(onError).toHaveBeenCalledTimes(1);
      expect(isRateLimitError(error)).toBe(true);
      const { rateLimit } = (error as unknown as { data: { rateLimit: Record<string, unknown> } })
        .data;
      expect(rateLimit).toMatchObject({ name: "hourly", config: { capacity: 3 } });
      // `now` is by the server's clock, as in the errors that the server sends.
      const offset = limit.check(0)!.now;
      expect(offset).toBeGreaterThan(3_500_000);
      const availableAt = (rateLimit["now"] as number) + (rateLimit["retryAfter"] as number);
      expect(availableAt - offset).toBe(retryAt);
      expect(rateLimit["value"]).toBeCloseTo(0, 2);
    });

    it("considers what each call takes", async () => {
      await using form = await startMutation({ count: ({ count = 1 }) => count });
      await form.page.limiter.limit("hourly");
      await soon(() => expect(form.now().left).toBe(2));
      await form.mutate({ count: 3 });
      await soon(() => expect(form.now().isError).toBe(true));
      expect(form.page.server.requests(TAKE)).toBe(0);
      await form.mutate({ count: 2 });
      await soon(() => expect(form.now().isSuccess).toBe(true));
    });

    it("leaves a call that could never pass to the server", async () => {
      await using form = await startMutation({ count: 4, whenLimited: "wait" });
      await form.mutate({ count: 4 });
      await soon(() => expect(form.now().error?.message).toContain("can never be granted"));
      expect(form.page.server.requests(TAKE)).toBe(1);
    });

    it("sends anyway with whenLimited send, and takes the server's answer", async () => {
      await using form = await startMutation({ whenLimited: "send" });
      await form.page.limiter.limit("hourly", { count: 3 });
      await soon(() => expect(form.now().canMutate).toBe(false));
      await form.mutate();
      await soon(() => expect(form.now().isError).toBe(true));
      expect(form.page.server.requests(TAKE)).toBe(1);
      expect(isRateLimitError(form.now().error)).toBe(true);
    });

    it("waits with whenLimited wait, and sends by itself, in order", async () => {
      const sent: number[] = [];
      const answered: number[] = [];
      await using page = await startPage();
      const { result } = renderHook(
        () =>
          useRateLimitedMutation("quick", {
            count: 5,
            whenLimited: "wait",
            mutationFn: (call: number) => {
              sent.push(call);
              return page.client.take.mutate({ name: "quick", count: 5 });
            },
            onSuccess: (_, call) => answered.push(call),
          }),
        { wrapper: ({ children }) => page.around(children) },
      );
      await soon(() => expect(result.current.limit.connection).toBe("live"));
      await page.limiter.limit("quick", { count: 15, reserve: true });
      await soon(() => expect(result.current.canMutate).toBe(false));
      await act(async () => {
        for (const call of [1, 2, 3]) result.current.mutate(call);
      });
      // `waiting.test.tsx` checks each ms, on clocks that stand still.
      // A call may have been a few ms early and retried; then the answers come in another order.
      await soon(() => expect(answered.toSorted((a, b) => a - b)).toEqual([1, 2, 3]));
      expect([...new Set(sent)]).toEqual([1, 2, 3]);
      await soon(() => expect(result.current.held).toBe(0));
    });

    it("keeps its place and waits again when the server denies what it sent", async () => {
      let tries = 0;
      const mutationFn = async (): Promise<unknown> => {
        // Another caller takes the tokens before the call reaches the server.
        if (tries++ === 0) await form.page.limiter.limit("sendMessage", { count: 3 });
        return form.page.client.take.mutate({ name: "sendMessage" });
      };
      await using form = await startMutation({ whenLimited: "wait", mutationFn }, "sendMessage");
      await form.mutate();
      await soon(() => expect(form.now().held).toBe(1));
      expect(form.now().isPending).toBe(true);
      expect(form.page.server.requests(TAKE)).toBe(1);
      await soon(() => expect(form.now().isSuccess).toBe(true));
      expect(tries).toBeGreaterThan(1);
    });

    it.each([
      ["is reset", "reset"],
      ["leaves the page", "unmount"],
    ] as const)("cancels the held calls when it %s, and never sends them", async (_, how) => {
      const onError = vi.fn();
      await using form = await startMutation({ whenLimited: "wait", retry: 3, onError });
      await form.page.limiter.limit("hourly", { count: 3 });
      await soon(() => expect(form.now().canMutate).toBe(false));
      await form.mutate();
      await soon(() => expect(form.now().held).toBe(1));
      await act(async () => (how === "reset" ? form.now().reset() : form.hook.unmount()));
      await soon(() => expect(onError).toHaveBeenCalledTimes(1));
      expect(onError.mock.calls[0]![0]).toMatchObject({ name: "AbortError" });
      if (how === "reset") expect(form.now()).toMatchObject({ held: 0, isIdle: true });
      await form.page.limiter.reset("hourly");
      await settled(() => form.page.server.requests());
      expect(form.page.server.requests(TAKE)).toBe(0);
    });
  });

  it("takes the options of tRPC's own integration", async () => {
    await using page = await startPage();
    const { queryClient, client } = page;
    const trpc = createTRPCOptionsProxy<typeof page.router>({ client, queryClient });
    const { result } = renderHook(
      () =>
        useRateLimitedMutation("hourly", {
          ...trpc.take.mutationOptions(),
          count: ({ count = 1 }) => count,
        }),
      { wrapper: ({ children }) => page.around(children) },
    );
    await soon(() => expect(result.current.limit.status?.ok).toBe(true));
    await act(async () => result.current.mutate({ name: "hourly", count: 2 }));
    await soon(() => expect(result.current.data?.value).toBeCloseTo(1, 2));
    await soon(() => expect(result.current.limit.value).toBe(1));
  });

  it("uses the mutationFn that the QueryClient has for its key", async () => {
    await using page = await startPage();
    page.queryClient.setMutationDefaults(["take"], {
      mutationFn: () => page.client.take.mutate({ name: "hourly" }),
    });
    const { result } = renderHook(
      () => useRateLimitedMutation("hourly", { mutationKey: ["take"] }),
      { wrapper: ({ children }) => page.around(children) },
    );
    await soon(() => expect(result.current.limit.value).toBe(3));
    await act(async () => result.current.mutate());
    await soon(() => expect(result.current.limit.value).toBe(2));
    await soon(() => expect(result.current.isSuccess).toBe(true));
  });
});
