// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFakeRateLimits } from "../../client/testing/index.js";
import { SECOND } from "../../core/durations.js";
import { RateLimitProvider, useRateLimitedMutation } from "../support/page.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

describe("a mutation that waits", () => {
  it("sends one call after the other, each at the ms at which there is enough for it", async () => {
    const limits = createFakeRateLimits({
      limits: { quick: { kind: "token bucket", rate: 10, period: SECOND } },
    });
    limits.fill("quick", -5);
    const sent: number[] = [];
    const { result } = renderHook(
      () =>
        useRateLimitedMutation("quick", {
          count: 5,
          whenLimited: "wait",
          mutationFn: (call: number) => {
            sent.push(call);
            // Under way, so that what it takes is known from its debit alone.
            return new Promise(() => {});
          },
        }),
      {
        wrapper: ({ children }) => (
          <QueryClientProvider client={new QueryClient()}>
            <RateLimitProvider observer={limits}>{children}</RateLimitProvider>
          </QueryClientProvider>
        ),
      },
    );
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
});
