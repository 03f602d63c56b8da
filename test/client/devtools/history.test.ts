import { expect, it, onTestFinished } from "vitest";
import { History } from "../../../client/devtools/history.js";
import { createRateLimitObserver } from "../../../client/index.js";
import { createManualClock } from "../../../core/testing.js";
import { HOUR, SECOND } from "../../../core/durations.js";

const item = { name: "a" };

/** An observer of a limit that holds 4 tokens, all of which are there. */
function start() {
  const clock = createManualClock(1_900_000_000_000);
  const transport = { status: () => new Promise<never>(() => {}), watch: () => () => {} };
  const observer = createRateLimitObserver({ clock, transport });
  onTestFinished(() => observer.close());
  observer.observe(item, 1, () => {});
  const config = { kind: "token bucket", rate: 1, period: HOUR, capacity: 4 } as const;
  observer.receive({ ...item, value: 4, ts: clock(), config, now: clock() });
  const history = new History();
  const limit = () => observer.inspect().limits[0]!;
  return {
    clock,
    observer,
    sample: (isPretended?: boolean) => history.sample(observer, limit(), clock(), isPretended),
    lines: () => history.lines(limit(), clock()),
  };
}

it("draws what the page predicted, and below it the server's answer", () => {
  const { clock, observer, sample, lines } = start();
  sample();
  expect(lines()).toBeUndefined();
  clock.advance(30 * SECOND);
  // Nothing is drawn through the half minute in which nobody looked.
  sample();
  clock.advance(SECOND);
  observer.debit(item, 2);
  sample();
  expect(lines()).toEqual({
    predicted: "M48.3 1M98.3 1L100 12",
    answered: "M48.3 1M98.3 1L100 1",
    label: "Last minute: predicted 2 to 4, answered 4",
  });
});

it("forgets what is more than a minute ago, and what a clock that was put back has made the future", () => {
  const { clock, sample, lines } = start();
  for (let i = 0; i < 90; i++) {
    sample();
    clock.advance(SECOND);
  }
  sample();
  expect(lines()!.predicted.split(/[ML]/)).toHaveLength(62);
  clock.advance(-30 * SECOND);
  sample();
  expect(lines()!.predicted.split(/[ML]/)).toHaveLength(32);
});

it("draws no answer of the server while something else is pretended", () => {
  const { clock, sample, lines } = start();
  for (const isPretended of [false, true, true, false, false]) {
    sample(isPretended);
    clock.advance(SECOND);
  }
  expect(lines()!.predicted).toMatch(/^M[^M]*$/);
  expect(lines()!.answered).toMatch(/^M[^ML]*M[^ML]*L[^ML]*$/);
  expect(lines()!.label).toBe("Last minute: predicted 4, answered 4");
});

it("moves once a second, and not with every look", () => {
  const { clock, sample, lines } = start();
  sample();
  clock.advance(SECOND);
  sample();
  const before = lines();
  clock.advance(400);
  sample();
  expect(lines()).toEqual(before);
});
