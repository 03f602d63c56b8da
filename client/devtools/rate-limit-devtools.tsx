/**
 * The plugin for TanStack Devtools: a plain object, so this package needs none of TanStack's. In
 * production it is a stub, and bundlers leave out everything that only the panel uses.
 */
"use client";
import type { ReactElement } from "react";
import { observersOf } from "../transport.js";
import { type TRPCClientLike, untypedOf } from "../trpc-clients.js";
import type { RateLimitObserver } from "../types.js";
import { Panel } from "./panel.js";
import { Recorder } from "./recorder.js";

/** Either a client, or an observer that the application has made itself. */
export type RateLimitDevtoolsOptions =
  | {
      /** The application's client. The panel shows every observer that follows limits through it. */
      client: TRPCClientLike;
      /** Only without a `client`. */
      observer?: undefined;
    }
  | {
      /** The observer to show. */
      observer: RateLimitObserver;
      /** Only without an `observer`. */
      client?: undefined;
    };

/** An element of `plugins` of `<TanStackDevtools>`. */
export interface RateLimitDevtoolsPlugin {
  /** `"trpc-rate-limit"`. */
  id: string;
  /** The name of the tab. */
  name: string;
  /**
   * Renders the panel.
   *
   * @param props the theme, or an object with it: versions of TanStack Devtools differ.
   */
  render(element: HTMLElement, props: "light" | "dark" | { theme: "light" | "dark" }): ReactElement;
}

/**
 * A panel for TanStack Devtools that shows what the page knows of its rate limits. Its `render` can
 * also be called elsewhere. In production (`process.env.NODE_ENV === "production"`, as bundlers
 * replace it) it renders nothing. Call it once, outside of components.
 *
 * @example
 * import { TanStackDevtools } from "@tanstack/react-devtools";
 * import { rateLimitDevtools } from "trpc-rate-limit/devtools";
 *
 * const plugins = [rateLimitDevtools({ client: trpcClient })];
 * const devtools = <TanStackDevtools plugins={plugins} />;
 */
export function rateLimitDevtools(options: RateLimitDevtoolsOptions): RateLimitDevtoolsPlugin {
  // One expression with the condition in it, because bundlers then see that the panel is unused.
  const render: RateLimitDevtoolsPlugin["render"] =
    process.env.NODE_ENV === "production"
      ? () => null as unknown as ReactElement
      : renderPanelOf(options);
  return { id: "trpc-rate-limit", name: "Rate limits", render };
}

/** The recorders, by set of observers, so that two plugins of one client do not record its calls twice. */
const recorders = new WeakMap<Set<RateLimitObserver>, Recorder>();
/** The set of an observer that has no client. */
const sets = new WeakMap<RateLimitObserver, Set<RateLimitObserver>>();

function renderPanelOf({
  client,
  observer,
}: RateLimitDevtoolsOptions): RateLimitDevtoolsPlugin["render"] {
  const untyped = client && untypedOf(client);
  let observers: Set<RateLimitObserver>;
  if (untyped) observers = observersOf(untyped.runtime);
  else {
    observers = sets.get(observer!) ?? new Set([observer!]);
    sets.set(observer!, observers);
  }
  const recorder = recorders.get(observers) ?? new Recorder(observers, untyped);
  recorders.set(observers, recorder);
  return (_element, props) => (
    <Panel recorder={recorder} theme={typeof props === "string" ? props : props.theme} />
  );
}
