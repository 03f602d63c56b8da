/** An example of the documentation, for the frame above its code: `/examples/?countdown`. */
import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RateLimitProvider } from "./client/limits.js";
import { queryClient, trpcClient } from "./client/trpc.js";
import { useTheme } from "./use-theme.js";
import "trpc-rate-limit/styles.css";
import "../../../example-app/shared/page/styles.css";
import "../site.css";
import "./examples.css";

/** A denial is an answer: the example shows the wait. */
const send = () => void trpcClient.send.mutate({ text: "Hello" }).catch(() => {});

/** Each by its name in `site/live-parts.ts`. Only the code of the shown example is loaded. */
const EXAMPLES: Record<string, () => Promise<ReactNode>> = {
  async countdown() {
    const { Waiting } = await import("block:docs/countdown.md#client/waiting.tsx");
    return (
      <Small title="A meter, and a countdown">
        <Waiting onSend={send} />
      </Small>
    );
  },
  async button() {
    const { SendButton } = await import("block:docs/react.md#client/send-button.tsx");
    return (
      <Small title="A button that waits">
        <SendButton onSend={send} />
      </Small>
    );
  },
  async mutation() {
    const { Composer } = await import("block:docs/mutations.md#client/composer.tsx");
    return (
      <Small title="Messages that wait for their turn">
        <Composer />
      </Small>
    );
  },
  async devtools() {
    const [{ Panel }, { SendButton }] = await Promise.all([
      import("block:docs/devtools.md#client/panel.tsx"),
      import("block:docs/react.md#client/send-button.tsx"),
    ]);
    function Themed() {
      return <Panel theme={useTheme()} />;
    }
    return (
      <main className="with-panel">
        <h1>What this page knows of its limit</h1>
        <SendButton onSend={send} />
        <Themed />
      </main>
    );
  },
  async admin() {
    const { Support } = await import("block:docs/admin.md#client/support.tsx");
    return <Support />;
  },
};

function Small({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="small">
      <h1>{title}</h1>
      <div>{children}</div>
    </main>
  );
}

const example = await EXAMPLES[location.search.slice(1)]?.();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={trpcClient}>{example}</RateLimitProvider>
    </QueryClientProvider>
  </StrictMode>,
);
