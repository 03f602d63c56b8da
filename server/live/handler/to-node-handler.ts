/** Serves a handler of `fetch` in Express, Fastify, NestJS and Node.js itself. */
import type { RateLimitHandler } from "./create-rate-limit-handler.js";
import { type NodeRequest, requestOf } from "./node-request.js";
import { type NodeResponse, sendBody } from "./node-response.js";

/** A listener of Node.js, and middleware of Express. */
export type NodeListener<TRequest> = (
  req: TRequest,
  res: NodeResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Makes a listener of Node.js of a handler, which is also middleware of Express and NestJS. In Fastify, call
 * it with `request` and `reply.raw` after `reply.hijack()`.
 *
 * Errors that the handler throws go to `next` where there is one. Else they are written to the console, and
 * the answer is 500. `server.close()` waits for open streams; `server.closeAllConnections()` ends them, and
 * clients open them anew.
 *
 * @example
 * import { createServer } from "node:http";
 * import { createRateLimitHandler, toNodeHandler } from "trpc-rate-limit/server";
 *
 * const handler = createRateLimitHandler({ limiter, key: ({ request }) => userOf(request) });
 * createServer(toNodeHandler(handler)).listen(3000);
 * // In Express: app.all("/api/limits", toNodeHandler(handler));
 */
export function toNodeHandler(handler: RateLimitHandler<unknown>): NodeListener<NodeRequest>;
/**
 * The same, for a handler whose `context` needs more than the request.
 *
 * @param given what the handler gets after the request, such as the request of Express for its session.
 */
export function toNodeHandler<TRequest extends NodeRequest, TGiven>(
  handler: RateLimitHandler<unknown, [TGiven]>,
  given: (req: TRequest) => NoInfer<TGiven>,
): NodeListener<TRequest>;
export function toNodeHandler<TRequest extends NodeRequest>(
  handler: RateLimitHandler<unknown, [unknown]>,
  given?: (req: TRequest) => unknown,
): NodeListener<TRequest> {
  async function answer(req: TRequest, res: NodeResponse): Promise<void> {
    const gone = new AbortController();
    const leave = () => gone.abort();
    res.once("close", leave);
    if (res.destroyed) leave();
    const request = await requestOf(req, gone.signal);
    if (request === undefined) return;
    const response = await handler(request, given?.(req));
    res.statusCode = response.status;
    for (const [field, value] of response.headers) {
      // Each cookie is a field of its own, also beside cookies of the host.
      if (field === "set-cookie") res.appendHeader(field, value);
      else res.setHeader(field, value);
    }
    await sendBody(response.body, res, gone.signal);
    res.off("close", leave);
    res.end();
  }

  return (req, res, next) => {
    answer(req, res).catch((error: unknown) => {
      if (next !== undefined) return next(error);
      console.error("trpc-rate-limit: a handler of limits has failed", error);
      res.statusCode = 500;
      res.end();
    });
  };
}
