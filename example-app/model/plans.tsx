/** The prices: what each of the two plans has, and which one counts. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Stable } from "../shared/page/pieces.js";
import { useRateLimit, useTRPC } from "../shared/page/trpc.js";
import type { Plan } from "./limits.js";

const TITLES = [
  { id: "free", title: "Free" },
  { id: "paid", title: "Paid" },
] as const;

export function Plans() {
  // Limit: the config says which plan counts.
  const { config } = useRateLimit("llmTokens");
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const prices = useQuery(trpc.model.prices.queryOptions(undefined, { staleTime: Infinity })).data;
  // The choice is shown from the press until the page knows the limit of the chosen plan.
  const [chosen, setChosen] = useState<Plan>();
  const change = useMutation(
    trpc.model.changePlan.mutationOptions({
      // Limit: the page asks for the limit again, and follows it by the new plan from then on.
      onSuccess: () =>
        queryClient.refetchQueries(trpc.rateLimit.status.queryFilter({ name: "llmTokens" })),
      onSettled: () => setChosen(undefined),
    }),
  );
  const current = TITLES.find(
    ({ id }) => config && config.rate === prices?.[id].llmTokens.rate,
  )?.id;
  const shown = chosen ?? current;

  function choose(plan: Plan) {
    setChosen(plan);
    change.mutate({ plan });
  }

  return (
    <fieldset className="choice" aria-busy={change.isPending}>
      <legend>Plan</legend>
      {TITLES.map(({ id, title }) => (
        <label key={id}>
          <input type="radio" name="plan" checked={shown === id} onChange={() => choose(id)} />
          <span>
            {title}
            <small>
              <Stable
                shown={
                  prices ? `${prices[id].llmTokens.rate.toLocaleString("en")} tokens a minute` : "…"
                }
                texts={["12,000 tokens a minute"]}
              />
            </small>
          </span>
        </label>
      ))}
      <p role="alert">{change.error && "The plan could not be changed. Try again."}</p>
    </fieldset>
  );
}
