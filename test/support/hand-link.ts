/** A client with the link, whose calls the test answers instead of a server. Only on fake timers. */
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
import { pass, saying } from "./hand-transport.js";

export const config = { kind: "token bucket", rate: 1, period: 1000, capacity: 5 } as const;
export const NAME = "a";

interface Sent extends Observer<unknown, unknown> {
  input: unknown;
  isGone: boolean;
}

/** A client whose calls the test answers, or does not. */
export function startLinked(options: RateLimitLinkOptions = {}) {
  const sent: Sent[] = [];
  const sending = { isBroken: false };
  const end: TRPCLink<AnyTRPCRouter> =
    () =>
    ({ op }) =>
      observable((observer) => {
        const call = { ...(observer as Sent), input: op.input, isGone: false };
        if (sending.isBroken) throw new Error("no link for this");
        if (op.path === "take") sent.push(call);
        return () => void (call.isGone = true);
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
    /** The answer of a call, or its error. */
    take: (input: unknown, signal?: AbortSignal) =>
      take
        .mutate(input, ...(signal ? [{ signal }] : []))
        .catch((error: unknown) => error as TRPCClientError<AnyTRPCRouter>),
  };
}

export function answer(call: Sent | undefined): void {
  call!.next({ result: { type: "data", data: "done" } });
  call!.complete();
}

/** An error as the server sends it. */
export function deny(call: Sent | undefined, retryAfter: number, facts: object = {}): void {
  const rateLimit = { kind: "RateLimited", name: NAME, retryAfter, value: 0, config };
  const data = { rateLimit: { ...rateLimit, now: Date.now(), ...facts } };
  call!.error(TRPCClientError.from({ error: { code: -32029, message: "no", data } } as never));
}

/** A limit that is known to be empty for a second. */
export async function startDenied(options: RateLimitLinkOptions = {}) {
  const linked = startLinked({ whenLimited: "wait", ...options });
  const first = linked.take("first");
  deny(linked.sent[0], 1000);
  expect(await first).toSatisfy(isRateLimitError);
  linked.sent.length = 0;
  return linked;
}

/** An observer of the client's, of a limit with so many tokens. */
export async function observe({ client }: ReturnType<typeof startLinked>, value: number) {
  const item = { name: NAME };
  const questions = vi.fn();
  const transport = {
    ...createTRPCTransport(client, "rateLimit"),
    watch: () => () => {},
    async status() {
      questions();
      return saying(NAME, 5, { config });
    },
  };
  const clock = () => Date.now();
  const observer = createRateLimitObserver({ clock, pollInterval: 60_000, transport });
  observer.observe(item, 1, () => {});
  await pass(10);
  expect(observer.remaining(item)).toBe(5);
  const push = (tokens: number) => observer.receive(saying(NAME, tokens, { config }));
  push(value);
  questions.mockClear();
  return {
    push,
    remaining: () => observer.remaining(item),
    asked: () => questions.mock.calls.length,
    [Symbol.dispose]: () => observer.close(),
  };
}
