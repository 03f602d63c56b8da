/** Switches between the two tiers. The limit's config says which one counts. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Stable } from "../shared/page/pieces.js";
import { useRateLimit, useTRPC } from "../shared/page/trpc.js";

const TIERS = [
  { id: "free", title: "Free" },
  { id: "paid", title: "Paid" },
] as const;

export function Tiers() {
  // Limit: its config says which tier counts.
  const { config } = useRateLimit("llmTokens");
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const rates = useQuery(trpc.model.tiers.queryOptions(undefined, { staleTime: Infinity })).data;
  // The choice shows at the press, and until the page knows the limit of that tier.
  const [chosen, setChosen] = useState<"free" | "paid">();
  const change = useMutation(
    trpc.model.tier.mutationOptions({
      // Limit: the page asks for it anew, and follows it on the new tier from then on.
      onSuccess: () =>
        queryClient.refetchQueries(trpc.rateLimit.status.queryFilter({ name: "llmTokens" })),
      onSettled: () => setChosen(undefined),
    }),
  );
  const current = TIERS.find(({ id }) => config && config.rate === rates?.[id])?.id;
  const shown = chosen ?? current;

  function choose(tier: "free" | "paid") {
    setChosen(tier);
    change.mutate({ tier });
  }

  return (
    <fieldset className="choice" aria-busy={change.isPending}>
      <legend>Tier</legend>
      {TIERS.map(({ id, title }) => (
        <label key={id}>
          <input type="radio" name="tier" checked={shown === id} onChange={() => choose(id)} />
          <span>
            {title}
            <small>
              <Stable
                shown={rates ? `${rates[id].toLocaleString("en")} tokens a minute` : "…"}
                texts={["12,000 tokens a minute"]}
              />
            </small>
          </span>
        </label>
      ))}
      <p role="alert">{change.error && "The tier could not be changed. Try again."}</p>
    </fieldset>
  );
}
