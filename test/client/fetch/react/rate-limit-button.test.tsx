// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { type ComponentProps, Profiler } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitReact } from "../../../../client/fetch/react/index.js";
import { createFakeRateLimits } from "../../../../testing/index.js";

const config = { kind: "token bucket", rate: 1, period: 1000, capacity: 100 } as const;
const limitsOf = () => createFakeRateLimits({ limits: { quick: config } });
const { RateLimitProvider, RateLimitButton } = createRateLimitReact({ url: "/api/limits" });

/** The animations that were started: how long each takes, and from where it goes on. */
let told: { duration: number; currentTime: number; isOver: boolean }[];
let prefersReduced = false;

beforeEach(() => {
  vi.useFakeTimers({ now: 1e6 });
  told = [];
  prefersReduced = false;
  vi.stubGlobal("matchMedia", (query: string) => ({
    matches: query === "(prefers-reduced-motion)" && prefersReduced,
  }));
  Object.assign(HTMLSpanElement.prototype, {
    animate(_frames: unknown, duration: number) {
      const animation = { duration, currentTime: 0, isOver: false };
      told.push(animation);
      return Object.assign(animation, { cancel: () => (animation.isOver = true) });
    },
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  Reflect.deleteProperty(HTMLSpanElement.prototype, "animate");
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const button = () => screen.getByRole("button");

function start(props: Partial<ComponentProps<typeof RateLimitButton>> = {}, locale?: string) {
  const limits = limitsOf();
  const onRender = vi.fn();
  render(
    <RateLimitProvider observer={limits} locale={locale}>
      <Profiler id="button" onRender={onRender}>
        <RateLimitButton name="quick" {...props}>
          {props.children ?? "Send"}
        </RateLimitButton>
      </Profiler>
    </RateLimitProvider>,
  );
  return { limits, onRender };
}

it("has one text as its name, in each state", async () => {
  const { limits } = start();
  expect(screen.getByRole("button", { name: "Send" }).dataset["state"]).toBe("ready");
  act(() => limits.fill("quick", -33));
  expect(screen.getByRole("button", { name: "Wait 34 seconds" }).dataset["state"]).toBe("waiting");
  await pass(4000);
  screen.getByRole("button", { name: "Wait 30 seconds" });
  await pass(30_000);
  expect(screen.getByRole("button", { name: "Send" }).dataset["state"]).toBe("ready");
});

it("passes the properties of a button on, and adds its class to the given one", () => {
  const ref = { current: null };
  start({ ref, id: "send", type: "submit", className: "big", "aria-describedby": "why" });
  expect(ref.current).toBe(button());
  expect(button().outerHTML).toMatch(/^<button[^>]* id="send"[^>]* type="submit"/);
  expect(button().className).toBe("rate-limit-button big");
  expect(button().getAttribute("aria-describedby")).toBe("why");
  expect(button().hasAttribute("name")).toBe(false);
  expect(button().hasAttribute("aria-disabled")).toBe(false);
});

it("neither acts nor submits its form while it waits, and keeps the focus", async () => {
  const onClick = vi.fn();
  const onSubmit = vi.fn((event: { preventDefault(): void }) => event.preventDefault());
  const limits = limitsOf();
  render(
    <RateLimitProvider observer={limits}>
      <form onSubmit={onSubmit}>
        <RateLimitButton name="quick" onClick={onClick}>
          Send
        </RateLimitButton>
      </form>
    </RateLimitProvider>,
  );
  button().focus();
  act(() => limits.fill("quick", 0));
  expect(button().getAttribute("aria-disabled")).toBe("true");
  fireEvent.click(button());
  expect([onClick.mock.calls.length, onSubmit.mock.calls.length]).toEqual([0, 0]);
  expect(document.activeElement).toBe(button());
  await pass(1000);
  fireEvent.click(button());
  expect([onClick.mock.calls.length, onSubmit.mock.calls.length]).toEqual([1, 1]);
});

it("waits for the count and the key that it is given", () => {
  const { limits } = start({ count: 50 });
  act(() => limits.fill("quick", 40));
  screen.getByRole("button", { name: "Wait 10 seconds" });
});

it("shows what a function says about each state", async () => {
  const { limits } = start({
    children: ({ state, remaining, text }) => `${state} ${remaining} ${text}`,
  });
  screen.getByRole("button", { name: "ready 100" });
  act(() => limits.fill("quick", -93));
  screen.getByRole("button", { name: "waiting 0 1m 34s" });
  act(() => limits.fill("quick", 1));
  screen.getByRole("button", { name: "ready 1" });
});

it("speaks the language of the provider", () => {
  const { limits } = start({ children: ({ text }) => text }, "de");
  act(() => limits.fill("quick", -33));
  screen.getByRole("button", { name: "34 Sek." });
});

it("fills by one animation for each wait, and goes on where the wait becomes longer", async () => {
  const { limits, onRender } = start();
  expect(told).toEqual([]);
  act(() => limits.fill("quick", -9));
  expect(told).toMatchObject([{ duration: 10_000, currentTime: 0, isOver: false }]);
  onRender.mockClear();
  await pass(5500);
  // Only the countdown renders, once a second, and nothing for the fill.
  expect(onRender).toHaveBeenCalledTimes(5);
  expect(told).toHaveLength(1);
  await act(async () => limits.fill("quick", -9));
  expect(told).toMatchObject([
    { isOver: true },
    { duration: 15_500, currentTime: 5500, isOver: false },
  ]);
});

it("does not fill where people prefer reduced motion", () => {
  prefersReduced = true;
  const { limits } = start();
  act(() => limits.fill("quick", 0));
  expect(told).toEqual([]);
});

it("is unknown on the server, and hydrates to the same", async () => {
  const complaints = vi.spyOn(console, "error");
  const never = () => new Promise<Response>(() => {});
  const own = createRateLimitReact({ url: "/api/limits", fetch: never });
  const page = (
    <own.RateLimitProvider live="off">
      <own.RateLimitButton name="quick">Send</own.RateLimitButton>
    </own.RateLimitProvider>
  );
  const container = document.createElement("div");
  document.body.append(container);
  container.innerHTML = renderToString(page);
  expect(container.firstElementChild?.getAttribute("data-state")).toBe("unknown");
  const onRecoverableError = vi.fn();
  const root = await act(async () => hydrateRoot(container, page, { onRecoverableError }));
  expect(screen.getByRole("button", { name: "Send" }).dataset["state"]).toBe("unknown");
  expect([onRecoverableError.mock.calls, complaints.mock.calls]).toEqual([[], []]);
  act(() => root.unmount());
  container.remove();
  complaints.mockRestore();
});
