/** The form with the numbers of the limit. Its fields follow the limit that is in force. */
import type { ChangeEvent, SubmitEvent } from "react";
import { SECOND } from "trpc-rate-limit";
import { CopyButton } from "../shared/page/code-lines.js";
import type { PlaygroundChoice } from "./choice.js";
import { choiceOfDraft, type Draft, hasShards, KINDS } from "./draft.js";
import { BOUNDS } from "./limits.js";
import type { Setting } from "./use-setting.js";

export function ChooseLimit({ setting }: { setting: Setting }) {
  const { choice, choose, chooseError, isChoosing, draft, setDraft, link } = setting;

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    choose(choiceOfDraft(draft));
  }

  const field = (name: Exclude<keyof Draft, "kind">) => ({
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
      <fieldset disabled={choice === undefined}>
        <label>
          Kind
          <select
            value={draft.kind}
            onChange={({ target }) => setDraft({ ...draft, kind: target.value as Draft["kind"] })}
          >
            {KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
        <label>
          Rate, tokens <input {...field("rate")} {...BOUNDS.rate} />
        </label>
        <label>
          Period, s{" "}
          <input
            {...field("period")}
            {...inSeconds(BOUNDS.period)}
            disabled={draft.kind === "calendar month"}
          />
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
            disabled={hasShards(draft)}
          />
        </label>
        {/* It is never really disabled, so that it keeps the focus. */}
        <button className="primary" aria-disabled={isChoosing}>
          Use this limit
        </button>
        {link !== undefined && <CopyButton label="Copy a link" what="to this" text={link} />}
      </fieldset>
      <p className="outcome" role={chooseError ? "alert" : "status"}>
        {chooseError
          ? (chooseError.data && chooseError.message) || "The server did not answer. Try it again."
          : choice && `In force: ${describe(choice)}.`}
      </p>
    </form>
  );
}

function inSeconds({ min, max }: { min: number; max: number }) {
  return { min: min / SECOND, max: max / SECOND };
}

function describe({ kind, rate, period, capacity, shards, blockFor }: PlaygroundChoice) {
  const time = period === "month" ? "calendar month" : `${period / SECOND} s`;
  const parts = [`${kind}, ${rate} per ${time}, at most ${capacity}`];
  if (shards > 1) parts.push(`${shards} shards`);
  if (blockFor) parts.push(`closed for ${blockFor / SECOND} s after a denial`);
  return parts.join(", ");
}
