/**
 * The limits that each host serves, with the package's functions as an argument: Deno has the built
 * package. A caller names itself in the field `x-user`, and may not request a key. With `x-wait`, its key
 * takes so many ms. An admin may limit and reset.
 */
import type * as Package from "../../server/index.js";

type Functions = Pick<
  typeof Package,
  "createRateLimiter" | "createRateLimitHandler" | "memoryStore"
>;

/** Nothing refills meanwhile. */
const clock = () => Date.UTC(2030, 0, 1);

const config = { kind: "token bucket", rate: 3, period: 60_000 } as const;

export function createHandlerApp(
  { createRateLimiter, createRateLimitHandler, memoryStore }: Functions,
  store: Package.RateLimitStore<never> = memoryStore() as never,
) {
  const limiter = createRateLimiter({ store, clock, logger: false, limits: { send: config } });
  return createRateLimitHandler({
    limiter: limiter as Package.RateLimiter<{ send: typeof config }>,
    interval: 200,
    maxStreams: 1,
    async key({ request, requested }) {
      const user = request.headers.get("x-user");
      const wait = Number(request.headers.get("x-wait"));
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (user !== null) return requested === undefined ? user : null;
      const headers = new Headers({ "WWW-Authenticate": "Bearer" });
      headers.append("Set-Cookie", "session=; Max-Age=0");
      headers.append("Set-Cookie", "theme=dark");
      throw new Response("log in", { status: 401, headers });
    },
    authorize: ({ request }) => request.headers.get("x-role") === "admin",
  });
}
