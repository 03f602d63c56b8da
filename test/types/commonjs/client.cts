/** Code that must compile in a client that becomes CommonJS: each place that takes tRPC's client. */
import { QueryClient } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { createElement } from "react";
import { RateLimitAdmin } from "trpc-rate-limit/admin";
import {
  createRateLimitObserver,
  createTRPCTransport,
  inspectRateLimits,
  rateLimitLink,
  rateLimitRetry,
} from "trpc-rate-limit/client";
import { RateLimitCountdown as Countdown } from "trpc-rate-limit/countdown";
import { rateLimitDevtools } from "trpc-rate-limit/devtools";
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "./server.cjs";

export const { RateLimitProvider, useRateLimit, useRateLimitedMutation } =
  createRateLimitReact<AppRouter>();

const client = createTRPCClient<AppRouter>({
  links: [
    rateLimitLink({ limits: { send: "send" }, whenLimited: "reject" }),
    httpLink({ url: "http://127.0.0.1" }),
  ],
});
const queryClient = new QueryClient({ defaultOptions: { mutations: { retry: rateLimitRetry() } } });
const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient });

const observer = createRateLimitObserver({ transport: createTRPCTransport(client, "rateLimit") });
observer.debit({ name: "send" }, 1);
// @ts-expect-error a misspelt name
observer.debit({ name: "sedn" }, 1);
inspectRateLimits(client);
export const plugin = rateLimitDevtools({ client });
export const room = createElement(RateLimitAdmin, { client });

export function Page() {
  return createElement(RateLimitProvider, { client }, createElement(Send));
}

function Send() {
  const { status } = useRateLimit("send");
  const send = useRateLimitedMutation("send", {
    ...trpc.send.mutationOptions(),
    count: ({ text }) => text.length,
    onSuccess: (_data, _variables, _result, context) => context.client.invalidateQueries(),
  });
  const name = send.error?.data?.rateLimit?.name satisfies "send" | "logIn" | "render" | undefined;
  const wait = createElement(Countdown, { retryAt: send.retryAt });
  return createElement(
    "button",
    { disabled: !status?.ok, onClick: () => send.reset() },
    name,
    wait,
  );
}
