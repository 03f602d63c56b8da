/** The form with the numbers of the limit. Its fields follow the limit that is in force. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ChangeEvent, type SubmitEvent, useState } from "react";
import type { RateLimitConfig } from "trpc-rate-limit";
import { useRateLimit, useTRPC } from "../shared/page/trpc.js";
import type { BucketHistory } from "./bucket-history.js";
import { BOUNDS } from "./limits.js";

const SECOND = 1000;

/** The texts of the fields. Times are in seconds. */
const draftOf = (config?: RateLimitConfig) => ({
  kind: config?.kind ?? "token bucket",
  rate: String(config?.rate ?? ""),
  period: config ? String(Number(config.period) / SECOND) : "",
  capacity: String(config?.capacity ?? config?.rate ?? ""),
  shards: String(config?.shards ?? 1),
  blockFor: String((config?.blockFor ?? 0) / SECOND),
});

export function ChooseLimit({ history }: { history: BucketHistory }) {
  // Limit: the numbers that are in force.
  const { config } = useRateLimit("playground");
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [shown, setShown] = useState(config);
  const [draft, setDraft] = useState(() => draftOf(config));
  const choose = useMutation(
    trpc.playground.choose.mutationOptions({
      onSuccess() {
        history.clear();
        return queryClient.refetchQueries(
          trpc.rateLimit.status.queryFilter({ name: "playground" }),
        );
      },
    }),
  );
  // The limit has changed, here or in another tab.
  if (config !== shown) {
    setShown(config);
    setDraft(draftOf(config));
  }
  const hasShards = Number(draft.shards) > 1;

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const blockFor = hasShards ? 0 : Number(draft.blockFor) * SECOND;
    choose.mutate({
      kind: draft.kind,
      rate: Number(draft.rate),
      period: Math.round(Number(draft.period) * SECOND),
      capacity: Number(draft.capacity),
      shards: Number(draft.shards),
      ...(blockFor > 0 && { blockFor }),
    });
  }

  const field = (name: Exclude<keyof typeof draft, "kind">) => ({
    type: "number",
    required: true,
    step: "any",
    value: draft[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) =>
      setDraft({ ...draft, [name]: event.target.value }),
  });

  return (
    <form className="card choose" onSubmit={submit} aria-labelledby="choose-title">
      <h2 id="choose-title">The limit</h2>
      <fieldset disabled={config === undefined}>
        <label>
          Kind
          <select
            value={draft.kind}
            onChange={({ target }) =>
              setDraft({ ...draft, kind: target.value as RateLimitConfig["kind"] })
            }
          >
            <option>token bucket</option>
            <option>fixed window</option>
          </select>
        </label>
        <label>
          Rate, tokens <input {...field("rate")} {...BOUNDS.rate} />
        </label>
        <label>
          Period, s <input {...field("period")} {...inSeconds(BOUNDS.period)} />
        </label>
        <label>
          Capacity, tokens <input {...field("capacity")} {...BOUNDS.capacity} />
        </label>
        <label>
          Shards <input {...field("shards")} {...BOUNDS.shards} step={1} />
        </label>
        <label>
          Block after a denial, s
          <input
            {...field("blockFor")}
            min={0}
            max={BOUNDS.blockFor.max / SECOND}
            disabled={hasShards}
          />
        </label>
        <button className="primary" disabled={choose.isPending}>
          Use this limit
        </button>
      </fieldset>
      <p className="outcome" role={choose.error ? "alert" : "status"}>
        {choose.error
          ? (choose.error.data && choose.error.message) ||
            "The server did not answer. Try it again."
          : config && `In force: ${describe(config)}.`}
      </p>
    </form>
  );
}

function inSeconds({ min, max }: { min: number; max: number }) {
  return { min: min / SECOND, max: max / SECOND };
}

function describe({ kind, rate, period, capacity = rate, shards = 1, blockFor }: RateLimitConfig) {
  const parts = [`${kind}, ${rate} per ${Number(period) / SECOND} s, at most ${capacity}`];
  if (shards > 1) parts.push(`${shards} shards`);
  if (blockFor) parts.push(`closed for ${blockFor / SECOND} s after a denial`);
  return parts.join(", ");
}
