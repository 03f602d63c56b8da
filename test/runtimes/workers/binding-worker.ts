/** A worker whose limiters are created at the top of the module, on a store in memory and on a binding. */
import { env, waitUntil } from "cloudflare:workers";
import {
  createRateLimiter,
  type D1DatabaseLike,
  d1Store,
  DAY,
  memoryStore,
  type RateLimiterOptions,
} from "../../../server/index.js";

const limits = { send: { kind: "fixed window", rate: 37, period: 1000 * DAY, start: 0 } } as const;

/** How many statements were sent to D1. */
let statements = 0;
const counting: D1DatabaseLike = {
  prepare(text) {
    statements++;
    return env.DB.prepare(text);
  },
  batch: (all) => env.DB.batch(all),
  exec: (text) => env.DB.exec(text),
};
const events: string[] = [];
const pruning: Pick<RateLimiterOptions<typeof limits>, "autoPrune" | "waitUntil"> = {
  autoPrune: true,
  waitUntil,
};

const memory = createRateLimiter({ store: memoryStore(), limits });
const shared = createRateLimiter({ store: d1Store(counting), limits });
const onRequest = () => createRateLimiter({ store: d1Store(counting), limits });
const pruned = createRateLimiter({
  store: d1Store(env.DB),
  limits: { spent: { kind: "token bucket", rate: 1, period: 1 } },
  ...pruning,
  async onDecision({ name }) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    events.push(name);
  },
});

function refusal(make: () => unknown): string {
  try {
    make();
    return "nothing";
  } catch (error) {
    return String(error);
  }
}

const withoutWaitUntil = refusal(() =>
  createRateLimiter({ store: memoryStore(), limits, autoPrune: true }),
);

const limiters = { memory, shared, onRequest: undefined };

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const key = searchParams.get("key")!;
    if (pathname === "/statements") return Response.json(statements);
    if (pathname === "/refused") return Response.json(withoutWaitUntil);
    if (pathname === "/events") return Response.json(events);
    if (pathname === "/rows") {
      const { items } = await pruned.list("spent");
      return Response.json(items.map((item) => item.key));
    }
    if (pathname === "/spend") return Response.json(await pruned.limit("spent", { key }));
    if (pathname === "/process") return Response.json(typeof process);
    const limiter = limiters[pathname.slice(1) as keyof typeof limiters] ?? onRequest();
    const calls = Array.from({ length: Number(searchParams.get("calls") ?? 1) }, () =>
      limiter.limit("send", { key }),
    );
    const answers = await Promise.all(calls);
    return Response.json(answers.filter(({ ok }) => ok).length);
  },
};
