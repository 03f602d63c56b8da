/** A tRPC client with `rateLimitLink`. The test answers its calls. Works only with fake timers. */
import { createTRPCClient, TRPCClientError, type TRPCLink } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable, type Observer } from "@trpc/server/observable";
import { expect, vi } from "vitest";
import {
  createRateLimitObserver,
  createTRPCTransport,
  isRateLimitError,
  rateLimitLink,
  type RateLimitLinkOptions,
} from "../../client/index.js";
import { pass, snapshotOf } from "./hand-transport.js";

export const config = { kind: "token bucket", rate: 1, period: 1000, capacity: 5 } as const;
export const NAME = "a";

interface SentCall extends Observer<unknown, unknown> {
  input: unknown;
  isAborted: boolean;
}

/** `sent` lists the calls to `take`. Set `sending.isBroken` to make each call throw. */
export function startLinked(options: RateLimitLinkOptions = {}) {
  const sent: SentCall[] = [];
  const sending = { isBroken: false };
  const end: TRPCLink<AnyTRPCRouter> =
    () =>
    ({ op }) =>
      observable((observer) => {
        const call = { ...(observer as SentCall), input: op.input, isAborted: false };
        if (sending.isBroken) throw new Error("the link is broken");
        if (op.path === "take") sent.push(call);
        return () => void (call.isAborted = true);
      });
  const client = createTRPCClient<AnyTRPCRouter>({
    links: [
      rateLimitLink({ clock: () => Date.now(), jitter: 0, limits: { take: NAME }, ...options }),
      end,
    ],
  });
  const { take } = client as never as {
    take: { mutate(input: unknown, options?: { signal: AbortSignal }): Promise<unknown> };
  };
  return {
    client,
    sent,
    sending,
    inputs: () => sent.map(({ input }) => input),
    /** Calls `take`. Resolves with its answer or its error. */
    take: (input: unknown, signal?: AbortSignal) =>
      take
        .mutate(input, ...(signal ? [{ signal }] : []))
        .catch((error: unknown) => error as TRPCClientError<AnyTRPCRouter>),
  };
}

export function answer(call: SentCall | undefined): void {
  call!.next({ result: { type: "data", data: "done" } });
  call!.complete();
}

/** Answers a call with a denial, as the server does. */
export function deny(call: SentCall | undefined, retryAfter: number, extra: object = {}): void {
  const rateLimit = { kind: "RateLimited", name: NAME, retryAfter, value: 0, config };
  const data = { rateLimit: { ...rateLimit, now: Date.now(), ...extra } };
  call!.error(TRPCClientError.from({ error: { code: -32029, message: "denied", data } } as never));
}

/** A client that has received a denial with a `retryAfter` of one second. */
export async function startDenied(options: RateLimitLinkOptions = {}) {
  const linked = startLinked({ whenLimited: "wait", ...options });
  const first = linked.take("first");
  deny(linked.sent[0], 1000);
  expect(await first).toSatisfy(isRateLimitError);
  linked.sent.length = 0;
  return linked;
}

/** An observer on the client, of a limit with `value` tokens. */
export async function observe({ client }: ReturnType<typeof startLinked>, value: number) {
  const item = { name: NAME };
  const onRequest = vi.fn();
  const transport = {
    ...createTRPCTransport(client, "rateLimit"),
    watch: () => () => {},
    async status() {
      onRequest();
      return snapshotOf(NAME, 5, { config });
    },
  };
  const clock = () => Date.now();
  const observer = createRateLimitObserver({ clock, pollInterval: 60_000, transport });
  observer.observe(item, 1, () => {});
  await pass(10);
  expect(observer.remaining(item)).toBe(5);
  const push = (tokens: number) => observer.receive(snapshotOf(NAME, tokens, { config }));
  push(value);
  onRequest.mockClear();
  return {
    push,
    remaining: () => observer.remaining(item),
    requestCount: () => onRequest.mock.calls.length,
    [Symbol.dispose]: () => observer.close(),
  };
}
