/** Hooks for one application without tRPC. The names of its limits autocomplete; others do not compile. */
"use client";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactElement, ReactNode } from "react";
import type { CountdownWords } from "../../countdown/words.js";
import {
  createLimitHooks,
  type LimitHooksOptions,
  type LiveProps,
  type ObservedProps,
  type RateLimitHooks,
} from "../../react/limit-hooks.js";
import { createFetchTransport } from "../create-fetch-transport.js";
import type { AnyLimits, LimitNameOf, WithLimits } from "../limit-names.js";
import type { FetchTransportOptions } from "../types.js";
import { type RateLimitButtonProps, useButton } from "./rate-limit-button.js";
import { throwDenials } from "./throw-denials.js";
import {
  type RateLimitedAction,
  type RateLimitedActionOptions,
  useLimitedAction,
} from "./use-limited-action.js";

/** The options of `createRateLimitReact`. */
export interface FetchReactOptions extends LimitHooksOptions, FetchTransportOptions {}

/** The properties of `RateLimitProvider`. Other code may use its observer as well, such as a test. */
export type FetchProviderProps = (LiveProps | ObservedProps) &
  CountdownWords & { children?: ReactNode };

/** The result of `createRateLimitReact`. */
export interface FetchReact<TLimiter extends WithLimits> extends RateLimitHooks<
  LimitNameOf<TLimiter>
> {
  /**
   * Provides the limits to everything below it. Uses the `QueryClient` above it, if there is one,
   * and refreshes when the window gets the focus or the network is back. A snapshot that a server has put
   * into that `QueryClient` under `["trpc-rate-limit", url, { name }]` is rendered at once.
   *
   * @example
   * import { createRateLimitReact } from "trpc-rate-limit/fetch/react";
   *
   * const { RateLimitProvider } = createRateLimitReact<typeof limiter>({ url: "/api/limits" });
   *
   * function App() {
   *   return (
   *     <RateLimitProvider>
   *       <Composer />
   *     </RateLimitProvider>
   *   );
   * }
   */
  RateLimitProvider(props: FetchProviderProps): ReactElement;
  /**
   * TanStack's `useMutation` for a request with a limit. The mutation debits the limit when it sends,
   * before the server has answered. When a call fails, the tokens come back, unless the answer shows
   * that the call was charged; then the server is asked for the real state.
   *
   * An answer that is a denial counts as one, although it did not throw: a `Response` of 429 with the
   * facts as JSON, or a value that is a denial or has it as a property, as server functions return it. The
   * mutation then fails with an error for `isRateLimitError`.
   *
   * @throws Error outside of a `RateLimitProvider` or a `QueryClientProvider`.
   *
   * @example
   * function SendButton({ text }: { text: string }) {
   *   const send = useRateLimitedMutation("sendMessage", {
   *     mutationFn: () => fetch("/api/messages", { method: "POST", body: text }),
   *   });
   *   return (
   *     <button disabled={!send.canMutate} onClick={() => send.mutate()}>
   *       Send
   *     </button>
   *   );
   * }
   */
  useRateLimitedMutation: RateLimitHooks<LimitNameOf<TLimiter>>["useRateLimitedMutation"];
  /**
   * A React action for a limit: for `useActionState`, for the `action` of a form, and for a server
   * function. Debits the limit when it sends, and undoes that for a denial: one that is thrown, a
   * `Response` of 429, or a result that is a denial or has it as a property. Needs no `QueryClient`.
   *
   * @throws Error outside of a `RateLimitProvider`.
   *
   * @example
   * function Composer() {
   *   const { action, canRun } = useRateLimitedAction("sendMessage", async (form: FormData) => {
   *     await fetch("/api/messages", { method: "POST", body: form });
   *   });
   *   return (
   *     <form action={action}>
   *       <input name="text" />
   *       <button disabled={!canRun}>Send</button>
   *     </form>
   *   );
   * }
   */
  useRateLimitedAction<TArgs extends unknown[], TResult>(
    name: LimitNameOf<TLimiter>,
    action: (...args: TArgs) => TResult | Promise<TResult>,
    actionOptions?: RateLimitedActionOptions<TArgs, TResult>,
  ): RateLimitedAction<TArgs, TResult>;
  /**
   * A button that fills until its limit lets a call pass, and says how long that takes. It has no colours
   * of its own: `trpc-rate-limit/styles.css` has the fill, whose colour is `--rate-limit-button-fill`. The
   * attribute `data-state` is `"ready"`, `"waiting"` or `"unknown"`. During a wait, the button is
   * `aria-disabled` and keeps the focus. It then neither calls `onClick` nor submits its form.
   *
   * @throws Error outside of a `RateLimitProvider`.
   *
   * @example
   * const button = <RateLimitButton name="sendMessage">Send</RateLimitButton>;
   */
  RateLimitButton(props: RateLimitButtonProps<LimitNameOf<TLimiter>>): ReactElement;
}

/**
 * Makes the hooks and components for the limits of one handler of `createRateLimitHandler`. Call this
 * function once, in a module of its own, and export what it returns.
 *
 * @typeParam TLimiter the server's limiter or handler, whose type has the names. Import it with
 * `import type`, so that no code of the server comes along. @default any names
 *
 * @example
 * import { createRateLimitReact } from "trpc-rate-limit/fetch/react";
 *
 * export const { RateLimitProvider, useRateLimit, useRateLimitedMutation, RateLimitCountdown } =
 *   createRateLimitReact<typeof limiter>({ url: "/api/limits" });
 */
export function createRateLimitReact<TLimiter extends WithLimits = AnyLimits>(
  options: FetchReactOptions,
): FetchReact<TLimiter> {
  const [hooks, useRateLimitContext] = createLimitHooks<LimitNameOf<TLimiter>, FetchProviderProps>(
    options,
    () => createFetchTransport(options),
    (item) => ["trpc-rate-limit", options.url, item],
  );
  return {
    ...hooks,
    useRateLimitedMutation(name, mutationOptions) {
      const { mutationFn } = useQueryClient().defaultMutationOptions(mutationOptions);
      return hooks.useRateLimitedMutation(name, {
        ...mutationOptions,
        ...(mutationFn && { mutationFn: throwDenials(mutationFn, options.denialMessage) }),
      });
    },
    useRateLimitedAction: (name, action, actionOptions = {}) =>
      useLimitedAction(useRateLimitContext("useRateLimitedAction"), name, action, actionOptions),
    RateLimitButton: (props) => useButton(useRateLimitContext("RateLimitButton"), props),
  };
}
