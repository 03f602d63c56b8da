// @vitest-environment jsdom
import { focusManager, onlineManager } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RateLimitProvider, useRateLimit } from "../../support/page.js";
import { startByHand } from "../../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  focusManager.setFocused(undefined);
  onlineManager.setOnline(true);
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

function startHook() {
  const { observer, requests } = startByHand({ isStreamless: true });
  const refresh = vi.spyOn(observer, "refresh");
  const hook = renderHook(() => useRateLimit("hourly"), {
    wrapper: ({ children }) => (
      <RateLimitProvider observer={observer}>{children}</RateLimitProvider>
    ),
  });
  return { ...hook, requests, refresh };
}

it("says that the server does not answer before anything is known", async () => {
  const { result, requests } = startHook();
  await pass(1);
  expect(result.current).toMatchObject({ status: undefined, connection: "polling" });
  while (requests.length > 0) {
    act(() => requests[0]!.fail());
    await pass(1);
  }
  expect(result.current).toMatchObject({ status: undefined, connection: "offline" });
});

it("refreshes when the page is back, not when it leaves, and never after unmounting", () => {
  const { refresh, unmount } = startHook();
  const calls = (change: () => void) => {
    refresh.mockClear();
    act(change);
    return refresh.mock.calls.length;
  };
  expect(calls(() => focusManager.setFocused(false))).toBe(0);
  expect(calls(() => focusManager.setFocused(true))).toBe(1);
  expect(calls(() => onlineManager.setOnline(false))).toBe(0);
  expect(calls(() => onlineManager.setOnline(true))).toBe(1);
  unmount();
  const turn = (on: boolean) => {
    focusManager.setFocused(on);
    onlineManager.setOnline(on);
  };
  expect(calls(() => turn(false)) + calls(() => turn(true))).toBe(0);
});
