/** The router as a process serves it: tRPC's caller on the shipped router, and streams with pings. */
import type { Member, ShownName } from "../workloads/context.js";
import { SHOWN } from "../workloads/context.js";
import type { StartShipped } from "../shipped.js";

/** The answer that a client receives for a request. */
export type Served = { data: unknown } | { error: unknown };

export interface Site {
  serve(path: string, input: unknown, visitor: string): Promise<Served>;
  /**
   * Sends events of a stream, as tRPC's server writes them, until the signal aborts or the procedure
   * ends. Resolves when the stream has left nothing behind.
   */
  stream(
    path: string,
    input: unknown,
    visitor: string,
    signal: AbortSignal,
    send: (event: string, data: unknown) => void,
  ): Promise<void>;
}

interface Context {
  visitor: string;
}

/** The input of a procedure of the application. */
export interface SendInput {
  count: number;
  /** Whether the procedure fails after the charge. */
  fails: boolean;
}

/** As in the example: a stream that is quiet for longer counts as lost. */
const PING = 5000;
export const RECONNECT_AFTER = 10_000;

type Called = (input: unknown) => Promise<unknown>;

export function createSite(start: StartShipped, member: Member, maxStreams: number): Site {
  const globals = member.process.globals();
  const shipped = start.forPages(globals);
  const { setInterval, clearInterval } = globals as unknown as Pick<
    typeof globalThis,
    "setInterval" | "clearInterval"
  >;
  const t = shipped.initTRPC.context<Context>().create({
    errorFormatter: ({ shape, error }) => shipped.formatRateLimitError(shape, error),
  });
  const { router: rateLimit, rateLimited } = shipped.createRateLimitTRPC({
    t,
    limiter: member.live,
    key: ({ ctx }) => ctx.visitor,
    maxStreams,
  });
  const send = (name: ShownName) =>
    t.procedure
      .input((input: unknown) => input as SendInput)
      .use(rateLimited(name, { count: ({ input }) => (input as SendInput).count }))
      .mutation(({ input }) => {
        if (input.fails) throw new shipped.TRPCError({ code: "INTERNAL_SERVER_ERROR" });
        return "sent";
      });
  const names = Object.keys(SHOWN) as ShownName[];
  const app = t.router({
    rateLimit,
    send: t.router(Object.fromEntries(names.map((name) => [name, send(name)]))),
  });
  const createCaller = t.createCallerFactory(app);

  function call(path: string, input: unknown, ctx: Context, signal?: AbortSignal) {
    let found: unknown = createCaller(ctx, signal && { signal });
    for (const part of path.split(".")) found = (found as Record<string, unknown>)[part];
    return (found as Called)(input);
  }

  function shapeOf(path: string, input: unknown, ctx: Context, cause: unknown): unknown {
    const error = shipped.getTRPCErrorFromUnknown(cause);
    // oxlint-disable-next-line no-underscore-dangle -- As tRPC's adapters do.
    const config = app._def._config;
    return shipped.getTRPCErrorShape({ config, error, type: "unknown", path, input, ctx });
  }

  return {
    async serve(path, input, visitor) {
      try {
        return { data: await call(path, input, { visitor }) };
      } catch (error) {
        return { error: shapeOf(path, input, { visitor }, error) };
      }
    },
    async stream(path, input, visitor, signal, sendEvent) {
      sendEvent("connected", { reconnectAfterInactivityMs: RECONNECT_AFTER });
      const pings = setInterval(() => sendEvent("ping", ""), PING);
      try {
        const items = await call(path, input, { visitor }, signal);
        for await (const item of items as AsyncIterable<unknown>) sendEvent("message", item);
        sendEvent("return", "");
      } catch (error) {
        sendEvent("serialized-error", shapeOf(path, input, { visitor }, error));
      } finally {
        clearInterval(pings);
      }
    },
  };
}
