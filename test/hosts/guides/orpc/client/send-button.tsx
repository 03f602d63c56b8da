import { createORPCClient } from "@orpc/client";
import { RPCLink } from "@orpc/client/fetch";
import type { RouterClient } from "@orpc/server";
import { createRateLimitReact } from "trpc-rate-limit/fetch/react";
import type { limiter } from "../server/limiter.js";
import type { router } from "../server/router.js";

const link = new RPCLink({ url: () => `${location.origin}/rpc` });
const orpc: RouterClient<typeof router> = createORPCClient(link);

export const { RateLimitProvider, RateLimitButton, useRateLimitedAction } = createRateLimitReact<
  typeof limiter
>({ url: "/api/limits" });

export function SendButton() {
  const { action } = useRateLimitedAction("sendMessage", () => orpc.sendMessage());
  return (
    <RateLimitButton name="sendMessage" onClick={() => void action()}>
      Send
    </RateLimitButton>
  );
}
