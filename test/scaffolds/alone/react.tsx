import { initTRPC } from "@trpc/server";
import { createRateLimitReact } from "trpc-rate-limit/react";

// A router with the procedures that the hooks know a rate limit router by.
const t = initTRPC.create();
const nameOf = (value: unknown) => value as { name: "few" };
const appRouter = t.router({
  rateLimit: t.router({
    status: t.procedure.input(nameOf).query(() => undefined),
    watch: t.procedure.subscription(async function* () {}),
  }),
});

const { RateLimitCountdown, RateLimitMeter, useRateLimit, useRateLimitedMutation } =
  createRateLimitReact<typeof appRouter>();

export function SendButton() {
  const { status } = useRateLimit("few");
  const { mutate } = useRateLimitedMutation("few", { mutationFn: async () => "sent" });
  // @ts-expect-error no such limit
  useRateLimit("many");
  return (
    <button disabled={status?.ok === false} onClick={() => mutate()}>
      <RateLimitMeter name="few" label="messages" />
      <RateLimitCountdown retryAt={status?.retryAt} />
    </button>
  );
}

const element = <SendButton />;
console.log(element.type === SendButton ? "granted, then denied" : "");
