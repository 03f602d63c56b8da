/**
 * A page that a server renders in the ways that the documentation shows. Then the page runs in a browser.
 * See `rendered-server.tsx`.
 */
import { hydrate, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { Component, type ReactNode } from "react";
import { hydrateRoot } from "react-dom/client";
import { wordsOf } from "../../client/countdown/words.js";
import { type CountdownLabels, createRateLimitReact } from "../../client/react/index.js";
import type { RenderedRouter } from "./rendered-server.js";

const client = createTRPCClient<RenderedRouter>({ links: [httpLink({ url: "/trpc" })] });
const {
  RateLimitProvider,
  RateLimitMeter,
  RateLimitCountdown,
  useRateLimit,
  useRateLimitedMutation,
} = createRateLimitReact<RenderedRouter>();

/** One button that changes from a text to a text and a countdown. */
function Send() {
  const send = useRateLimitedMutation("few", { mutationFn: () => client.send.mutate() });
  return (
    <button id="send" aria-disabled={!send.canMutate} onClick={() => send.mutate()}>
      {send.canMutate ? (
        `Send (${send.limit.value ?? "…"} left)`
      ) : (
        <>
          <span>Wait </span>
          <RateLimitCountdown retryAt={send.retryAt} className="badge" />
        </>
      )}
    </button>
  );
}

/** A countdown that is there before its wait, between texts without an element of their own. */
function Between() {
  const { status } = useRateLimit("few");
  return (
    <p id="between">
      Next: <RateLimitCountdown retryAt={status?.retryAt} />!
    </p>
  );
}

/** A wait of a day and more, which the server has prefetched. */
function Long() {
  const { status } = useRateLimit("daily");
  return <RateLimitCountdown retryAt={status?.retryAt} className="long" />;
}

/** As older pages wrote it: a text that goes away, beside a countdown. */
function Bare() {
  const { status } = useRateLimit("few");
  return (
    <p id="bare">
      {status?.ok === false ? (
        <>
          Wait <RateLimitCountdown retryAt={status.retryAt} />
        </>
      ) : (
        <b>Go on</b>
      )}
    </p>
  );
}

/** Shows the error that was thrown below it. */
class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};
  static getDerivedStateFromError = (error: Error) => ({ error });
  override render() {
    const { error } = this.state;
    return error ? <p role="alert">{error.name}</p> : this.props.children;
  }
}

const GERMAN: CountdownLabels = {
  in: (time) => `noch ${time}`,
  at: (clock, day) => `${day ?? "heute"} um ${clock}`,
  announceAt: (clock, day) => `Weiter geht es ${day ?? "heute"} um ${clock}`,
};

export interface RenderedPageProps {
  queryClient: QueryClient;
  isGerman: boolean;
  /** Whether the page has the texts that do not survive a translation. */
  isBare: boolean;
}

export function RenderedPage({ queryClient, isGerman, isBare }: RenderedPageProps) {
  return (
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider
        client={client}
        live="off"
        locale={isGerman ? "de" : undefined}
        labels={isGerman ? GERMAN : undefined}
      >
        <Long />
        <RateLimitMeter name="half" label="Half" />
        <RateLimitMeter name="few" label="Few" smooth />
        <Boundary>
          <Send />
          <Between />
          {isBare && <Bare />}
        </Boundary>
      </RateLimitProvider>
    </QueryClientProvider>
  );
}

if (typeof document !== "undefined") {
  const queryClient = new QueryClient();
  hydrate(queryClient, JSON.parse(document.getElementById("state")!.textContent));
  const query = new URLSearchParams(location.search);
  const [isBare, isGerman] = [query.has("bare"), query.has("german")];
  Object.assign(globalThis, { wordsOf });
  hydrateRoot(
    document.getElementById("root")!,
    <RenderedPage {...{ queryClient, isBare, isGerman }} />,
  );
}
