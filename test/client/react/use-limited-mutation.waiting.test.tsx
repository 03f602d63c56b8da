// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFakeRateLimits } from "../../../testing/index.js";
import { SECOND } from "../../../core/durations.js";
import { RateLimitProvider, useRateLimitedMutation } from "../../support/page.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

/** A mutation of a limit that refills by 10 a second, and what it has sent. */
function startMutation(strict = false) {
  const limits = createFakeRateLimits({
    limits: { quick: { kind: "token bucket", rate: 10, period: SECOND } },
  });
  const sent: number[] = [];
  const onError = vi.fn();
  const mutation = renderHook(
    () =>
      useRateLimitedMutation("quick", {
        count: 5,
        whenLimited: "wait",
        onError,
        mutationFn: (call: number) => {
          sent.push(call);
          // In flight, so that its tokens are known from its debit alone.
          return new Promise(() => {});
        },
      }),
    {
      wrapper: ({ children }) => (
        <QueryClientProvider client={new QueryClient()}>
          <RateLimitProvider observer={limits}>{children}</RateLimitProvider>
        </QueryClientProvider>
      ),
      reactStrictMode: strict,
    },
  );
  return { ...mutation, limits, sent, onError };
}

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

describe("a mutation that waits", () => {
  it("sends one call after the other, each at the ms at which there is enough for it", async () => {
    const { limits, sent, result } = startMutation();
    act(() => limits.fill("quick", -5));
    await act(async () => {
      for (const call of [1, 2, 3]) result.current.mutate(call);
    });
    const seen = async (ms: number) => {
      await pass(ms);
      const { held, canMutate, isPending } = result.current;
      return { sent: [...sent], held, canMutate, isPending };
    };
    const waiting = { canMutate: false, isPending: true };
    expect(await seen(999)).toEqual({ sent: [], held: 3, ...waiting });
    expect(await seen(1)).toEqual({ sent: [1], held: 2, ...waiting });
    expect(await seen(499)).toEqual({ sent: [1], held: 2, ...waiting });
    expect(await seen(1)).toEqual({ sent: [1, 2], held: 1, ...waiting });
    expect(await seen(499)).toEqual({ sent: [1, 2], held: 1, ...waiting });
    expect(await seen(1)).toEqual({ sent: [1, 2, 3], held: 0, ...waiting });
    expect(await seen(500)).toMatchObject({ held: 0, canMutate: true });
  });

  it.each([false, true])("sends nothing after unmounting (strict: %s)", async (strict) => {
    const { limits, sent, onError, result, unmount } = startMutation(strict);
    act(() => limits.fill("quick", 0));
    await act(async () => {
      result.current.mutate(1);
      // In the same tick, as with a click that also navigates.
      unmount();
    });
    await pass(5000);
    expect(sent).toEqual([]);
    expect(onError.mock.calls.map(([error]) => (error as Error).name)).toEqual(["AbortError"]);
  });

  it("sends what need not wait, even if it was unmounted in the same tick", async () => {
    const { sent, result, unmount } = startMutation(true);
    await act(async () => {
      result.current.mutate(1);
      unmount();
    });
    expect(sent).toEqual([1]);
  });
});
