/**
 * The parts of the package and of tRPC that a simulation loads: for a page, and for a process that serves
 * it.
 */
export { initTRPC, TRPCError, getTRPCErrorFromUnknown, getTRPCErrorShape } from "@trpc/server";
export {
  createTRPCClient,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
  type TRPCLink,
} from "@trpc/client";
export { observable } from "@trpc/server/observable";
export { createRateLimitTRPC, formatRateLimitError } from "../../../server/trpc/index.js";
export { createWait } from "../../../client/clocks.js";
export { createRateLimitObserver } from "../../../client/observer.js";
export { createTRPCTransport } from "../../../client/transport.js";
export { createHeldCalls, isWaitCancelled } from "../../../client/react/held-calls.js";
export { sendLimited } from "../../../client/react/send-limited.js";
