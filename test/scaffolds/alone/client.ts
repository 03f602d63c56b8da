import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { initTRPC } from "@trpc/server";
import {
  createRateLimitObserver,
  createTRPCTransport,
  rateLimitLink,
  rateLimitRetry,
} from "trpc-rate-limit/client";

// A router with the procedures that the client knows a rate limit router by.
const t = initTRPC.create();
const nameOf = (value: unknown) => value as { name: "few" };
const appRouter = t.router({
  rateLimit: t.router({
    status: t.procedure.input(nameOf).query(() => undefined),
    watch: t.procedure.subscription(async function* () {}),
  }),
  send: t.procedure.mutation(() => "sent"),
});

const client = createTRPCClient<typeof appRouter>({
  links: [
    rateLimitLink({ limits: { send: "few" }, whenLimited: "reject" }),
    httpBatchLink({ url: "http://localhost/trpc" }),
  ],
});
rateLimitLink<typeof appRouter>({
  // @ts-expect-error no such limit
  limits: { send: "many" },
});
const observer = createRateLimitObserver({ transport: createTRPCTransport(client, "rateLimit") });
const isUnknown = observer.status({ name: "few" }, 1) === undefined;
console.log(isUnknown && rateLimitRetry(3)(0, new Error("offline")) ? "granted, then denied" : "");
observer.close();
