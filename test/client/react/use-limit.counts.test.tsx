// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MINUTE } from "../../../core/durations.js";
import { createFakeRateLimits } from "../../../testing/index.js";
import { RateLimitProvider, useRateLimit, useRateLimitedMutation } from "../../support/page.js";

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function wrapper({ children }: { children: ReactNode }) {
  const limits = createFakeRateLimits({
    limits: { hourly: { kind: "token bucket", rate: 3, period: MINUTE } },
  });
  return (
    <QueryClientProvider client={new QueryClient()}>
      <RateLimitProvider observer={limits as never}>{children}</RateLimitProvider>
    </QueryClientProvider>
  );
}

describe.each([undefined, NaN] as number[])("a count of %s", (count) => {
  it.each([
    ["useRateLimit", () => useRateLimit("hourly", { count })],
    ["useRateLimitedMutation", () => useRateLimitedMutation("hourly", { count })],
  ])("is refused by %s, as the server refuses it", (_, hook) => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    expect(() => renderHook(hook as () => unknown, { wrapper })).toThrow(
      /count must be a finite number of at least 0/,
    );
  });

  it("is refused by a mutation whose function returns it, and nothing is sent", async () => {
    const mutationFn = vi.fn(async () => "sent");
    const { result } = renderHook(
      () => useRateLimitedMutation("hourly", { count: () => count, mutationFn }),
      { wrapper },
    );
    await expect(result.current.mutateAsync()).rejects.toThrow(/count must be a finite number/);
    expect(mutationFn).not.toHaveBeenCalled();
  });
});
