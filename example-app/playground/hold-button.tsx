/** A button that calls once when it is pressed, and repeatedly while it is held. */
import { type KeyboardEvent, useRef } from "react";
import { Stable } from "../shared/page/pieces.js";
import { RateLimitCountdown } from "../shared/page/trpc.js";

interface HoldButtonProps {
  disabled: boolean;
  /** When a call passes again, epoch ms. The button shows this, and still calls. */
  deniedUntil: number | undefined;
  call(): unknown;
  /** Calls at once, and then until `release`. */
  hold(): void;
  release(): void;
}

export function HoldButton({ disabled, deniedUntil, call, hold, release }: HoldButtonProps) {
  /** Whether the click that is about to come was counted already. */
  const wasHeld = useRef(false);

  function press(): void {
    wasHeld.current = true;
    hold();
  }

  function onKey(event: KeyboardEvent, isDown: boolean): void {
    if (event.key !== " " && event.key !== "Enter") return;
    // The browser clicks repeatedly for a key that is held, at a pace of its own.
    event.preventDefault();
    if (!isDown) release();
    else if (!event.repeat) hold();
  }

  return (
    <button
      type="button"
      className="primary hold"
      disabled={disabled}
      data-denied={deniedUntil !== undefined}
      onPointerDown={({ button }) => button === 0 && press()}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onBlur={release}
      onKeyDown={(event) => onKey(event, true)}
      onKeyUp={(event) => onKey(event, false)}
      // A long touch would open a menu.
      onContextMenu={(event) => event.preventDefault()}
      onClick={() => {
        // Assistive technology clicks without a pointer or a key.
        if (!wasHeld.current) call();
        wasHeld.current = false;
      }}
    >
      <Stable
        shown={
          deniedUntil === undefined ? (
            "Call"
          ) : (
            <>
              <span>Call: in </span>
              <RateLimitCountdown retryAt={deniedUntil} announcement={() => ""} />
            </>
          )
        }
        texts={["Call: in 30s"]}
      />
    </button>
  );
}
