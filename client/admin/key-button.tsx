/** A key in a table or a list. A press shows it. */
"use client";
import type { ReactElement } from "react";
import { useAdmin } from "./admin-context.js";

interface Props {
  /** The key of the rows; `undefined` for calls without a key. */
  of: string | undefined;
  /** The text without a key. */
  without: string;
  /** Of a button that is one of a row of them, see `useRoving`. */
  roving?: { tabIndex: number; onFocus: () => void };
}

export function KeyButton({ of, without, roving }: Props): ReactElement {
  const { openKey } = useAdmin();
  return (
    <button
      type="button"
      className="rla-key"
      {...roving}
      translate={of === undefined ? "yes" : "no"}
      onClick={() => openKey(of === undefined ? {} : { key: of, stored: true })}
    >
      {of ?? without}
    </button>
  );
}
