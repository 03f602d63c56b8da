/** Changes of plan that must and must not compile. `tsc` checks it; it never runs. */
import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";

const free = { kind: "token bucket", rate: 10, period: MINUTE } as const;
const pro = { ...free, rate: 100 } as const;
const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    send: free,
    daily: { kind: "fixed window", rate: 10, period: "day" },
    credits: { kind: "credits" },
    slots: { kind: "concurrency", slots: 2 },
  },
});

void limiter.changeConfig("send", { key: "k", from: free, to: pro });
void limiter.changeConfig("daily", { key: "k", to: pro }).then(({ value }) => value.toFixed());
void limiter.changeConfig("send", { key: "k", from: pro, to: undefined });
// A limit that the limiter does not know.
void limiter.changeConfig("other", { key: "k", from: free, to: pro });
// @ts-expect-error a misspelt name
void limiter.changeConfig("sned", { key: "k", to: pro });
// @ts-expect-error a balance has what was bought
void limiter.changeConfig("credits", { key: "k", to: pro });
// @ts-expect-error slots are no tokens
void limiter.changeConfig("slots", { key: "k", to: pro });
// @ts-expect-error what is it changed to?
void limiter.changeConfig("send");
// @ts-expect-error no such option
void limiter.changeConfig("send", { key: "k", config: pro });
// @ts-expect-error not a config
void limiter.changeConfig("send", { key: "k", to: { rate: 10 } });
declare const user: { id?: string };
// @ts-expect-error a missing user would be all users
void limiter.changeConfig("send", { key: user.id, to: pro });

void limiter.transaction(({ changeConfig }) => changeConfig("send", { key: "k", to: pro }));
declare const tx: Parameters<typeof limiter.using>[0];
void limiter.using(tx).changeConfig("daily", { key: "k", to: pro });
