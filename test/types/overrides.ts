/** Overrides that must and must not compile. `tsc` checks it; it never runs. */
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitOverride,
} from "trpc-rate-limit/server";

const store = memoryStore();
const limits = {
  send: { kind: "token bucket", rate: 10, period: MINUTE },
  other: { kind: "fixed window", rate: 10, period: MINUTE },
} as const;
const { overrides } = createRateLimiter({ store, limits, overrides: true, overridesFor: 1000 });

createRateLimiter({ store, limits });
createRateLimiter({ store, limits, overrides: false });
createRateLimiter({ store, limits, overrides: Math.random() > 0.5 });
// @ts-expect-error there is no copy that could get old
createRateLimiter({ store, limits, overridesFor: 1000 });
// @ts-expect-error there is no copy that could get old
createRateLimiter({ store, limits, overrides: false, overridesFor: 1000 });
// @ts-expect-error a boolean
createRateLimiter({ store, limits, overrides: "yes" });

const config = { kind: "token bucket", rate: 1, period: 1 } as const;
void overrides.set("send", { times: 2 });
void overrides.set("send", { key: "user", config, until: 5 });
void overrides.set("other", { key: "user", unlimited: true });
void overrides.set("other", { key: "user", blocked: true, until: undefined });
// @ts-expect-error a misspelt name
void overrides.set("sned", { times: 2 });
// @ts-expect-error what is missing is what counts instead
void overrides.set("send", { key: "user" });
// @ts-expect-error one of the two
void overrides.set("send", { times: 2, blocked: true });
// @ts-expect-error one of the two
void overrides.set("send", { config, unlimited: true });
// @ts-expect-error `clear` ends a ban
void overrides.set("send", { blocked: false });
// @ts-expect-error ms
void overrides.set("send", { blocked: true, until: new Date() });
declare const user: { id?: string };
// @ts-expect-error a missing user would be all users
void overrides.set("send", { key: user.id, blocked: true });
// @ts-expect-error a missing user would be all users
void overrides.clear("send", { key: user.id });
// @ts-expect-error no such config
void overrides.set("send", { config: { kind: "token bucket", rate: 1 } });

const limiter = createRateLimiter({ store, limits, overrides: true });
void limiter.transaction(async ({ tx, overrides: inside }) => {
  await inside.set("send", { key: "user", times: 2 });
  (await inside.clear("other", { key: "user" })) satisfies boolean;
  // @ts-expect-error a misspelt name
  await inside.set("sned", { times: 2 });
  await limiter.using(tx).overrides.set("send", { key: "user", times: 2 });
  // @ts-expect-error a misspelt name
  await limiter.using(tx).overrides.clear("sned");
  // @ts-expect-error a transaction of another client
  limiter.using({ $queryRaw: 5 });
});

async function read(): Promise<void> {
  const found = await overrides.get("send", { key: "user" });
  found satisfies RateLimitOverride<"send" | "other"> | undefined;
  for (const { name, times, config: given } of await overrides.list()) {
    name satisfies "send" | "other";
    times satisfies number | undefined;
    given?.rate satisfies number | undefined;
  }
  // @ts-expect-error a misspelt name
  await overrides.list("sned");
  (await overrides.clear("send")) satisfies boolean;
}
void read;
