// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { Profiler } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type LimitConfig, SECOND } from "../../../core/index.js";
import { createFakeRateLimits } from "../../../testing/index.js";
import { RateLimitMeter, RateLimitProvider } from "../../support/page.js";

/** An animation as jsdom does not have it: what the bar was told, and whether it still is. */
interface Told {
  bar: SVGElement;
  /** How far outside of its track the bar begins, in percent of it. */
  from: number;
  /** ms for which it does not move at first. */
  delay: number;
  /** Whether it is where it begins during that, and not the whole bar. */
  isHidden: boolean;
  /** ms from then until it is full. */
  duration: number;
  isOver: boolean;
}

let told: Told[];
let prefersReduced: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  prefersReduced = false;
  const on = (bar: SVGElement) => told.filter((each) => each.bar === bar && !each.isOver);
  vi.stubGlobal("matchMedia", (query: string) => ({
    matches: query === "(prefers-reduced-motion)" && prefersReduced,
  }));
  Object.assign(SVGElement.prototype, {
    getAnimations(this: SVGElement) {
      return on(this).map((each) => ({ cancel: () => (each.isOver = true) }));
    },
    animate(
      this: SVGElement,
      frame: { transform: string; offset: 0 },
      { delay, duration, fill }: KeyframeAnimationOptions & { delay: number; duration: number },
    ) {
      const from = Number(/^translateX\((.+)%\)$/.exec(frame.transform)![1]);
      told.push({
        bar: this,
        from,
        delay,
        duration,
        isHidden: fill === "backwards",
        isOver: false,
      });
    },
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  const { prototype } = SVGElement as unknown as { prototype: Record<string, unknown> };
  delete prototype["animate"];
  delete prototype["getAnimations"];
});

const meter = () => screen.getByRole("meter");
const bar = () => meter().querySelector<SVGElement>("rect:last-child")!;
const width = () => bar().getAttribute("width")!;
/** The animations that run. One of an element that was removed does not. */
const moving = () => told.filter((each) => !each.isOver && each.bar.isConnected);
/** The tokens of three that the bar shows at the beginning of its animation. */
const shown = () => 3 + (moving()[0]!.from / 100) * 3;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

const BUCKET = { kind: "token bucket", rate: 1, period: 10 * SECOND, capacity: 3 } as const;

/** A meter of a limit that has its config from the test, and no server. */
function createMeter(config: LimitConfig = BUCKET) {
  const fake = createFakeRateLimits({ limits: { sendMessage: config } });
  let renders = 0;
  return {
    renders: () => renders,
    element: (smooth = true) => (
      <RateLimitProvider observer={fake}>
        <Profiler id="meter" onRender={() => renders++}>
          <RateLimitMeter name="sendMessage" label="Messages left" smooth={smooth} />
        </Profiler>
      </RateLimitProvider>
    ),
    fill: (value: number) => act(() => fake.fill("sendMessage", value)),
    close(ms: number) {
      const now = Date.now();
      const item = { name: "sendMessage" };
      const closed = { value: 0, ts: now + ms, closedUntil: now + ms };
      act(() => fake.receive({ ...item, ...closed, config: fake.config(item)!, now }));
    },
  };
}

describe("RateLimitMeter with smooth", () => {
  it("fills in time with the refill, by one animation and without a render", async () => {
    const { element, fill, renders } = createMeter();
    render(element());
    fill(1.5);
    expect(moving()).toHaveLength(1);
    expect(shown()).toBeCloseTo(1.5);
    expect(moving()[0]).toMatchObject({ delay: 0, duration: 15 * SECOND });
    expect(width()).toBe("100%");
    const [before, animations] = [renders(), told.length];
    await pass(4.9 * SECOND);
    expect([renders(), told.length]).toEqual([before, animations]);
    expect(meter().getAttribute("aria-valuenow")).toBe("1");
    // A whole token is there now, for screen readers, too. The bar goes on where it is.
    await pass(0.2 * SECOND);
    expect(meter().getAttribute("aria-valuenow")).toBe("2");
    expect(moving()).toHaveLength(1);
    expect(shown()).toBeCloseTo(2, 1);
    expect(moving()[0]!.duration).toBeCloseTo(10 * SECOND, -3);
  });

  it("follows a call that leaves as many whole tokens as before", () => {
    const { element, fill } = createMeter();
    render(element());
    fill(2.9);
    fill(2.1);
    expect(meter().getAttribute("aria-valuenow")).toBe("2");
    expect(moving()).toHaveLength(1);
    expect(shown()).toBeCloseTo(2.1);
  });

  it("stands still when it is full", async () => {
    const { element, fill } = createMeter();
    render(element());
    fill(2.5);
    await pass(6 * SECOND);
    expect(meter().getAttribute("aria-valuenow")).toBe("3");
    expect(moving()).toEqual([]);
    expect(width()).toBe("100%");
  });

  it("is empty until a debt is repaid, and then fills", () => {
    const { element, fill } = createMeter();
    render(element());
    fill(-3);
    // Once its own width outside of the track, and once more for the debt.
    expect(moving()[0]!.from).toBeCloseTo(-200);
    expect(moving()[0]).toMatchObject({ delay: 0, duration: 60 * SECOND });
    expect(meter().getAttribute("aria-valuenow")).toBe("0");
  });

  it("is empty while a denial has closed the limit, and fills from when it opens", () => {
    const { element, close } = createMeter({ ...BUCKET, blockFor: 20 * SECOND });
    render(element());
    close(20 * SECOND);
    expect(shown()).toBeCloseTo(0);
    const [opening] = moving();
    expect(opening).toMatchObject({ delay: 20 * SECOND, duration: 30 * SECOND, isHidden: true });
    expect(meter().getAttribute("aria-valuenow")).toBe("0");
  });

  it.each<[string, LimitConfig]>([
    ["fixed windows", { ...BUCKET, kind: "fixed window", rate: 3 }],
    ["slots", { kind: "concurrency", slots: 3, ttl: 10 * SECOND }],
  ])("fills in steps for %s", (_kind, config) => {
    const { element, fill } = createMeter(config);
    render(element());
    fill(1);
    expect(told).toEqual([]);
    expect(Number.parseFloat(width())).toBeCloseTo(100 / 3);
  });

  it("stands still for credits, which do not refill", async () => {
    const { element, fill } = createMeter({ kind: "credits", capacity: 3 });
    render(element());
    fill(1.5);
    expect(shown()).toBeCloseTo(1.5);
    expect(moving()[0]!.duration).toBe(Infinity);
  });

  it("fills in steps where visitors prefer reduced motion, also from now on", () => {
    prefersReduced = true;
    const { element, fill } = createMeter();
    render(element());
    fill(1.5);
    expect(told).toEqual([]);
    expect(Number.parseFloat(width())).toBeCloseTo(100 / 3);
    prefersReduced = false;
    fill(1.4);
    expect(moving()).toHaveLength(1);
    prefersReduced = true;
    fill(1.3);
    expect(moving()).toEqual([]);
    expect(Number.parseFloat(width())).toBeCloseTo(100 / 3);
  });

  it("moves in steps after the property is gone, and without it", () => {
    const { element, fill } = createMeter();
    const { rerender } = render(element());
    fill(1.5);
    expect(moving()).toHaveLength(1);
    rerender(element(false));
    expect(moving()).toEqual([]);
    expect(Number.parseFloat(width())).toBeCloseTo(100 / 3);
  });

  it("leaves a transition of the application alone without the property", () => {
    const { element, fill } = createMeter();
    render(element(false));
    told.push({ bar: bar(), from: 0, delay: 0, duration: 300, isHidden: false, isOver: false });
    fill(1.5);
    expect(moving()).toHaveLength(1);
  });

  it("hydrates what a server has rendered, and fills from then on", async () => {
    const { element, fill } = createMeter();
    const container = document.body.appendChild(document.createElement("div"));
    container.innerHTML = renderToString(element());
    expect(container.innerHTML).toContain('<rect width="0%"');
    const errors = vi.spyOn(console, "error");
    const root = await act(() => hydrateRoot(container, element(), { onRecoverableError: fail }));
    fill(1.5);
    expect(shown()).toBeCloseTo(1.5);
    expect(errors).not.toHaveBeenCalled();
    act(() => root.unmount());
    container.remove();
  });
});

function fail(error: unknown): never {
  throw error as Error;
}
