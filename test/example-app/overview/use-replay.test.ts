// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { useReplay } from "../../../example-app/overview/use-replay.js";

const RACE = Array.from({ length: 50 }, (_, i) => i);
const ANOTHER = RACE.map((i) => -i);

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["requestAnimationFrame", "cancelAnimationFrame", "performance"],
  });
  want("no-preference");
  return () => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  };
});

function want(motion: "no-preference" | "reduce"): void {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: query.includes(motion) }));
}

/** Shows answers of a race, as the page does. */
function replay(first?: readonly number[], { isOld = false } = {}) {
  const { result, rerender } = renderHook(
    (props: { answers: readonly number[] | undefined; isOld: boolean }) =>
      useReplay(props.answers, props.isOld),
    { initialProps: { answers: first, isOld } },
  );
  return {
    seen: () => result.current,
    show: (answers: readonly number[]) => rerender({ answers, isOld: false }),
    pass: (duration: number) => act(() => void vi.advanceTimersByTime(duration)),
  };
}

it("shows the answers of a race one after the other, in 1.2 s", () => {
  const { seen, show, pass } = replay();
  expect(seen()).toEqual([]);
  show(RACE);
  expect(seen()).toEqual([]);
  const lengths = Array.from({ length: 6 }, () => {
    pass(200);
    expect(seen()).toEqual(RACE.slice(0, seen().length));
    return seen().length;
  });
  // A frame is 16 ms: its share of 50 answers is less than one.
  lengths.forEach((length, i) => expect(Math.abs(length - (50 * (i + 1)) / 6)).toBeLessThan(2));
  pass(20);
  expect(seen()).toEqual(RACE);
  expect(vi.getTimerCount()).toBe(0);
});

it("begins again with the next race, whether or not the one before was over", () => {
  for (const after of [600, 2000]) {
    const { seen, show, pass } = replay(RACE);
    pass(after);
    expect(seen().length).toBeGreaterThan(20);
    show(ANOTHER);
    expect(seen()).toEqual([]);
    pass(600);
    expect(seen()).toEqual(ANOTHER.slice(0, seen().length));
    expect(seen().length).toBeLessThan(27);
    pass(1000);
    expect(seen()).toEqual(ANOTHER);
  }
});

it("shows an earlier race at once, and the next one from its first answer", () => {
  const { seen, show, pass } = replay(RACE, { isOld: true });
  expect(seen()).toEqual(RACE);
  show(ANOTHER);
  expect(seen()).toEqual([]);
  pass(1300);
  expect(seen()).toEqual(ANOTHER);
});

it("shows each race at once to a visitor who wants no motion", () => {
  want("reduce");
  const { seen, show } = replay(RACE);
  expect(seen()).toEqual(RACE);
  show(ANOTHER);
  expect(seen()).toEqual(ANOTHER);
  expect(vi.getTimerCount()).toBe(0);
});
