/** The page: a list of parts, one of which is shown. The part is in the address, after `#`. */
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { Chat } from "../../chat/page.js";
import { useRateLimit } from "./trpc.js";

/** The first part is there at once. The others are loaded when they are opened. */
const PARTS: readonly { id: string; title: string; content: ReactNode }[] = [
  { id: "chat", title: "Chat", content: <Chat /> },
  { id: "log-in", title: "Log in", content: part(() => import("../../log-in/page.js")) },
  { id: "model", title: "Ask the model", content: part(() => import("../../model/page.js")) },
  { id: "sign-ups", title: "Sign-ups", content: part(() => import("../../sign-ups/page.js")) },
  {
    id: "playground",
    title: "Playground",
    content: part(() => import("../../playground/page.js")),
  },
  { id: "behind", title: "Behind it", content: part(() => import("../../behind/page.js")) },
];

type PartModule = { default: () => ReactNode };

function part(load: () => Promise<PartModule>): ReactNode {
  const Content = lazy(() => untilLoaded(load));
  return <Content />;
}

/** Asks again while the server is gone, so that the part comes by itself when it is back. */
async function untilLoaded(load: () => Promise<PartModule>): Promise<PartModule> {
  for (;;) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

function useHash(): string {
  const [hash, setHash] = useState(() => location.hash.slice(1));
  useEffect(() => {
    const onChange = () => setHash(location.hash.slice(1));
    window.addEventListener("hashchange", onChange);
    return () => window.removeEventListener("hashchange", onChange);
  }, []);
  return hash;
}

export function App() {
  const hash = useHash();
  const shown = PARTS.find(({ id }) => id === hash) ?? PARTS[0]!;
  const link = useRef<HTMLAnchorElement>(null);

  useEffect(() => {
    document.title = `${shown.title} · trpc-rate-limit`;
    // On a phone, the list of parts is wider than the window.
    link.current?.scrollIntoView({ inline: "center", block: "nearest" });
    window.scrollTo(0, 0);
  }, [shown]);

  return (
    <div className="app">
      <header className="bar">
        <p className="brand">trpc-rate-limit</p>
        <nav aria-label="Parts of the demo">
          <ul>
            {PARTS.map(({ id, title }) => (
              <li key={id}>
                <a
                  ref={id === shown.id ? link : undefined}
                  // Checkers take a link to "#id" for a skip link when it is scrolled out of sight.
                  href={`./#${id}`}
                  aria-current={id === shown.id ? "page" : undefined}
                >
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Connection />
      </header>
      <main key={shown.id}>
        <Suspense fallback={<p className="late">Loading…</p>}>{shown.content}</Suspense>
      </main>
    </div>
  );
}

const CONNECTIONS = { live: "live", polling: "asking", offline: "offline" } as const;

/** Says whether the page hears of changes at once. */
function Connection() {
  // Limit: each hook knows the connection. All hooks share one.
  const { connection } = useRateLimit("sendMessage");
  return (
    <p className="connection" data-state={connection} role="status">
      {CONNECTIONS[connection]}
    </p>
  );
}
