/** Ten orders, of which every second one fails in the middle: the tokens they took, and the seats. */
import type { inferRouterOutputs } from "@trpc/server";
import { useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";
import { ORDERS } from "./limits.js";
import { StartButton } from "./start-button.js";

type Race = inferRouterOutputs<AppRouter>["race"]["order"];

export function Orders() {
  const trpc = useTRPC();
  // Limit: both races take from the same bucket.
  const order = useRateLimitedMutation("runRace", trpc.race.order.mutationOptions());
  const { data } = order;

  return (
    <section className="card" aria-labelledby="orders-title">
      <h2 id="orders-title">Ten orders, of which five fail in the middle</h2>
      <p className="quiet">
        Each order takes a token, and then writes a seat. Every second one wants the seat of the
        order before, so its write fails. The naive limiter counts exactly here, in one statement.
        This package puts the token and the seat into one transaction.
      </p>
      <div className="start">
        <StartButton text="Send 10 orders" race={order} onStart={() => order.mutate()}>
          {data && summaryOf(data)}
        </StartButton>
      </div>
      <div className="racers">
        <Racer title="Take, then write" orders={data?.naive} />
        <Racer title="limiter.transaction" orders={data?.package} />
      </div>
    </section>
  );
}

const tokensOf = (orders: Race["naive"]) => orders.filter(({ tookToken }) => tookToken).length;
const seatsOf = (orders: Race["naive"]) => orders.filter(({ wroteSeat }) => wroteSeat).length;

function summaryOf({ naive, package: own }: Race): string {
  return (
    `The naive limiter took ${tokensOf(naive)} tokens for ${seatsOf(naive)} seats. ` +
    `This package took ${tokensOf(own)} tokens for ${seatsOf(own)} seats.`
  );
}

function Racer({ title, orders }: { title: string; orders: Race["naive"] | undefined }) {
  const lost = orders ? tokensOf(orders) - seatsOf(orders) : 0;
  return (
    <section className="racer" aria-label={title}>
      <h3>{title}</h3>
      <p className="granted">
        <b>{orders ? tokensOf(orders) : "–"}</b> tokens, <b>{orders ? seatsOf(orders) : "–"}</b>{" "}
        seats
      </p>
      <p className="verdict" data-bad={lost !== 0}>
        {orders && (lost === 0 ? "they match" : `${lost} tokens are lost`)}
      </p>
      <table className="orders">
        <thead>
          <tr>
            <th scope="col">Order</th>
            {Array.from({ length: ORDERS }, (_, i) => (
              <th key={i} scope="col">
                {i + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Row name="Token" orders={orders} is={({ tookToken }) => tookToken} />
          <Row name="Seat" orders={orders} is={({ wroteSeat }) => wroteSeat} />
        </tbody>
      </table>
    </section>
  );
}

function Row({
  name,
  orders,
  is,
}: {
  name: string;
  orders: Race["naive"] | undefined;
  is: (order: Race["naive"][number]) => boolean;
}) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {Array.from({ length: ORDERS }, (_, i) => {
        const order = orders?.[i];
        const isBad = order && order.tookToken !== order.wroteSeat;
        return (
          <td key={i} data-bad={isBad}>
            {order && (
              <>
                <span aria-hidden="true">{is(order) ? "✓" : "–"}</span>
                <span className="hidden">{is(order) ? "yes" : "no"}</span>
              </>
            )}
          </td>
        );
      })}
    </tr>
  );
}
