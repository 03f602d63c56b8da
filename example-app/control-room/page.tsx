/** The control room, for visitors who have put on the hat of an operator, who helps users. */
import code from "code:./minimal.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { RateLimitAdmin } from "trpc-rate-limit/admin";
import "trpc-rate-limit/admin.css";
import "../shared/page/choice.css";
import { Part } from "../shared/page/pieces.js";
import { client, useTRPC } from "../shared/page/trpc.js";
import "./page.css";

export default function ControlRoom() {
  const trpc = useTRPC();
  const { data: me } = useQuery(trpc.controlRoom.me.queryOptions());
  return (
    <Part
      title="Control room"
      code={code}
      lead="Who is limited now, and what the people who help them can do about it. What is done here shows on the customer's open page at once."
    >
      <div className="control-room">
        {!me && <p className="late">Asking who you are…</p>}
        {me && <Hat own={me.key} isOperator={me.isOperator} isOpen={me.isOpen} />}
        {/* One component shows the refusal or the room: the server decides which. */}
        {me && <RateLimitAdmin key={String(me.isOperator)} client={client} locale="en-GB" />}
        {me?.isOperator && <Customers />}
      </div>
    </Part>
  );
}

const HATS = [
  { isOperator: true, title: "Support", about: "may act" },
  { isOperator: false, title: "A visitor", about: "may not see it" },
];

function Hat({ own, isOperator, isOpen }: { own: string; isOperator: boolean; isOpen: boolean }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const become = useMutation(
    trpc.controlRoom.become.mutationOptions({
      onSuccess: () => queries.invalidateQueries({ queryKey: trpc.controlRoom.me.queryKey() }),
    }),
  );
  return (
    <div className="hat">
      <fieldset className="choice">
        <legend>You are</legend>
        {HATS.map((hat) => (
          <label key={hat.title}>
            <input
              type="radio"
              name="hat"
              checked={hat.isOperator === isOperator}
              disabled={hat.isOperator && !isOpen}
              onChange={() => become.mutate({ isOperator: hat.isOperator })}
            />
            <span>
              {hat.title}
              <small>{hat.about}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <dl className="own">
        <dt>Your own key, to look up</dt>
        <dd>
          <code>{own}</code>
        </dd>
      </dl>
      <p role="status" className="quiet">
        {isOpen && !isOperator && (
          <span>The server refuses the room to a visitor. As Support, it opens.</span>
        )}
        {!isOpen && <span>In production, visitors must not ban each other.</span>}
        {become.isError && <span>The server does not answer. Try again.</span>}
      </p>
    </div>
  );
}

/** Lets customers call while this page is open, so that there is something to see. */
function Customers() {
  useSubscription(useTRPC().controlRoom.customers.subscriptionOptions());
  return (
    <p className="quiet">
      Forty customers call while this page is open. A few of them call too much.
    </p>
  );
}
