// @vitest-environment jsdom
/** The button of the registry, with a stand-in for that of shadcn. */
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RateLimitProvider } from "../../../site/registry/lib/rate-limits.js";
import { RateLimitButton } from "../../../site/registry/rate-limit-button.js";
import { createFakeRateLimits } from "../../../testing/index.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

it("has one text as its name, waits by itself, and keeps the variants of the button", async () => {
  const limits = createFakeRateLimits({
    limits: { quick: { kind: "token bucket", rate: 1, period: 1000, capacity: 100 } },
  });
  const onClick = vi.fn();
  render(
    <RateLimitProvider observer={limits as never}>
      <RateLimitButton name="quick" variant="outline" className="mt-2" onClick={onClick}>
        Send
      </RateLimitButton>
    </RateLimitProvider>,
  );
  const button = screen.getByRole("button", { name: "Send" });
  expect(button.dataset).toMatchObject({ variant: "outline", size: "default", state: "ready" });
  expect(button.className).toMatch(/ mt-2$/);
  act(() => limits.fill("quick", -93));
  screen.getByRole("button", { name: "Wait 1m 34s" });
  fireEvent.click(button);
  expect(onClick).not.toHaveBeenCalled();
  await act(() => vi.advanceTimersByTimeAsync(94_000));
  fireEvent.click(screen.getByRole("button", { name: "Send" }));
  expect(onClick).toHaveBeenCalledTimes(1);
});
