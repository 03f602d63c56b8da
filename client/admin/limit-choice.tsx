/** The choice of one limit, or of all of them, which the address of the page holds. */
"use client";
import type { ReactElement } from "react";
import { useAdmin } from "./admin-context.js";
import { usePlaces } from "./place-context.js";

export function LimitChoice({ name }: { name: string | undefined }): ReactElement {
  const { limits } = useAdmin();
  const { go } = usePlaces();
  return (
    <label className="rla-of">
      <span>of</span>
      <select
        value={name ?? ""}
        onChange={({ target }) => go({ limit: target.value || undefined }, false)}
      >
        <option value="">every limit</option>
        {limits.limits.map((limit) => (
          <option key={limit.name} translate="no">
            {limit.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The limit of the address, where there is such a limit; `undefined` for all of them. */
export function useChosenLimit(): string | undefined {
  const { limits } = useAdmin();
  const { place } = usePlaces();
  return limits.limits.find(({ name }) => name === place.limit)?.name;
}
