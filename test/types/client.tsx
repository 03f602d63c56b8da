/** What must and must not compile on the client; checked by `tsc`, never run. */
import type { TRPCClient, TRPCClientError } from "@trpc/client";
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "./server.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const { RateLimitProvider, useRateLimit } = createRateLimitReact<AppRouter>();
const nested = createRateLimitReact<AppRouter, "nested.limits">({ path: "nested.limits" });
const nowhere = createRateLimitReact<AppRouter, "send">({ path: "send" });

assert<Equal<Parameters<typeof useRateLimit>[0], "sendMessage" | "signUp">>();
assert<Equal<Parameters<typeof nested.useRateLimit>[0], "sendMessage" | "signUp">>();
assert<Equal<Parameters<typeof nowhere.useRateLimit>[0], never>>();

export function Hooks() {
  const { status, check } = useRateLimit("sendMessage", { count: 2 });
  if (status?.ok === true) assert<Equal<typeof status.retryAt, undefined>>();
  if (status?.ok === false) assert<Equal<typeof status.retryAt, number>>();
  assert<Equal<ReturnType<typeof check>, ReturnType<typeof check> | undefined>>();
  // @ts-expect-error a misspelt name
  useRateLimit("sendMesage");
  // @ts-expect-error a misspelt option
  useRateLimit("signUp", { cuont: 1 });
  return null;
}

export function Provider({ client }: { client: TRPCClient<AppRouter> }) {
  return <RateLimitProvider client={client} />;
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
  const name = error.data?.rateLimit?.name;
  assert<Equal<typeof name, "sendMessage" | "signUp" | undefined>>();
}
