/** The buttons that call, and what each call asks for. */
import { Stable } from "../shared/page/pieces.js";
import { RateLimitCountdown, useRateLimit } from "../shared/page/trpc.js";
import { HoldButton } from "./hold-button.js";
import { BOUNDS } from "./limits.js";
import type { useCalls } from "./use-calls.js";
import type { Setting } from "./use-setting.js";
import "./calls.css";

interface CallsProps {
  setting: Setting;
  calls: ReturnType<typeof useCalls>;
}

export function Calls({ setting, calls }: CallsProps) {
  const { call, count, isCallValid, setCount, setReserve } = setting;
  // Limit: when such a call passes again.
  const { status, config } = useRateLimit("playground", isCallValid ? { count: call.count } : {});
  // Show the wait only where a denial closes the bucket. Other buckets refill all the time, and the label
  // would flicker.
  const canClose = config?.blockFor !== undefined && !call.reserve;
  const isLoose = calls.visitorsLeaveAt !== undefined;
  return (
    <div className="calls">
      <div className="buttons">
        <HoldButton
          disabled={!isCallValid}
          deniedUntil={canClose ? status?.retryAt : undefined}
          call={calls.call}
          hold={calls.hold}
          release={calls.release}
        />
        <button
          type="button"
          disabled={!isCallValid}
          onClick={isLoose ? calls.stop : calls.letLoose}
        >
          <Stable
            shown={
              isLoose ? (
                <>
                  <span>Stop </span>
                  <RateLimitCountdown retryAt={calls.visitorsLeaveAt} announcement={() => ""}>
                    {(seconds) => `${seconds}s`.padStart(3, FIGURE_SPACE)}
                  </RateLimitCountdown>
                </>
              ) : (
                LET_LOOSE
              )
            }
            texts={[LET_LOOSE, "Stop 60s"]}
          />
        </button>
      </div>
      <div className="inputs">
        <label>
          Tokens of a call
          <input
            type="number"
            {...BOUNDS.count}
            step="any"
            value={count}
            onChange={({ target }) => setCount(target.value)}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={call.reserve}
            onChange={({ target }) => setReserve(target.checked)}
          />
          Reserve
        </label>
      </div>
    </div>
  );
}

/** As wide as a digit. */
const FIGURE_SPACE = "\u2007";
const LET_LOOSE = "Ten visitors";
