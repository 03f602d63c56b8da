import { HOUR } from "trpc-rate-limit";
import { z } from "zod";
import { RateLimitCountdown, useRateLimitedMutation } from "../shared/page/trpc.js";
import type { App } from "../shared/server/trpc.js";

// The limit
export const limits = {
  race: { kind: "token bucket", rate: 10, period: HOUR },
} as const;

// The procedure
export const order = ({ t, rl }: App) =>
  t.procedure
    .input(z.object({ number: z.int() }))
    // The token and the seat are in one transaction: both, or neither.
    .use(rl.rateLimited.transaction("race"))
    .mutation(({ ctx: { tx, visitor }, input: { number } }) =>
      tx.seat.create({ data: { orders: visitor, number } }),
    );

// The component
export function OrderSeat({ send }: { send: (seat: { number: number }) => Promise<unknown> }) {
  const seats = useRateLimitedMutation("race", { mutationFn: send });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        seats.mutate({ number: Number(new FormData(event.currentTarget).get("seat")) });
      }}
    >
      <input name="seat" type="number" aria-label="Seat" />
      <button disabled={!seats.canMutate}>Order</button>
      <p>
        <span>{`${seats.limit.value ?? "…"} orders left. `}</span>
        <span>{!seats.canMutate && "The next one in "}</span>
        <RateLimitCountdown retryAt={seats.retryAt} />
      </p>
      {seats.isError && <p role="alert">This seat is taken. Your token is not.</p>}
    </form>
  );
}
