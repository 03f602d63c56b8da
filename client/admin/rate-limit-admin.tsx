/** The control room: who is limited now, what was granted and denied, and one key with what can be done. */
"use client";
import { type ReactElement, useEffect, useMemo, useState } from "react";
import type { TRPCClientLike } from "../trpc-clients.js";
import { createAdminClient } from "./admin-client.js";
import { type Admin, AdminContext } from "./admin-context.js";
import { createChanges } from "./changes.js";
import { createFormats } from "./formats.js";
import { withHealth } from "./health.js";
import { KeySearch } from "./key-search.js";
import { UsageChart } from "./limit-view.js";
import { Connection, Loading, Nothing, TroubleNote } from "./notes.js";
import { PlaceContext, useAddress } from "./place-context.js";
import { Room } from "./room.js";
import { createTicker, TickerContext } from "./ticker.js";
import { usePoll } from "./use-poll.js";

/** The properties of `RateLimitAdmin`. */
export interface RateLimitAdminProps {
  /**
   * The application's client, from `createTRPCClient`. Keep the object: for another object, the page asks
   * for everything again.
   */
  client: TRPCClientLike;
  /**
   * Where `rl.admin` stands in the application's router.
   * @default "rateLimitAdmin"
   */
  path?: string | undefined;
  /**
   * The language of numbers and times, as `Intl` takes it.
   * @default the browser's
   */
  locale?: string | undefined;
  /**
   * ms between an answer and the next question, 250 to 60,000. Nothing is asked while the page is hidden.
   * @default 2000
   */
  refreshInterval?: number | undefined;
  /**
   * Whether the address of the page holds what is shown, in parameters that begin with `rla-`, so that it
   * can be sent and the browser's back button works. All other parameters stay as they are. Read once.
   * @default true
   */
  address?: boolean | undefined;
  /** A CSS class beside the component's own. @default none */
  className?: string | undefined;
}

/**
 * A page for the people who help users: who is limited now, what was granted and denied, and one key
 * under all limits, with what this caller may do about it. Needs the style sheet
 * `trpc-rate-limit/admin.css`, and `admin` in the options of `createRateLimitTRPC`. A caller that
 * `authorize` refuses sees a note about that, and no name of a limit.
 *
 * @example
 * import { RateLimitAdmin } from "trpc-rate-limit/admin";
 * import "trpc-rate-limit/admin.css";
 *
 * const page = <RateLimitAdmin client={trpcClient} />;
 */
export function RateLimitAdmin({
  client: trpcClient,
  path = "rateLimitAdmin",
  locale,
  refreshInterval = 2000,
  address = true,
  className,
}: RateLimitAdminProps): ReactElement {
  const { client, health } = useMemo(
    () => withHealth(createAdminClient(trpcClient, path)),
    [trpcClient, path],
  );
  const formats = useMemo(() => createFormats(locale), [locale]);
  const [ticker] = useState(createTicker);
  const interval = Math.min(60_000, Math.max(250, refreshInterval));
  const places = useAddress(address);
  const { go } = places;
  const [changes] = useState(createChanges);
  // Limits come with a deployment, and rights with a person: both change seldom.
  const { data: limits, error, refresh } = usePoll(path, (signal) => client.limits(signal), 60_000);

  useEffect(() => void UsageChart.preload(), []);

  const admin = useMemo(
    (): Admin | undefined =>
      limits && { client, formats, interval, limits, changes, openKey: (key) => go({ key }, true) },
    [client, formats, interval, limits, changes, go],
  );
  return (
    <section
      className={className === undefined ? "rate-limit-admin" : `rate-limit-admin ${className}`}
      aria-label="Rate limits"
    >
      {!admin && error === undefined && <Loading>Asking for the limits…</Loading>}
      {!admin && error !== undefined && <TroubleNote error={error} path={path} onRetry={refresh} />}
      {admin && limits && (
        <TickerContext.Provider value={ticker}>
          <AdminContext.Provider value={admin}>
            <div className="rla-top">
              <KeySearch />
              <Connection health={health} path={path} />
            </div>
            {limits.disabled && <Nothing>All limits are switched off: every call passes.</Nothing>}
            {limits.limits.length === 0 ? (
              <Nothing>This limiter has no limits.</Nothing>
            ) : (
              <PlaceContext.Provider value={places}>
                <Room />
              </PlaceContext.Provider>
            )}
          </AdminContext.Provider>
        </TickerContext.Provider>
      )}
    </section>
  );
}
