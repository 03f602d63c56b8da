import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { client, RateLimitCountdown, RateLimitProvider, useRateLimitedMutation } from "./trpc";

const queryClient = new QueryClient();

function SendButton() {
  const send = useRateLimitedMutation("sendMessage", {
    mutationFn: (text: string) => client.send.mutate({ text }),
  });
  return (
    <>
      <h1>Send a few messages</h1>
      <p>Press the button four times. Then open a second tab: it knows the same limit.</p>
      <button disabled={!send.canMutate} onClick={() => send.mutate("Hello")}>
        {send.canMutate ? (
          `Send (${send.limit.value ?? "…"} left)`
        ) : (
          <>
            <RateLimitCountdown retryAt={send.retryAt}>
              {(_, text) => `Wait ${text}`}
            </RateLimitCountdown>
          </>
        )}
      </button>
    </>
  );
}

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={client}>
        <SendButton />
      </RateLimitProvider>
    </QueryClientProvider>
  </StrictMode>,
);
