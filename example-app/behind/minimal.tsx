import { setTimeout as sleep } from "node:timers/promises";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useTRPC } from "../shared/page/trpc.js";
import type { App } from "../shared/server/trpc.js";

// The limit: any of the others. This one is the chat's.
const NAME = "sendMessage";

// The procedure
export const readRows = ({ t, limiter }: App) =>
  t.procedure.subscription(async function* ({ ctx, signal }) {
    while (!signal?.aborted) {
      const { items } = await limiter.list(NAME, { count: 20 });
      const rows = items.map(({ key, value }, index) => {
        return { id: String(index), name: NAME, mine: key === ctx.visitor, value };
      });
      yield { process: ctx.process, rows };
      await sleep(1000, undefined, { signal }).catch(() => {});
    }
  });

// The component
export function Rows() {
  const trpc = useTRPC();
  const { data } = useSubscription(trpc.behind.rows.subscriptionOptions());
  return (
    <ul>
      {data?.rows.map(({ id, name, mine, value }) => (
        <li key={id}>
          {`${name} of ${mine ? "you" : "another visitor"}: ${Math.floor(value)} left`}
        </li>
      ))}
    </ul>
  );
}
