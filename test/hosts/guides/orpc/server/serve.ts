import { RPCHandler } from "@orpc/server/fetch";
import { ResponseHeadersPlugin } from "@orpc/server/plugins";
import { createRateLimitHandler } from "trpc-rate-limit/server";
import { limiter } from "./limiter.js";
import { router } from "./router.js";
import { userIdOf } from "./session.js";

const rpc = new RPCHandler(router, { plugins: [new ResponseHeadersPlugin()] });
const limits = createRateLimitHandler({
  limiter,
  key: ({ request }) => userIdOf(request.headers),
});

export async function serve(request: Request): Promise<Response> {
  if (new URL(request.url).pathname === "/api/limits") return limits(request);
  const context = { userId: await userIdOf(request.headers) };
  const { response } = await rpc.handle(request, { prefix: "/rpc", context });
  return response ?? new Response(null, { status: 404 });
}
