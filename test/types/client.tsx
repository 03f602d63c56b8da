/** Client code that must and must not compile. `tsc` checks it; it never runs. */
import { createTRPCClient, type TRPCClient, type TRPCClientError } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import type { TanStackDevtoolsReactInit } from "@tanstack/react-devtools";
import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { type RateLimitSnapshot, waitsInLine } from "trpc-rate-limit";
import { RateLimitAdmin } from "trpc-rate-limit/admin";
import "trpc-rate-limit/admin.css";
import {
  createRateLimitObserver,
  createTRPCTransport,
  rateLimitLink,
  type RateLimitTransport,
} from "trpc-rate-limit/client";
import { rateLimitDevtools } from "trpc-rate-limit/devtools";
import { createRateLimitReact, type RateLimitObserver } from "trpc-rate-limit/react";
import type { AppRouter, PartlyRouter, SharedRouter } from "./server.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const ownClient = createTRPCClient<AppRouter>({ links: [] });
const observed = createRateLimitObserver({
  transport: createTRPCTransport(ownClient, "rateLimit"),
});
export const devtools: TanStackDevtoolsReactInit = {
  plugins: [rateLimitDevtools({ client: ownClient }), rateLimitDevtools({ observer: observed })],
};
export const room = <RateLimitAdmin client={ownClient} path="support.limits" locale="de" />;
// @ts-expect-error It needs a client.
<RateLimitAdmin />;
// @ts-expect-error a client of something else
<RateLimitAdmin client={{ query: () => {} }} />;
// @ts-expect-error Either a client or an observer.
rateLimitDevtools({});

const { RateLimitProvider, RateLimitMeter, useRateLimit, useRateLimitedMutation } =
  createRateLimitReact<AppRouter>();
const nested = createRateLimitReact<AppRouter, "nested.limits">({ path: "nested.limits" });

declare const known: RateLimitSnapshot;
const checked = observed.check({ name: "sendMessage" }, 0, 0);
assert<Equal<ReturnType<typeof waitsInLine>, number[]>>();
waitsInLine(known, [1, 2]);
if (checked) waitsInLine(checked, [1]);
// @ts-expect-error Nothing may be known of the limit.
waitsInLine(checked, [1]);

assert<Equal<Parameters<typeof useRateLimit>[0], "sendMessage" | "signUp">>();
assert<Equal<Parameters<typeof useRateLimitedMutation>[0], "sendMessage" | "signUp">>();
const ofShared = createRateLimitReact<SharedRouter>();
assert<Equal<Parameters<typeof ofShared.useRateLimit>[0], "sendMessage" | "signUp">>();
const partly = createRateLimitReact<PartlyRouter>();
assert<Equal<Parameters<typeof partly.useRateLimit>[0], "signUp">>();
assert<Equal<Parameters<typeof nested.useRateLimit>[0], "sendMessage" | "signUp">>();
// @ts-expect-error a procedure, and no router of limits
createRateLimitReact<AppRouter, "send">({ path: "send" });
// @ts-expect-error no such path
createRateLimitReact<AppRouter, "limits.mine">({ path: "limits.mine" });
// @ts-expect-error the path that the hooks call is not the one of the types
createRateLimitReact<AppRouter, "nested.limits">({ path: "rateLimit" });
// For an unknown router, any name compiles.
createRateLimitReact<AnyTRPCRouter>().useRateLimit satisfies (name: string) => unknown;

export function Hooks() {
  const { status, check } = useRateLimit("sendMessage", { count: 2 });
  if (status?.ok === true) assert<Equal<typeof status.retryAt, undefined>>();
  if (status?.ok === false) assert<Equal<typeof status.retryAt, number>>();
  assert<Equal<ReturnType<typeof check>, ReturnType<typeof check> | undefined>>();
  // @ts-expect-error a misspelt name
  useRateLimit("sendMesage");
  // @ts-expect-error a misspelt option
  useRateLimit("signUp", { cuont: 1 });
  useRateLimit("signUp", { enabled: false, key: undefined });
  return null;
}

export function Mutations({ trpc }: { trpc: TRPCOptionsProxy<AppRouter> }) {
  const send = useRateLimitedMutation("sendMessage", {
    ...trpc.send.mutationOptions(),
    count: (variables) => {
      assert<Equal<typeof variables, void>>();
      return 1;
    },
    whenLimited: "wait",
  });
  assert<Equal<typeof send.data, number | undefined>>();
  const name = send.error?.data?.rateLimit?.name;
  assert<Equal<typeof name, "sendMessage" | "signUp" | undefined>>();
  assert<Equal<typeof send.retryAt, number | undefined>>();
  send.mutate();

  const vanilla = useRateLimitedMutation("signUp", {
    mutationFn: async ({ names }: { names: string[] }) => names.length,
    count: ({ names }) => names.length,
    onError: (error) => assert<Equal<typeof error, Error>>(),
    on: "error",
  });
  assert<Equal<Parameters<typeof vanilla.mutate>[0], { names: string[] }>>();
  assert<Equal<ReturnType<typeof vanilla.mutateAsync>, Promise<number>>>();
  if (vanilla.isSuccess) assert<Equal<typeof vanilla.data, number>>();
  // @ts-expect-error other variables
  vanilla.mutate({ names: "one" });
  // @ts-expect-error a misspelt name
  useRateLimitedMutation("signup", { mutationFn: async () => 1 });
  // @ts-expect-error no such way
  useRateLimitedMutation("signUp", { mutationFn: async () => 1, whenLimited: "drop" });
  return (
    <>
      <RateLimitMeter name="signUp" limitKey="team" label="Sign-ups left" />
      {/* @ts-expect-error a misspelt name */}
      <RateLimitMeter name="signup" label="Sign-ups left" />
      {/* @ts-expect-error nothing for screen readers */}
      <RateLimitMeter name="signUp" />
    </>
  );
}

export function Provider({ client }: { client: TRPCClient<AppRouter> }) {
  // @ts-expect-error no such mode
  const wrong = <RateLimitProvider client={client} live="sse" />;
  return [wrong, <RateLimitProvider key="poll" client={client} live="poll" pollInterval={1000} />];
}

export function OtherClients() {
  const partlyClient = createTRPCClient<PartlyRouter>({ links: [] });
  const unknown = createTRPCClient<AnyTRPCRouter>({ links: [] });
  const OfUnknown = createRateLimitReact<AnyTRPCRouter>().RateLimitProvider;
  createTRPCTransport(partlyClient, "rateLimit") satisfies RateLimitTransport<"signUp">;
  createTRPCTransport(unknown, "rateLimit") satisfies RateLimitTransport;
  // @ts-expect-error not a client
  rateLimitDevtools({ client: observed });
  return (
    <>
      <OfUnknown client={unknown} />
      <OfUnknown client={ownClient} />
      <nested.RateLimitProvider client={ownClient} />
      {/* @ts-expect-error the client of a router that has fewer of the limits */}
      <RateLimitProvider client={partlyClient} />
      {/* @ts-expect-error the client of a router that has no limits there */}
      <nested.RateLimitProvider client={partlyClient} />
    </>
  );
}

export function Observed(props: { client: TRPCClient<AppRouter>; observer: RateLimitObserver }) {
  // @ts-expect-error either a client or an observer
  const both = <RateLimitProvider client={props.client} observer={props.observer} />;
  // @ts-expect-error an observer has a mode of its own
  const mode = <RateLimitProvider observer={props.observer} live="off" />;
  // @ts-expect-error and one of them
  const neither = <RateLimitProvider />;
  return [both, mode, neither, <RateLimitProvider key="observed" observer={props.observer} />];
}

export async function calls(client: TRPCClient<AppRouter>) {
  const snapshot = await client.rateLimit.status.query({ name: "sendMessage" });
  assert<Equal<typeof snapshot.name, "sendMessage" | "signUp">>();
  // @ts-expect-error a misspelt name
  await client.rateLimit.check.query({ name: "sendMesage" });
  // @ts-expect-error clients do not bring a config
  await client.rateLimit.check.query({ name: "signUp", config: {} });
}

export function inferred(error: TRPCClientError<AppRouter>) {
  const { name, denials = [] } = error.data?.rateLimit ?? {};
  assert<Equal<typeof name, "sendMessage" | "signUp" | undefined>>();
  assert<Equal<(typeof denials)[number]["name"], "sendMessage" | "signUp">>();
  // @ts-expect-error a misspelt name
  return denials.find((denial) => denial.name === "sendMesage")?.retryAfter;
}

createTRPCClient<AppRouter>({
  links: [
    rateLimitLink({ limits: { send: "sendMessage", "nested.limits.check": null } }),
    rateLimitLink({ limits: { send: { name: "signUp", key: "k", count: 2, on: "error" } } }),
    rateLimitLink({ limits: ({ path }) => (path === "send" ? "sendMessage" : undefined) }),
    // @ts-expect-error a misspelt path
    rateLimitLink({ limits: { sned: "sendMessage" } }),
    // @ts-expect-error a misspelt name
    rateLimitLink({ limits: { send: "sendMesage" } }),
    // @ts-expect-error a misspelt name
    rateLimitLink({ limits: { send: { name: "sendMesage" } } }),
    // @ts-expect-error a misspelt name
    rateLimitLink({ limits: () => "sendMesage" }),
  ],
});
// For an unknown router, any path and any name compile.
rateLimitLink({ limits: { anything: "anything" } });

export function observe(client: TRPCClient<AppRouter>, untyped: RateLimitTransport) {
  const observer = createRateLimitObserver({
    transport: createTRPCTransport(client, "rateLimit"),
  });
  observer.observe({ name: "sendMessage" }, 1, () => {});
  observer.debit({ name: "signUp", key: "k" }, 1);
  // @ts-expect-error a misspelt name
  observer.status({ name: "sendMesage" }, 1);
  // For a transport without names, any name compiles.
  createRateLimitObserver({ transport: untyped }).refresh({ name: "anything" });
  return <RateLimitProvider observer={observer} />;
}
