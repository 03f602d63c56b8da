// @vitest-environment jsdom
/** Plain calls of the action, which React 18 has, too. */
import { act, cleanup, renderHook } from "@testing-library/react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createRateLimitReact,
  isRateLimitError,
  isWaitCancelled,
  type RateLimitedActionOptions,
} from "../../../../client/fetch/react/index.js";
import { createFakeRateLimits } from "../../../../testing/index.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const config = { kind: "token bucket", rate: 10, period: 1000, capacity: 10 } as const;
const { RateLimitProvider, useRateLimitedAction } = createRateLimitReact({ url: "/api/limits" });
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

const denial = (retryAfter: number, name = "quick") => ({
  kind: "RateLimited",
  name,
  retryAfter,
  value: 0,
  config,
  now: Date.now(),
});

type Options = RateLimitedActionOptions<[text: string], unknown>;

/** An action whose calls the test answers. */
function start(options: Options = {}, strict = false) {
  const limits = createFakeRateLimits({ limits: { quick: config } });
  const sent: { text: string; answer(value: unknown): void; fail(error: unknown): void }[] = [];
  const hook = renderHook(
    (props: Options) =>
      useRateLimitedAction(
        "quick",
        (text: string) =>
          new Promise<unknown>((answer, fail) => void sent.push({ text, answer, fail })),
        props,
      ),
    {
      initialProps: options,
      wrapper: ({ children }) => (
        <RateLimitProvider observer={limits}>{children}</RateLimitProvider>
      ),
      reactStrictMode: strict,
    },
  );
  const tokens = () => limits.remaining({ name: "quick" });
  const texts = () => sent.map(({ text }) => text);
  /** Calls the action, and waits for what it says at once. */
  async function run(text: string) {
    let result!: Promise<unknown>;
    await act(async () => {
      result = hook.result.current.action(text);
      result.catch(() => {});
    });
    return { result };
  }
  return { ...hook, limits, sent, tokens, texts, run };
}

describe("an action", () => {
  it.each([false, true])("is sent at once, and debits its limit (strict: %s)", async (strict) => {
    const { run, sent, tokens, result } = start({ count: (text) => text.length }, strict);
    const call = await run("four");
    expect([sent.length, tokens()]).toEqual([1, 6]);
    sent[0]!.answer("done");
    await expect(call.result).resolves.toBe("done");
    expect(result.current).toMatchObject({ canRun: true, held: 0, retryAt: undefined });
  });

  it("stays the same function, and takes the options of the last render", async () => {
    const { result, rerender, run, tokens } = start({ count: 1 });
    const { action } = result.current;
    rerender({ count: 3 });
    expect(result.current.action).toBe(action);
    await run("a");
    expect(tokens()).toBe(7);
  });

  it("is kept from being sent where it is known to be denied", async () => {
    const { run, sent, limits, result } = start();
    act(() => limits.fill("quick", 0));
    expect(result.current).toMatchObject({ canRun: false, retryAt: 1e6 + 100 });
    const error = await (await run("a")).result.catch((reason: unknown) => reason);
    expect(isRateLimitError(error) && error.data.rateLimit.retryAfter).toBe(100);
    expect(sent).toEqual([]);
    await pass(100);
    expect(result.current).toMatchObject({ canRun: true, retryAt: undefined });
  });

  it("has the result that `denied` gives, with the arguments of the call", async () => {
    const denied = vi.fn((_error: unknown, text: string) => `not ${text}`);
    const { run, limits } = start({ denied });
    act(() => limits.fill("quick", 0));
    await expect((await run("a")).result).resolves.toBe("not a");
    expect(isRateLimitError(denied.mock.calls[0]![0])).toBe(true);
  });

  it("does not take other errors for denials", async () => {
    const denied = vi.fn();
    const { run, sent, tokens } = start({ denied });
    const { result } = await run("a");
    sent[0]!.fail(new Error("offline"));
    await expect(result).rejects.toThrow("offline");
    await pass(0);
    expect([denied.mock.calls.length, tokens()]).toEqual([0, 10]);
  });
});

describe("an answer that is a denial", () => {
  const answers: [string, (retryAfter: number) => unknown][] = [
    ["a Response of 429", (ms) => Response.json(denial(ms), { status: 429 })],
    ["the denial", (ms) => denial(ms)],
    ["a property", (ms) => ({ ok: false, denied: denial(ms) })],
  ];

  it.each(answers)("in %s undoes the debit, and stays the result", async (_where, answerOf) => {
    const { run, sent, tokens, limits } = start();
    const learn = vi.spyOn(limits, "recordDenial");
    const call = await run("a");
    expect(tokens()).toBe(9);
    const answer = answerOf(500);
    await act(async () => sent[0]!.answer(answer));
    await expect(call.result).resolves.toBe(answer);
    expect(tokens()).toBe(10);
    expect(learn).toHaveBeenCalledWith({ name: "quick" }, denial(500), 1);
    // The caller can still read the body.
    if (answer instanceof Response) expect(await answer.json()).toMatchObject({ retryAfter: 500 });
  });

  it.each(answers)("in %s goes to `denied`", async (_where, answerOf) => {
    const { run, sent } = start({ denied: (error) => isRateLimitError(error) });
    const { result } = await run("a");
    await act(async () => sent[0]!.answer(answerOf(500)));
    await expect(result).resolves.toBe(true);
  });

  it.each(answers)('in %s waits again, with "wait"', async (_where, answerOf) => {
    const { run, sent, texts, result } = start({ whenLimited: "wait" });
    const call = await run("a");
    await act(async () => sent[0]!.answer(answerOf(500)));
    expect(result.current.held).toBe(1);
    await pass(499);
    expect(texts()).toEqual(["a"]);
    await pass(1);
    expect(texts()).toEqual(["a", "a"]);
    await act(async () => sent[1]!.answer("done"));
    await expect(call.result).resolves.toBe("done");
    expect(result.current.held).toBe(0);
  });

  it.each([
    ["another status", () => Response.json(denial(500), { status: 200 })],
    ["a page", () => new Response("<html>", { status: 429 })],
    ["a list", () => [denial(500)]],
    ["deeper down", () => ({ data: { rateLimit: denial(500) } })],
    ["null", () => null],
    ["a text", () => JSON.stringify(denial(500))],
  ])("is not one in %s", async (_where, answerOf) => {
    const { run, sent, limits } = start();
    const learn = vi.spyOn(limits, "recordDenial");
    const call = await run("a");
    const answer = answerOf();
    await act(async () => sent[0]!.answer(answer));
    await expect(call.result).resolves.toBe(answer);
    expect(learn).not.toHaveBeenCalled();
  });
});

describe('actions that wait, with "wait"', () => {
  it("are sent in order when there are tokens for them", async () => {
    const { run, texts, limits, result } = start({ whenLimited: "wait", count: 5 });
    act(() => limits.fill("quick", 0));
    for (const text of ["a", "b"]) await run(text);
    expect(result.current).toMatchObject({ held: 2, canRun: false });
    await pass(500);
    expect([texts(), result.current.held]).toEqual([["a"], 1]);
    await pass(500);
    expect([texts(), result.current.held]).toEqual([["a", "b"], 0]);
  });

  it("are cancelled when their component leaves", async () => {
    const { run, texts, limits, unmount } = start({ whenLimited: "wait" });
    act(() => limits.fill("quick", 0));
    const { result } = await run("a");
    unmount();
    const error = await result.catch((reason: unknown) => reason);
    expect(isWaitCancelled(error)).toBe(true);
    await pass(1000);
    expect(texts()).toEqual([]);
  });

  it("have the result of `denied` when they are cancelled", async () => {
    const { run, limits, unmount } = start({ whenLimited: "wait", denied: isWaitCancelled });
    act(() => limits.fill("quick", 0));
    const { result } = await run("a");
    unmount();
    await expect(result).resolves.toBe(true);
  });
});

it("says what it needs, outside of a provider", () => {
  function Alone() {
    useRateLimitedAction("quick", async () => {});
    return null;
  }
  expect(() => renderToString(<Alone />)).toThrow(
    "useRateLimitedAction needs a <RateLimitProvider>",
  );
});
