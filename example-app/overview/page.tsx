/** The first part: what the package does, in one sentence, a button, a race, and the lines behind the button. */
import type { ReactNode } from "react";
import { sourceOf } from "../shared/page/code.js";
import { CodeLines, CopyButton } from "../shared/page/code-lines.js";
import { SourceLinks } from "../shared/page/source-links.js";
import { useRateLimit } from "../shared/page/trpc.js";
import { Unreleased } from "../shared/page/unreleased.js";
import { SENDS_LATER } from "../shared/page/use-connection.js";
import { ArrivalRace } from "./arrival-race.js";
import { CallAnyway } from "./call-anyway.js";
import "./page.css";
import { Promises } from "./promises.js";
import { SendButton } from "./send-button.js";
import { SHOWN_LINES } from "./shown-code.js";
import { type LastCall, useActs } from "./use-acts.js";

const INSTALL = "npm i trpc-rate-limit";
const CODE = SHOWN_LINES.map(({ pieces }) => pieces);

interface OverviewProps {
  /** What the claim is on the page: the site has another heading above it. */
  Title?: "h1" | "h2";
  /** Stands beside the promises. The site has none: its server is in the page. */
  phone?: ReactNode;
}

export function Overview({ Title = "h1", phone }: OverviewProps) {
  const { acts, last } = useActs();
  const acting = SHOWN_LINES.flatMap(({ act }, index) => (act && acts.has(act) ? index : []));

  return (
    <section className="overview" aria-labelledby="part-title">
      <header>
        <p>Rate limiting for tRPC, Prisma and React</p>
        <Title id="part-title" tabIndex={-1}>
          Limit calls exactly, in your own database, and show users when they can call again.
        </Title>
        <Begin />
      </header>
      <section className="card try" aria-labelledby="try-title">
        <h2 id="try-title">Press until it waits</h2>
        <CallsLeft />
        <SendButton />
        <CallAnyway />
        <p role="status" className="last" data-kind={last?.kind}>
          {last
            ? describe(last)
            : "The page knows the wait. Call anyway to hear it from the server."}
        </p>
      </section>
      <ArrivalRace />
      <CodeLines lines={CODE} label="The code behind the button" acts={new Set(acting)} />
      <Promises />
      {phone}
      <footer>
        <p className="install">
          <code>{INSTALL}</code>
          <CopyButton text={INSTALL} what="the command" />
        </p>
        <Unreleased />
        <SourceLinks links={LINKS} />
      </footer>
    </section>
  );
}

/** Shown in a wide window. A narrow window has no room above the race, and has the links below instead. */
function Begin() {
  const quickStart = sourceOf(QUICK_START);
  if (quickStart === undefined) return null;
  return (
    <p className="begin">
      <a className="primary" href={quickStart}>
        Quick start
      </a>
    </p>
  );
}

function CallsLeft() {
  const { value, config } = useRateLimit("sendHello");
  return (
    <p className="left">
      You have <b>{`${value ?? "…"} of ${config?.capacity ?? "…"}`}</b> calls left. One comes back
      every 2 seconds.
    </p>
  );
}

function describe(last: LastCall): string {
  if (last.kind === "paused") return SENDS_LATER;
  if (last.kind === "failed") return "The server did not answer. Try again.";
  if (last.kind === "denied") {
    return `The server denied it: ${last.status}, with retryAfter ${last.retryAfter} ms.`;
  }
  return last.took === undefined
    ? "The server let it pass while this page slept."
    : `The server let it pass, and answered in ${Math.max(1, Math.round(last.took))} ms.`;
}

const QUICK_START = "docs/guides/vite.md";
const LINKS = [
  ["Source", "example-app"],
  ["Quick start", QUICK_START],
  ["Docs", "docs/README.md"],
  ["Guarantees", "docs/guarantees.md"],
  ["Performance", "docs/performance.md"],
] as const;
