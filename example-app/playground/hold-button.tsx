/** A button that calls once when it is pressed, and again and again while it is held. */
import { type KeyboardEvent, useRef } from "react";

interface HoldButtonProps {
  disabled: boolean;
  call(): unknown;
  /** Calls at once, and then until `release`. */
  hold(): void;
  release(): void;
}

export function HoldButton({ disabled, call, hold, release }: HoldButtonProps) {
  /** Whether the click that is about to come was counted already. */
  const wasHeld = useRef(false);

  function press(): void {
    wasHeld.current = true;
    hold();
  }

  function onKey(event: KeyboardEvent, isDown: boolean): void {
    if (event.key !== " " && event.key !== "Enter") return;
    // A key that is held clicks again and again, at a pace of its own.
    event.preventDefault();
    if (!isDown) release();
    else if (!event.repeat) hold();
  }

  return (
    <button
      type="button"
      className="primary hold"
      disabled={disabled}
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
      Call
    </button>
  );
}
