/** The limits worth a try, and in one sentence what to do with the limit in force. */
import { Stable } from "../shared/page/pieces.js";
import { PRESETS, presetOf } from "./preset-list.js";
import type { Setting } from "./use-setting.js";
import "./presets.css";

const OWN = "Your own numbers: press Call, hold it, or let ten visitors call for a minute.";
const ADVICE = [...PRESETS.map(({ advice }) => advice), OWN];

/** @param problem shown instead of the advice. */
export function Presets({ setting, problem }: { setting: Setting; problem: string | undefined }) {
  const { choice, call, choose } = setting;
  const current = choice && presetOf(choice, call);
  return (
    <div className="presets">
      <div role="group" aria-label="Limits to try">
        {PRESETS.map((preset) => (
          <button
            key={preset.name}
            type="button"
            aria-pressed={preset === current}
            disabled={choice === undefined}
            onClick={() => choose(preset.choice, preset.call)}
          >
            {preset.name}
          </button>
        ))}
      </div>
      <p className="advice" role={problem ? "alert" : undefined}>
        <Stable shown={problem ?? current?.advice ?? (choice ? OWN : "")} texts={ADVICE} />
      </p>
    </div>
  );
}
