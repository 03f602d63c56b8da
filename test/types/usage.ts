/** Code of usage that must and must not compile. `tsc` checks it; it never runs. */
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimiter,
} from "trpc-rate-limit/server";

const store = memoryStore();
const limiter = createRateLimiter({
  store,
  flushUsage: 1000,
  limits: {
    tokens: { kind: "token bucket", rate: 10, period: MINUTE, usage: true },
    credits: { kind: "credits", usage: { every: DAY, keep: 90 * DAY, changes: true } },
    plain: { kind: "token bucket", rate: 10, period: MINUTE },
    off: { kind: "token bucket", rate: 10, period: MINUTE, usage: false },
    slots: { kind: "concurrency", slots: 1 },
  },
});
const span = { from: 0, to: HOUR };

void limiter.usage("tokens", { key: "ann", ...span });
void limiter.usage("credits", { ...span, every: DAY });
void limiter.usage("elsewhere", { ...span, config: limiter.limits.tokens });
void limiter.usage("tokens", { key: "ann", month: "2030-04" });
void limiter.usage("tokens", { month: "2030-04", timeZone: "Asia/Kolkata", every: "day" });
void limiter.flushUsage();
void limiter.usageChanges({ since: 0, limit: 10 }).then(({ items, next }) => {
  for (const { id, name, key, taken } of items) void [id, name satisfies "credits", key, taken];
  return limiter.usageChanges({ since: next });
});
void limiter.usageChanges().then(({ items: [item] }) => {
  // @ts-expect-error only credits tell their spans
  return item?.name === "tokens";
});
void limiter.topUsage("tokens", { ...span, by: "denied", count: 5 }).then(({ items, total }) => {
  for (const { key, denied } of items)
    void [key satisfies string | undefined, denied, total.denied];
});
// @ts-expect-error it counts nothing
void limiter.topUsage("plain", { ...span, by: "denied" });
// @ts-expect-error by what?
void limiter.topUsage("tokens", span);
// @ts-expect-error they are not sorted by calls that were granted
void limiter.topUsage("tokens", { ...span, by: "granted" });
// @ts-expect-error until is no option
void limiter.usageChanges({ until: 0 });
// @ts-expect-error a month has its own start
void limiter.usage("tokens", { month: "2030-04", from: 0 });
// @ts-expect-error instants are of no time zone
void limiter.usage("tokens", { ...span, timeZone: "UTC" });
// @ts-expect-error days are those of a month
void limiter.usage("tokens", { ...span, every: "day" });
// @ts-expect-error it counts nothing
void limiter.usage("plain", span);
// @ts-expect-error it counts nothing
void limiter.usage("off", span);
// @ts-expect-error slots are not counted
void limiter.usage("slots", span);
// @ts-expect-error there is no such limit
void limiter.usage("tokns", span);
// @ts-expect-error until when?
void limiter.usage("tokens", { key: "ann", from: 0 });
// @ts-expect-error slots are not counted
createRateLimiter({ store, limits: { a: { kind: "concurrency", slots: 1, usage: true } } });
// @ts-expect-error in which spans?
createRateLimiter({ store, limits: { a: { kind: "credits", usage: "hour" } } });

declare const untyped: RateLimiter;
void untyped.usage("any", span);
