/**
 * The two ways by which clients reach limits: the router of tRPC, and the handler of HTTP. One suite runs
 * over both. A caller has the same functions on each way, which reject with `code` and `message`.
 */
import { initTRPC } from "@trpc/server";
import { createRateLimitHandler, type RateLimitSnapshot } from "../../server/index.js";
import { createRateLimitTRPC } from "../../server/trpc/index.js";

export const DOORS = ["router", "handler"] as const;
export type Door = (typeof DOORS)[number];

interface Input {
  name: string;
  key?: string | undefined;
  count?: number;
}

interface WatchInput {
  items: readonly Input[];
  stream?: string;
}

export interface DoorCaller {
  status(input: Input): Promise<RateLimitSnapshot>;
  check(input: Input): Promise<{ ok: boolean; value: number }>;
  limit(input: Input): Promise<{ ok: boolean; value: number }>;
  reset(input: Input): Promise<void>;
  watch(input: WatchInput): Promise<AsyncIterable<RateLimitSnapshot>>;
}

/** The options that both ways have. */
interface DoorOptions<TContext, TName extends string> {
  limiter: object;
  key: unknown;
  plan?: ((call: { ctx: TContext; name: TName; key: string | undefined }) => string) | undefined;
  authorize?:
    ((call: { ctx: TContext; name: TName; key: string | undefined }) => boolean) | undefined;
  expose?: readonly TName[];
  interval?: number;
  maxStreams?: number;
  keyInterval?: number;
}

/** @returns a function that makes a caller with this context. */
export function openDoor<TContext extends object, TName extends string = string>(
  door: Door,
  options: DoorOptions<TContext, TName>,
): (ctx: TContext, init?: { signal?: AbortSignal }) => DoorCaller {
  if (door === "router") {
    const t = initTRPC.context<TContext>().create();
    const rl = createRateLimitTRPC({ ...options, t } as never) as unknown as { router: never };
    return t.createCallerFactory(rl.router) as never;
  }
  const handler = createRateLimitHandler({
    ...options,
    context: (_: Request, ctx: TContext) => ctx,
  } as never) as unknown as (request: Request, ctx: TContext) => Promise<Response>;
  return (ctx, { signal } = {}) => callerOf((request) => handler(request, ctx), signal);
}

/** Calls a handler as a client does. */
export function callerOf(
  send: (request: Request) => Promise<Response>,
  signal?: AbortSignal,
): DoorCaller {
  const URL_OF_LIMITS = "http://test/api/limits";
  const ask = async (query: Record<string, unknown>) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const params = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    return answered(send, new Request(`${URL_OF_LIMITS}?${params}`, { signal: signal ?? null }));
  };
  const post = async (body: unknown) =>
    answered(
      send,
      new Request(URL_OF_LIMITS, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  return {
    status: async (input) => (await ask({ action: "status", ...input })).json(),
    check: async (input) => (await ask({ action: "check", ...input })).json(),
    limit: async (input) => (await post({ action: "limit", ...input })).json(),
    reset: async (input) => void (await post({ action: "reset", ...input })),
    async watch({ items, stream }) {
      return {
        async *[Symbol.asyncIterator]() {
          // A call of tRPC opens its stream when the stream is read.
          const response = await ask({ action: "watch", items: JSON.stringify(items), stream });
          yield* snapshotsOf(response);
        },
      };
    },
  };
}

/** What a client gets: an error with the code and the message of the answer. */
async function answered(
  send: (request: Request) => Promise<Response>,
  request: Request,
): Promise<Response> {
  const response = await send(request).catch((error: Error) => {
    // A host answers with 500 to what the handler throws, and shows nothing of it.
    if (error.name !== "RateLimitConfigError") throw error;
    const message = "A rate limit of this request has no valid config";
    throw Object.assign(new Error(message, { cause: error }), { code: "INTERNAL_SERVER_ERROR" });
  });
  if (response.ok) return response;
  const { code, message } = (await response.json()) as { code: string; message: string };
  throw Object.assign(new Error(message), { code });
}

async function* snapshotsOf({ body }: Response): AsyncGenerator<RateLimitSnapshot> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split("\n\n");
    text = events.pop()!;
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined && !event.startsWith("event: ping")) yield JSON.parse(data);
    }
  }
}
