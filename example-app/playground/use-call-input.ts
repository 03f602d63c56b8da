/** The terms of each call: how many tokens, and whether it reserves. */
import { useState } from "react";
import type { CallInput } from "./address.js";
import { BOUNDS } from "./limits.js";

export function useCallInput(opened: CallInput) {
  /** The text in the field. */
  const [count, setCount] = useState(String(opened.count));
  const [reserve, setReserve] = useState(opened.reserve);
  const call: CallInput = { count: Number(count), reserve };
  return {
    call,
    isCallValid: call.count >= BOUNDS.count.min && call.count <= BOUNDS.count.max,
    count,
    setCount,
    setReserve,
    setCall(next: CallInput): void {
      setCount(String(next.count));
      setReserve(next.reserve);
    },
  };
}
