// @vitest-environment jsdom
/** Mutations whose answers are denials, although they did not throw. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitReact, isRateLimitError } from "../../../../client/fetch/react/index.js";
import { createFakeRateLimits } from "../../../../testing/index.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const config = { kind: "token bucket", rate: 10, period: 1000, capacity: 10 } as const;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const hooks = createRateLimitReact({
  url: "/api/limits",
  denialMessage: ({ retryAfter }) => `in ${retryAfter}`,
});
const facts = () => ({
  kind: "RateLimited",
  name: "quick",
  retryAfter: 500,
  value: 0,
  config,
  now: Date.now(),
});
const denied = () => Response.json(facts(), { status: 429 });

function start(whenLimited: "reject" | "wait", isDefault = false) {
  const limits = createFakeRateLimits({ limits: { quick: config } });
  const answers: ((response: Response) => void)[] = [];
  const mutationFn = vi.fn(() => new Promise<Response>((answer) => void answers.push(answer)));
  const queryClient = new QueryClient();
  if (isDefault) queryClient.setMutationDefaults(["send"], { mutationFn });
  const own = isDefault ? { mutationKey: ["send"] } : { mutationFn };
  const { result } = renderHook(
    () => hooks.useRateLimitedMutation<Response>("quick", { ...own, whenLimited }),
    {
      wrapper: ({ children }) => (
        <QueryClientProvider client={queryClient}>
          <hooks.RateLimitProvider observer={limits}>{children}</hooks.RateLimitProvider>
        </QueryClientProvider>
      ),
    },
  );
  const tokens = () => limits.remaining({ name: "quick" });
  return { limits, answers, mutationFn, result, tokens };
}

it.each([false, true])("a mutation fails with the denial of its Response", async (isDefault) => {
  const { limits, answers, result, tokens } = start("reject", isDefault);
  const learn = vi.spyOn(limits, "recordDenial");
  await act(async () => result.current.mutate());
  expect(tokens()).toBe(9);
  await act(async () => answers[0]!(denied()));
  await pass(1);
  expect(tokens()).toBe(10);
  const { error } = result.current;
  expect(isRateLimitError(error)).toBe(true);
  expect(error?.message).toBe("in 500");
  expect(learn).toHaveBeenCalledWith({ name: "quick" }, { ...facts(), now: 1e6 }, 1);
});

it('a mutation waits again after the denial of its Response, with "wait"', async () => {
  const { answers, mutationFn, result } = start("wait");
  await act(async () => result.current.mutate());
  await act(async () => answers[0]!(denied()));
  await pass(499);
  expect([mutationFn.mock.calls.length, result.current.held]).toEqual([1, 1]);
  await pass(1);
  expect([mutationFn.mock.calls.length, result.current.held]).toEqual([2, 0]);
  const done = new Response("done");
  await act(async () => answers[1]!(done));
  await pass(1);
  expect(result.current.data).toBe(done);
});
