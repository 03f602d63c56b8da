// @vitest-environment jsdom
/** Actions of React 19: `useActionState`, and the action of a form. React 18 has neither. */
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { StrictMode, useActionState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitReact } from "../../../../client/fetch/react/index.js";
import { createFakeRateLimits } from "../../../../testing/index.js";
import { textOf } from "../../../support/page.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const config = { kind: "token bucket", rate: 10, period: 1000, capacity: 10 } as const;
const { RateLimitProvider, useRateLimitedAction } = createRateLimitReact({ url: "/api/limits" });
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const submit = () => act(async () => void fireEvent.submit(screen.getByRole("form")));

/** A form whose server function counts. The test says what each call answers. */
function start(whenLimited: "reject" | "wait") {
  const limits = createFakeRateLimits({ limits: { quick: config } });
  const answers: ((state: number) => void)[] = [];
  const add = vi.fn((_state: number, _form: FormData) => {
    return new Promise<number>((resolve) => void answers.push(resolve));
  });
  function Counter() {
    const { action, canRun, held } = useRateLimitedAction("quick", add, {
      whenLimited,
      denied: (_error, state) => state,
    });
    const [count, formAction, isPending] = useActionState(action, 0);
    return (
      <form action={formAction} aria-label="counter">
        <p data-testid="shown">{`${count} ${canRun} ${held} ${isPending}`}</p>
        <input name="by" defaultValue="1" />
      </form>
    );
  }
  render(
    <StrictMode>
      <RateLimitProvider observer={limits}>
        <Counter />
      </RateLimitProvider>
    </StrictMode>,
  );
  return { limits, answers, add };
}

it("gets the state and the form, and gives the next state", async () => {
  const { add, answers, limits } = start("reject");
  await submit();
  expect(textOf("shown")).toBe("0 true 0 true");
  expect(limits.remaining({ name: "quick" })).toBe(9);
  expect([add.mock.calls[0]![0], add.mock.calls[0]![1].get("by")]).toEqual([0, "1"]);
  await act(async () => answers[0]!(5));
  expect(textOf("shown")).toBe("5 true 0 false");
});

it("keeps the state of a call that is kept from being sent", async () => {
  const { add, limits } = start("reject");
  act(() => limits.fill("quick", 0));
  expect(textOf("shown")).toBe("0 false 0 false");
  await submit();
  expect(textOf("shown")).toBe("0 false 0 false");
  expect(add).not.toHaveBeenCalled();
});

it("shows how many calls are held while the transition of the first one lasts", async () => {
  const { add, answers, limits } = start("wait");
  act(() => limits.fill("quick", 0));
  await submit();
  expect(textOf("shown")).toBe("0 false 1 true");
  await pass(100);
  expect(add).toHaveBeenCalledTimes(1);
  expect(textOf("shown")).toBe("0 false 0 true");
  await act(async () => answers[0]!(1));
  expect(textOf("shown")).toMatch(/^1 \w+ 0 false$/);
});
