/** The page of an application without tRPC. The server renders it, and the browser hydrates it. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useState } from "react";
import { shareStream } from "../../client/fetch/index.js";
import { createRateLimitReact } from "../../client/fetch/react/index.js";
import type { FetchLimiter } from "./fetch-app.js";

/** What the address asks for. */
export interface Visit {
  /** The URL of the limits. */
  url: string;
  live: "stream" | "poll";
  /** Whether all tabs of the visitor share one stream. */
  shares: boolean;
}

export function visitOf(query: URLSearchParams): Visit {
  return {
    url: query.get("url") ?? "/api/limits",
    live: query.get("live") === "poll" ? "poll" : "stream",
    shares: query.has("shares"),
  };
}

async function post(path: string): Promise<Response> {
  return fetch(path, { method: "POST" });
}

export function createPage({ url, live, shares }: Visit) {
  const { RateLimitProvider, useRateLimit, useRateLimitedMutation, RateLimitButton } =
    createRateLimitReact<FetchLimiter>({ url, ...(shares && { shareStream }) });

  function Composer() {
    const send = useRateLimitedMutation("sendMessage", {
      // A denial is a `Response`, and throws nothing.
      mutationFn: () => post("/api/messages"),
    });
    const { connection, error } = useRateLimit("sendMessage");
    return (
      <>
        <RateLimitButton name="sendMessage" onClick={() => send.mutate()}>
          {({ state, remaining, text }) =>
            state === "waiting" ? `Wait ${text}` : `Send (${remaining ?? "?"} left)`
          }
        </RateLimitButton>
        <p id="connection">{connection}</p>
        <p id="error">{error?.message}</p>
        <p id="answer">{send.isError ? send.error.message : send.data?.status}</p>
      </>
    );
  }

  /** Three calls at once, of which the third waits for the next window. */
  function Votes() {
    const [sent, setSent] = useState(0);
    const vote = useRateLimitedMutation("vote", {
      mutationFn: () => post("/api/votes"),
      onSuccess: () => setSent((count) => count + 1),
      whenLimited: "wait",
    });
    return (
      <>
        <button
          onClick={() => {
            for (let i = 0; i < 3; i++) vote.mutate();
          }}
        >
          Vote three times
        </button>
        <p id="votes">{`${sent} sent, ${vote.held} held`}</p>
      </>
    );
  }

  const queryClient = new QueryClient();
  return function Page() {
    return (
      <QueryClientProvider client={queryClient}>
        <RateLimitProvider live={live} pollInterval={1000} {...(shares && { caller: "visitor" })}>
          <Composer />
          <Votes />
        </RateLimitProvider>
      </QueryClientProvider>
    );
  };
}
