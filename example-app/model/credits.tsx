/** The credits that are left, and the button that buys more. */
import { useMutation } from "@tanstack/react-query";
import { withOnceId } from "trpc-rate-limit/client";
import { Stable } from "../shared/page/pieces.js";
import { useRateLimit, useTRPCClient } from "../shared/page/trpc.js";
import { CREDITS_SOLD } from "./prompt.js";

const SOLD = CREDITS_SOLD.toLocaleString("en");
const LABELS = { buy: `Buy ${SOLD} credits`, full: "No room for more" };

export function Credits() {
  // Limit: the balance, live. The `capacity` is the largest possible balance.
  const { value, config } = useRateLimit("credits");
  const client = useTRPCClient();
  const buy = useMutation({
    // Limit: all tries of a purchase send one id, so a lost answer does not buy twice.
    mutationFn: withOnceId(client.model.buyCredits.mutate, (_: void, id) => ({ id })),
    retry: 3,
  });
  const capacity = config?.capacity ?? Infinity;
  const isFull = value !== undefined && value + CREDITS_SOLD > capacity;
  const isReady = value !== undefined && !isFull && !buy.isPending;

  return (
    <div className="credits">
      <p>
        <Stable
          shown={
            <>
              <b>{value?.toLocaleString("en") ?? "…"}</b> credits
            </>
          }
          texts={["10,000 credits"]}
        />
      </p>
      {/* The button is never really disabled, so that it keeps the focus. */}
      <button aria-disabled={!isReady} onClick={() => isReady && buy.mutate()}>
        <Stable shown={isFull ? LABELS.full : LABELS.buy} texts={Object.values(LABELS)} />
      </button>
      <p role="status" className="hidden">
        {buy.isSuccess && `You have bought ${SOLD} credits.`}
      </p>
      <p role="alert">{buy.error && "The credits could not be bought. Try again."}</p>
    </div>
  );
}
