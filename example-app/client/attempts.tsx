/** The attempts that are left, as a row of dots and in words. */
import type { UseRateLimitResult } from "trpc-rate-limit/react";

export function Attempts({ limit: { value, config } }: { limit: UseRateLimitResult }) {
  const most = config?.capacity ?? config?.rate ?? 5;
  return (
    <p className="attempts">
      <span aria-hidden="true">
        {Array.from({ length: most }, (_, i) => (
          <i key={i} data-left={i < (value ?? 0)} />
        ))}
      </span>
      {value !== undefined && `${value} of ${most} attempts left`}
    </p>
  );
}
