/**
 * The numbers of the limit. A change here is in force at once, and used tokens stay used. The form
 * follows the limit in force.
 */
import type { ChangeEvent, SubmitEvent } from "react";
import { SECOND } from "trpc-rate-limit";
import { CopyButton } from "../shared/page/code-lines.js";
import type { PlaygroundChoice } from "./choice.js";
import { choiceOfDraft, type Draft, hasShards, KINDS } from "./draft.js";
import { BOUNDS } from "./limits.js";
import { Slider, STOPS } from "./slider.js";
import type { Setting } from "./use-setting.js";
import "./choose-limit.css";

interface ChooseLimitProps {
  setting: Setting;
  /** A link to what is shown; `undefined` while it is not known. */
  link: string | undefined;
}

export function ChooseLimit({ setting, link }: ChooseLimitProps) {
  const { choice, choose, chooseError, isChoosing, draft, change } = setting;

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
      change({ ...draft, [name]: event.target.value }),
  });
  const slider = (name: keyof typeof STOPS) => ({
    stops: STOPS[name],
    value: draft[name],
    onSlide: (value: string) => change({ ...draft, [name]: value }),
  });

  return (
    <form className="card choose" onSubmit={submit} aria-labelledby="choose-title">
      <h2 id="choose-title">The limit</h2>
      <fieldset disabled={choice === undefined}>
        <label className="field">
          Kind
          <select
            value={draft.kind}
            onChange={({ target }) => change({ ...draft, kind: target.value as Draft["kind"] })}
          >
            {KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
        <div className="field">
          <label>
            Rate, tokens <input {...field("rate")} {...BOUNDS.rate} />
          </label>
          <Slider label="Slide the rate" {...slider("rate")} />
        </div>
        <div className="field">
          <label>
            Period, s{" "}
            <input
              {...field("period")}
              {...inSeconds(BOUNDS.period)}
              disabled={draft.kind === "calendar month"}
            />
          </label>
          <Slider
            label="Slide the period"
            {...slider("period")}
            disabled={draft.kind === "calendar month"}
          />
        </div>
        <div className="field">
          <label>
            Capacity, tokens <input {...field("capacity")} {...BOUNDS.capacity} />
          </label>
          <Slider label="Slide the capacity" {...slider("capacity")} />
        </div>
        <div className="field">
          <label>
            Block after a denial, s
            <input
              {...field("blockFor")}
              min={0}
              max={BOUNDS.blockFor.max / SECOND}
              disabled={hasShards(draft)}
            />
          </label>
          <Slider label="Slide the block" {...slider("blockFor")} disabled={hasShards(draft)} />
        </div>
        <div className="field">
          <label>
            Shards <input {...field("shards")} {...BOUNDS.shards} step={1} />
          </label>
        </div>
        {/* The button is never really disabled, so that it keeps the focus. */}
        <button aria-disabled={isChoosing}>Fill the bucket</button>
        {link !== undefined && <CopyButton label="Copy a link" what="to this" text={link} />}
      </fieldset>
      <p className="outcome" role={chooseError ? "alert" : "status"}>
        {chooseError
          ? (chooseError.data && chooseError.message) || "The server did not answer. Try again."
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
