/** Code of the admin router that must and must not compile. `tsc` checks it; it never runs. */
import { createTRPCClient, httpLink } from "@trpc/client";
import { initTRPC } from "@trpc/server";
import {
  createRateLimiter,
  type DecisionListener,
  memoryStore,
  MINUTE,
  type OperatorAction,
} from "trpc-rate-limit/server";
import {
  type AdminAction,
  type AdminItem,
  type AdminLimits,
  type AdminUsage,
  createRateLimitTRPC,
  type RateLimitAdminOptions,
  type RateLimitAdminRouter,
  SHARED_BUCKET,
} from "trpc-rate-limit/trpc";

interface Context {
  user: { id: string; isAdmin: boolean };
}

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    send: { kind: "token bucket", rate: 10, period: MINUTE },
    render: { kind: "concurrency", slots: 2 },
  },
  overrides: true,
});
const t = initTRPC.context<Context>().create();

const rl = createRateLimitTRPC({
  t,
  limiter,
  key: ({ ctx }) => ctx.user.id,
  expose: ["send"],
  admin: {
    authorize({ ctx, action, name, key }) {
      action satisfies "view" | OperatorAction;
      name satisfies "send" | "render" | undefined;
      key satisfies string | undefined;
      // @ts-expect-error no such action
      if (action === "delete") return false;
      // @ts-expect-error no such limit
      if (name === "sned") return false;
      return ctx.user.isAdmin;
    },
    actor: ({ ctx }) => ctx.user.id,
  },
});
// All limits are there, not only those that pages may know.
rl.admin satisfies RateLimitAdminRouter<Context, object, "send" | "render">;

const key = SHARED_BUCKET;
createRateLimitTRPC({ t, limiter, key, admin: { authorize: async () => true } });
// @ts-expect-error somebody has to say who may use it
createRateLimitTRPC({ t, limiter, key, admin: {} });
// @ts-expect-error somebody has to say who may use it
createRateLimitTRPC({ t, limiter, key, admin: { actor: () => "ada" } });
// @ts-expect-error an answer that is no boolean allows nothing
createRateLimitTRPC({ t, limiter, key, admin: { authorize: ({ ctx }) => ctx.user } });
const authorize = () => true;
// @ts-expect-error a name, and not an object
createRateLimitTRPC({ t, limiter, key, admin: { authorize, actor: ({ ctx }) => ctx.user } });
// @ts-expect-error no such option
createRateLimitTRPC({ t, limiter, key, admin: { authorize: () => true, authorise: () => true } });

({ authorize: ({ name }) => name === "send" }) satisfies RateLimitAdminOptions<Context, "send">;

export const appRouter = t.router({ rateLimit: rl.router, rateLimitAdmin: rl.admin });

const client = createTRPCClient<typeof appRouter>({
  links: [httpLink({ url: "http://localhost" })],
});
const { rateLimitAdmin: admin } = client;

void (async () => {
  const { actions, limits } = await admin.limits.query();
  actions satisfies AdminAction[];
  limits[0]!.name satisfies "send" | "render";
  const page = await admin.list.query({ name: "send" });
  page.items[0]! satisfies AdminItem;
  await admin.list.query({ name: "render", denied: false, count: 5, after: page.next });
  await admin.key.query();
  await admin.key.query({ key: page.items[0]!.key, stored: true });
  const usage = await admin.usage.query({ name: "send", from: 0, to: 5 });
  usage.source satisfies "usage" | "process";
  await admin.denials.query();
  await admin.ban.mutate({ name: "send", key: "ada" });
  await admin.exempt.mutate({ name: "send", key: "ada", for: MINUTE, stored: true });
  await admin.raise.mutate({ name: "send", all: true, times: 0.5 });
  const { item, overrides } = await admin.clear.mutate({
    name: "send",
    key: "ada",
    only: "blocked",
  });
  item.retryAfter satisfies number | undefined;
  overrides?.[0]?.until satisfies number | undefined;
  await admin.reset.mutate({ name: "render", all: true });
  await admin.give.mutate({ name: "send", key: "ada", add: 100, until: Date.now() + MINUTE });
  const { items: changes } = await admin.changes.query({ key: "ada" });
  changes[0]!.name satisfies "send" | "render";
  const [after] = changes[0]!.after;
  if (after !== undefined && "add" in after) after.add satisfies number | undefined;
  const undone = await admin.undo.mutate({ id: changes[0]!.id, why: "a mistake" });
  undone.name satisfies "send" | "render";
  (await admin.overrides.query()).items[0]!.setAt satisfies number;
  // @ts-expect-error how many more
  await admin.give.mutate({ name: "send", key: "ada" });

  const { items, sources } = await admin.top.query({ from: 0, to: 1, by: "denied", count: 5 });
  for (const { name, share, ...of } of items) {
    void [name satisfies "send" | "render", of.key satisfies string | undefined, share];
  }
  sources[0]?.source satisfies "usage" | "processes" | "process" | undefined;
  // @ts-expect-error by what?
  await admin.top.query({ from: 0, to: 1 });

  // @ts-expect-error a misspelt name
  await admin.list.query({ name: "sned" });
  // @ts-expect-error how many times
  await admin.raise.mutate({ name: "send", key: "ada" });
  // @ts-expect-error ms
  await admin.ban.mutate({ name: "send", key: "ada", for: "1 h" });
  // @ts-expect-error a span
  await admin.usage.query({ name: "send" });
  // @ts-expect-error a query
  await admin.limits.mutate();
});

// Answers can be passed on without their names.
export function shown(limits: AdminLimits, usage: AdminUsage) {
  return [limits.limits.map(({ name }) => name), usage.items.map(({ granted }) => granted)];
}

const listener: DecisionListener = ({ action, by }) => {
  by satisfies string | undefined;
  action satisfies "limit" | "check" | "charge" | "credit" | "warn" | OperatorAction;
};
limiter.onDecision(listener) satisfies () => void;
