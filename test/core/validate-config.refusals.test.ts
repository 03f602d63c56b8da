/** What the options of a limit may be, and what each other value is told. */
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import { validateConfig } from "../../core/validate-config.js";

type Row = [options: object, option: string, reason: string];

const bucket = { kind: "token bucket", rate: 5, period: MINUTE };
const window = { kind: "fixed window", rate: 10, period: 90 * DAY, start: 0 };
const closing = { ...window, blockFor: HOUR };
const daily = { kind: "fixed window", rate: 1, period: "day" };
const hot = { kind: "token bucket", rate: 100, period: 1000, capacity: 100, lease: { ms: 100 } };
const credits = { kind: "credits" };
const slots = { kind: "concurrency", slots: 2 };
const ones = (length: number) => Array.from({ length }, () => 1);

const perBase: [base: object, rows: Row[]][] = [
  [
    bucket,
    [
      [
        { rate: 0 },
        "rate",
        'finite number above 0 (kind: "credits" is a balance that only credit() ',
      ],
      [{ rate: 0 }, "rate", "raises), got 0"],
      [{ period: "month" }, "period", "a whole number of ms above 0, got"],
      [{ period: "day" }, "period", "must be a whole number"],
      [{ start: 0 }, "start", "left out of a token bucket, which has no windows, got 0"],
      [{ period: DAY, timeZone: "UTC" }, "timeZone", "must be left out, or go with"],
      [{ blockFor: 0 }, "blockFor", "must be a whole number of ms above 0, got 0"],
      [{ blockFor: 1.5 }, "blockFor", "must be a whole number of ms above 0, got 1.5"],
      [{ blockFor: 2 ** 53 }, "blockFor", "must be a whole number of ms above 0"],
      [{ blockFor: 1, shards: 2 }, "blockFor", "must be left out of a limit with shards"],
      [{ blockFor: 1, afterBlock: "new window" }, "afterBlock", "left out of a token bucket"],
      [{ blockFor: [] }, "blockFor", "a list of 1 to 100"],
      [{ blockFor: ones(101) }, "blockFor", "a list of 1 to 100"],
      [{ blockFor: [MINUTE, 0] }, "blockFor[1]", "a whole number of ms above 0"],
      [{ blockFor: [1.5] }, "blockFor[0]", "a whole number of ms above 0"],
      [{ blockFor: [1, 2 ** 53 - 1] }, "blockFor[1]", "a whole number of ms above 0"],
      [{ blockFor: ["1m"] }, "blockFor[0]", "a whole number of ms above 0"],
      [{ blockFor: [2, 1] }, "blockFor[1]", "at least as long as the closing before it (2)"],
      [{ blockFor: [1, 2], shards: 2 }, "blockFor", "left out of a limit with shards"],
      [{ blockFor: [1, 2], lease: { ms: 10 } }, "blockFor", "does not go with lease"],
      [{ blockFor: [1, 2], forgiveAfter: 0 }, "forgiveAfter", "a whole number of ms above 0"],
      [{ blockFor: 1, forgiveAfter: 1 }, "forgiveAfter", "with a list of blockFor alone"],
      [{ forgiveAfter: 1 }, "forgiveAfter", "make blockFor a list"],
      [{ onceFor: 0 }, "onceFor", "a whole number of ms above 0"],
      [{ onceFor: 1, shards: 2 }, "shards", "does not go with onceFor"],
      [{ holds: "yes" }, "holds", 'must be a boolean, got "yes"'],
      [{ holds: true, shards: 2 }, "shards", "does not go with holds, got 2"],
      [{ holds: true, blockFor: MINUTE }, "blockFor", "does not go with holds"],
      [{ rememberDenials: -1 }, "rememberDenials", "must be a whole number of ms"],
      [{ usage: 1 }, "usage", "must be true, or an object"],
      [{ usage: null }, "usage", "must be true, or an object"],
      [{ usage: { for: 1 } }, "usage.for", "is not an option, got 1; use every, keep"],
      [{ usage: { every: 59_999 } }, "usage.every", "got 59999"],
      ...[59_999, 7 * HOUR, 2 * DAY, NaN].map((every): Row => {
        return [{ usage: { every } }, "usage.every", "divides a day"];
      }),
      [{ usage: { keep: MINUTE } }, "usage.keep", "at least every (3600000)"],
      [{ usage: { keep: 2 ** 53 } }, "usage.keep", "must be a whole number"],
      [{ usage: { changes: "yes" } }, "usage.changes", 'must be a boolean, got "yes"'],
    ],
  ],
  [
    window,
    [
      [{ rate: 0 }, "rate", "must be a finite number above 0, got 0"],
      [{ period: "year" }, "period", '"day", "week" or "month", got "year"'],
      [{ period: "month", start: Number.MAX_SAFE_INTEGER }, "start", "must be a date"],
      [{ starts: [1] }, "starts", "is not an option"],
      [{ afterBlock: "new window" }, "afterBlock", "left out of a limit without blockFor"],
    ],
  ],
  [
    closing,
    [
      [{ afterBlock: "full" }, "afterBlock", 'be "next window" or "new window", got "full"'],
      [
        { afterBlock: "new window", period: "month" },
        "afterBlock",
        "left out of a limit of months",
      ],
    ],
  ],
  [
    daily,
    [
      [{ timeZone: "Berlin" }, "timeZone", 'a time zone, such as "Europe/Berlin", got "Berlin"'],
      ...["Mars/Olympus", "", "+02:00", 2].map((timeZone): Row => {
        return [{ timeZone }, "timeZone", "must be the name of a time zone"];
      }),
      [{ period: DAY, timeZone: "UTC" }, "timeZone", "must be left out, or go with"],
      [{ weekStart: 1 }, "weekStart", 'must be left out, or go with a period of "week"'],
      [{ period: "week", weekStart: 7 }, "weekStart", "must be a whole number from 0"],
      [{ start: 0 }, "start", "must be left out of days, weeks and months"],
      [{ period: "month", timeZone: "UTC", start: 0 }, "start", "of days, weeks and months"],
      [{ lease: { ms: 1000 } }, "period", "does not go with lease"],
      [{ blockFor: HOUR, afterBlock: "new window" }, "afterBlock", "left out of a limit of days"],
      [{ blockFor: HOUR, afterBlock: "new window" }, "afterBlock", "on a day of the calendar"],
    ],
  ],
  [
    hot,
    [
      [{ blockFor: 1000 }, "blockFor", "does not see the closing"],
      [{ shards: 4 }, "shards", "leave shards out"],
      [{ kind: "fixed window", period: "month" }, "period", "use a period in ms"],
      [{ lease: { ms: 9 } }, "lease.ms", "from 10 to 60,000"],
      [{ lease: { ms: 60_001 } }, "lease.ms", "from 10 to 60,000"],
      [{ lease: { ms: 10.5 } }, "lease.ms", "a whole number"],
      [{ lease: {} }, "lease.ms", "a whole number"],
      [{ lease: 100 }, "lease", "{ ms: 1000 }"],
      [{ lease: { ms: 100, size: 5 } }, "lease.size", "use ms"],
      [{ lease: { ms: 1000 } }, "lease.ms", "100 tokens come in"],
    ],
  ],
  [
    credits,
    [
      [{ rate: 5 }, "rate", 'credits do not refill; for tokens that come back, use kind: "token'],
      [{ period: MINUTE }, "period", "credits do not refill"],
      [{ maxReserved: 5 }, "maxReserved", "no tokens are still to come"],
      [{ shards: 2 }, "shards", "a balance is one row"],
      [{ blockFor: MINUTE }, "blockFor", "nothing would open the balance again"],
      [{ afterBlock: "new window" }, "afterBlock", "nothing would open the balance again"],
      [{ start: 5 }, "start", "credits have no windows"],
      [{ timeZone: "UTC" }, "timeZone", "credits have no windows"],
      [{ lease: { ms: 100 } }, "lease", "what is left of a block lapses"],
      ...[0, -1, NaN, 2 ** 54, "10"].map((capacity): Row => [{ capacity }, "capacity", "must be"]),
      [{ shadow: 1 }, "shadow", "must be a boolean, got 1"],
      [{ burst: 1 }, "burst", "is not an option"],
    ],
  ],
  [
    slots,
    [
      [{ slots: 0 }, "slots", "must be a whole number from 1 to 1000, got 0"],
      [{ slots: 1.5 }, "slots", "must be a whole number from 1 to 1000, got 1.5"],
      [{ ttl: 10 }, "ttl", "must be a whole number of ms from 1000 to 600000, got 10"],
      [{ ttl: { ms: 3000 } }, "ttl", "must be a whole number of ms"],
      [{ lease: { ms: 3000 } }, "lease", 'of slots (kind: "concurrency"), got an object; use ttl'],
      [{ rate: 5 }, "rate", "is not an option of slots"],
      [{ shards: 5 }, "shards", "is not an option of slots"],
      [{ usage: true }, "usage", "is not an option of slots"],
    ],
  ],
];
const refused = perBase.flatMap(([base, rows]) =>
  rows.map(([options, ...told]) => [{ ...base, ...options }, ...told] as const),
);

it.each(refused)("%j is refused for its %s, with %j", (config, option, reason) => {
  const name = `limits.a.${option}`;
  const validate = () => validateConfig(config as never, "limits.a");
  expect(validate).toThrow(expect.objectContaining({ name: "RateLimitConfigError", option: name }));
  expect(validate).toThrow(new RegExp(`^${name.replace(/[[\]]/g, String.raw`\$&`)} `));
  expect(validate).toThrow(reason);
  // What credits have at all may be wrong; nothing else goes with them.
  const isOther = "kind" in config && config.kind === "credits" && !/^(must|is not)/.test(reason);
  if (isOther) expect(validate).toThrow(`${name} does not go with kind: "credits", got `);
});

it.each([
  { ...bucket, blockFor: MINUTE },
  { ...bucket, blockFor: [MINUTE] },
  { ...bucket, blockFor: [MINUTE, MINUTE, DAY], forgiveAfter: 1 },
  { ...bucket, blockFor: ones(100) },
  ...[undefined, false, true, {}, { every: MINUTE }, { every: DAY, keep: DAY }].map((usage) => {
    return { ...bucket, usage };
  }),
  ...[window, closing].map((config) => ({ ...config, period: "month" })),
  { ...closing, afterBlock: "next window" },
  daily,
  { ...daily, timeZone: "europe/berlin" },
  { ...daily, period: "week", weekStart: 0, timeZone: "Asia/Calcutta" },
  { ...daily, period: "month", timeZone: "Etc/GMT+12", shards: 3 },
  { ...daily, period: "month", timeZone: "EST", blockFor: HOUR },
  { ...hot, lease: { ms: 900 } },
  { ...hot, kind: "fixed window", lease: { ms: 10 } },
  { ...hot, shards: 1 },
  { ...hot, lease: undefined },
  credits,
  ...[
    { capacity: 10 },
    { shadow: true },
    { rememberDenials: 100 },
    { usage: { every: 8 * HOUR } },
  ].map((options) => ({ ...credits, ...options })),
  // As `configOf` and snapshots give it.
  { ...credits, rate: 0, period: 1, capacity: 2 ** 53 },
  { kind: "concurrency", slots: 1 },
  { kind: "concurrency", slots: 1000, ttl: 600_000 },
])("%j is accepted", (config) => {
  expect(() => validateConfig(config as never)).not.toThrow();
});
