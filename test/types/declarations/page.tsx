/** Exports of an application's page. */
import { createTRPCClient, httpLink } from "@trpc/client";
import {
  createRateLimitObserver,
  createTRPCTransport,
  inspectRateLimits,
  predictFirst,
  rateLimitLink,
  rateLimitRetry,
  rateLimitRetryDelay,
  shareStream,
  withOnceId,
} from "trpc-rate-limit/client";
import { rateLimitDevtools } from "trpc-rate-limit/devtools";
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "./server.js";

export const client = createTRPCClient<AppRouter>({
  links: [rateLimitLink({ limits: { send: "send" } }), httpLink({ url: "http://127.0.0.1" })],
});
export const link = rateLimitLink<AppRouter>();
export const transport = createTRPCTransport(client, "rateLimit");
export const observer = createRateLimitObserver({ transport });
export const shared = shareStream(transport, { caller: "ann" });
export const inspected = inspectRateLimits(client);
export const plugin = rateLimitDevtools({ client });
export const retry = rateLimitRetry(3);
export const retryDelay = rateLimitRetryDelay;
export const predict = predictFirst;
export const once = withOnceId;

export const limits = createRateLimitReact<AppRouter>();
export const { RateLimitProvider, useRateLimit, useRateLimitedMutation, useCountdown } = limits;
export const { RateLimitMeter, RateLimitCountdown } = limits;
export const useSend = () => useRateLimit("send");
export const useSending = () =>
  useRateLimitedMutation("send", { mutationFn: () => client.send.mutate() });
