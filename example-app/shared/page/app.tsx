/** The page: groups of parts, of which one part is shown. The address names the part after `#`. */
import {
  createElement,
  lazy,
  type MouseEvent,
  type ReactNode,
  Suspense,
  useEffect,
  useRef,
  useState,
} from "react";
import { Overview } from "../../overview/page.js";
import { Arrival, useArrivals } from "./arrivals.js";
import { OfflineBanner } from "./offline-banner.js";
import { type PartLink, PartLinks } from "./part-links.js";
import { useRateLimit } from "./trpc.js";
import { useConnection } from "./use-connection.js";

const PhoneCard = part(() => import("../../phone/card.js"));
/** Comes after the overview, in the room that the overview has for it. */
const Phone = () => <Suspense fallback={<div className="card phone" />}>{PhoneCard}</Suspense>;

interface Part extends PartLink {
  content: ReactNode;
}

/**
 * The parts by what a visitor does there: uses an application that has limits, checks what the package
 * promises, or looks after the limits of others. The first part is there at once. Each other part is
 * loaded when the visitor opens it.
 */
const GROUPS: readonly { title: string; parts: readonly [Part, ...Part[]] }[] = [
  {
    title: "Try",
    parts: [
      { id: "overview", title: "Overview", content: <Overview phone={<Phone />} /> },
      { id: "chat", title: "Chat", content: part(() => import("../../chat/page.js")) },
      { id: "log-in", title: "Log in", content: part(() => import("../../log-in/page.js")) },
      { id: "model", title: "Ask the model", content: part(() => import("../../model/page.js")) },
      { id: "sign-ups", title: "Sign-ups", content: part(() => import("../../sign-ups/page.js")) },
    ],
  },
  {
    title: "Prove",
    parts: [
      { id: "race", title: "The race", content: part(() => import("../../race/page.js")) },
      {
        id: "side-by-side",
        title: "Two visitors",
        content: part(() => import("../../side-by-side/page.js")),
      },
      {
        id: "playground",
        title: "Playground",
        content: part(() => import("../../playground/page.js")),
      },
    ],
  },
  {
    title: "Operate",
    parts: [
      {
        id: "control-room",
        title: "Control room",
        content: part(() => import("../../control-room/page.js")),
      },
      { id: "behind", title: "Behind it", content: part(() => import("../../behind/page.js")) },
    ],
  },
];
const PARTS = GROUPS.flatMap(({ parts }) => parts);

type PartModule = { default: () => ReactNode };

function part(load: () => Promise<PartModule>): ReactNode {
  const Content = lazy(() => untilLoaded(load));
  return <Content />;
}

/** Tries again while the server is gone, so that the part comes by itself when the server is back. */
async function untilLoaded(load: () => Promise<PartModule>): Promise<PartModule> {
  for (;;) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/** The part's name stands before a `?`. The part itself reads what follows. */
const partInAddress = () => location.hash.slice(1).split("?")[0]!;

function useHash(): string {
  const [hash, setHash] = useState(partInAddress);
  useEffect(() => {
    const onChange = () => setHash(partInAddress());
    window.addEventListener("hashchange", onChange);
    return () => window.removeEventListener("hashchange", onChange);
  }, []);
  return hash;
}

export function App() {
  const hash = useHash();
  const shown = PARTS.find(({ id }) => id === hash) ?? PARTS[0]!;
  const main = useRef<HTMLElement>(null);
  const { news, onArrival } = useArrivals(main);

  useEffect(() => {
    document.title = `${shown.title} · trpc-rate-limit`;
    window.scrollTo(0, 0);
  }, [shown]);

  /** The address after `#` names the part, so this link does not change the address. */
  function skip(event: MouseEvent) {
    event.preventDefault();
    main.current?.focus();
  }

  return (
    <div className="app">
      <a className="skip" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <header className="bar">
        <p className="brand">trpc-rate-limit</p>
        <PartLinks groups={GROUPS} shown={shown} />
        <Connection />
        {/* The head of index.html defines this element: see scheme-switch.ts. */}
        {createElement("scheme-switch")}
        <OfflineBanner />
      </header>
      <p className="hidden" role="status">
        {news}
      </p>
      {/* Only one part is mounted at a time. main.tsx keeps what goes on meanwhile. */}
      <main key={shown.id} ref={main} id="content" tabIndex={-1}>
        <Suspense fallback={<p className="late">Loading…</p>}>
          <Arrival title={shown.title} onArrival={onArrival} />
          {shown.content}
        </Suspense>
      </main>
    </div>
  );
}

/** Offline: nothing, since the banner says it. */
const CONNECTIONS = { live: "live", polling: "asking", offline: "" } as const;

/** Says whether the page hears of changes at once. */
function Connection() {
  // Limit: each hook knows the connection, which all hooks share.
  const connection = useConnection(useRateLimit("sendMessage"));
  return (
    <p className="connection" data-state={connection} role="status">
      {CONNECTIONS[connection]}
    </p>
  );
}
