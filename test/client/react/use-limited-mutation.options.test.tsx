// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type {
  RateLimitObserver,
  UseRateLimitedMutationOptions,
} from "../../../client/react/index.js";
import { createFakeRateLimits } from "../../../testing/index.js";
import { SECOND } from "../../../core/durations.js";
import { startByHand } from "../../support/hand-transport.js";
import { RateLimitProvider, useRateLimitedMutation } from "../../support/page.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

type Options = UseRateLimitedMutationOptions<unknown, Error, string>;

function startMutation(
  options: Options,
  name: "quick" | "slow" = "quick",
  given?: RateLimitObserver,
) {
  const limits = createFakeRateLimits({
    limits: {
      quick: { kind: "token bucket", rate: 1, period: SECOND },
      slow: { kind: "token bucket", rate: 3, period: 1e9 },
    },
  });
  const queryClient = new QueryClient();
  const mutation = renderHook(
    (props: Options) => useRateLimitedMutation(name as "quick", { retryDelay: SECOND, ...props }),
    {
      initialProps: options,
      wrapper: ({ children }) => (
        <QueryClientProvider client={queryClient}>
          <RateLimitProvider observer={given ?? limits}>{children}</RateLimitProvider>
        </QueryClientProvider>
      ),
    },
  );
  return { ...mutation, limits };
}

const [A, B] = [
  { name: "quick", key: "a" },
  { name: "quick", key: "b" },
] as const;

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

it.each([
  ["nothing", undefined, 1],
  ["no", false, 1],
  ["a number", 2, 3],
  ["yes", true, 6],
  ["a function", (failures: number) => failures < 3, 4],
])("retries as often as configured: %s", async (_, retry, tries) => {
  const mutationFn = vi.fn(() => Promise.reject(new Error("no network")));
  const { result } = startMutation({ mutationFn, ...(retry !== undefined && { retry }) });
  await act(async () => result.current.mutate("a"));
  await pass(5 * SECOND);
  expect(mutationFn).toHaveBeenCalledTimes(tries);
});

it("takes each try's token once, and gives it back", async () => {
  const fails: (() => void)[] = [];
  const mutationFn = () =>
    new Promise((_, reject) => fails.push(() => reject(new Error("no network"))));
  const { limits, result } = startMutation({ mutationFn, retry: 1 }, "slow");
  const left = () => Math.floor(limits.check({ name: "slow" }, Date.now(), 0)!.value);
  // Until all watchers have been notified.
  await pass(10);
  await act(async () => result.current.mutate("a"));
  expect(left()).toBe(2);
  await act(async () => fails[0]!());
  expect(left()).toBe(3);
  await pass(SECOND);
  expect(fails).toHaveLength(2);
  expect(left()).toBe(2);
});

it("may run while nothing is known", () => {
  const { observer } = startByHand();
  const { result } = startMutation({ mutationFn: async () => {} }, "quick", observer);
  expect(result.current).toMatchObject({ canMutate: true, held: 0 });
  expect(result.current.limit.status).toBeUndefined();
});

it("may not run before the held calls, even if there is enough for it", async () => {
  const count = (call: string) => call.length;
  const mutationFn = async () => {};
  const { limits, result } = startMutation({ mutationFn, count, whenLimited: "wait" }, "slow");
  act(() => limits.fill("slow", 1));
  await act(async () => result.current.mutate("two"));
  expect(result.current.limit.status?.ok).toBe(true);
  expect(result.current).toMatchObject({ canMutate: false, held: 1 });
});

it("cancels the held calls when its key changes, and the new key's by `reset`", async () => {
  const sent: string[] = [];
  const mutationFn = async (call: string) => void sent.push(call);
  const onError = vi.fn<(error: Error, call: string) => void>();
  const options = { mutationFn, whenLimited: "wait", onError, retry: 3 } as const;
  const { limits, result, rerender } = startMutation({ ...options, key: "a" });
  act(() => {
    limits.fill(A, -5);
    limits.fill(B, -5);
  });
  await act(async () => result.current.mutate("of a"));
  expect(result.current.held).toBe(1);
  await act(async () => rerender({ ...options, key: "b" }));
  expect(result.current.held).toBe(0);
  expect(onError.mock.lastCall!.slice(0, 2)).toMatchObject([{ name: "AbortError" }, "of a"]);
  await act(async () => result.current.mutate("of b"));
  expect(result.current).toMatchObject({ held: 1, canMutate: false });
  await act(async () => result.current.reset());
  expect(result.current.held).toBe(0);
  expect(onError.mock.lastCall!.slice(0, 2)).toMatchObject([{ name: "AbortError" }, "of b"]);
  await pass(20 * SECOND);
  expect(sent).toEqual([]);
});

it("counts the held calls of its key alone, even if a call of an earlier key comes back", async () => {
  let deny = () => {};
  const mutationFn = (call: string) =>
    new Promise((_, reject) => {
      const facts = { kind: "RateLimited", name: "quick", retryAfter: SECOND, value: 0 };
      const config = { kind: "token bucket", rate: 1, period: SECOND } as const;
      const data = { rateLimit: { ...facts, config, now: Date.now() } };
      if (call === "of a") deny = () => reject(Object.assign(new Error("denied"), { data }));
    });
  const options = { mutationFn, whenLimited: "wait" } as const;
  const { limits, result, rerender } = startMutation({ ...options, key: "a" });
  await act(async () => result.current.mutate("of a"));
  act(() => limits.fill(B, -5));
  await act(async () => rerender({ ...options, key: "b" }));
  await act(async () => result.current.mutate("of b"));
  expect(result.current).toMatchObject({ held: 1, canMutate: false });
  await act(async () => deny());
  expect(result.current).toMatchObject({ held: 1, canMutate: false });
});
