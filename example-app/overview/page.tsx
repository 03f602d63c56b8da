/** The first part: what the package does, in one sentence, one button and the lines behind it. */
import { CodeLines, CopyButton } from "../shared/page/code-lines.js";
import { SourceLinks } from "../shared/page/source-links.js";
import { useRateLimit } from "../shared/page/trpc.js";
import { Unreleased } from "../shared/page/unreleased.js";
import "./page.css";
import { Promises } from "./promises.js";
import { SendButton } from "./send-button.js";
import { SHOWN_LINES } from "./shown-code.js";
import { type LastCall, useActs } from "./use-acts.js";

const INSTALL = "npm i trpc-rate-limit";
const CODE = SHOWN_LINES.map(({ pieces }) => pieces);

export function Overview() {
  const { acts, last } = useActs();
  const acting = SHOWN_LINES.flatMap(({ act }, index) => (act && acts.has(act) ? index : []));

  return (
    <section className="overview" aria-labelledby="part-title">
      <header>
        <p>Rate limiting for tRPC, Prisma and React</p>
        <h1 id="part-title" tabIndex={-1}>
          Limit calls exactly, in your own database, and show users when they can call again.
        </h1>
      </header>
      <div className="card try">
        <CallsLeft />
        <SendButton />
        <p role="status" className="last">
          {last ? describe(last) : "Press it until it waits. It comes back by itself."}
        </p>
      </div>
      <CodeLines lines={CODE} label="The code behind the button" acts={new Set(acting)} />
      <Promises />
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

function CallsLeft() {
  const { value, config } = useRateLimit("sendHello");
  return (
    <p className="left">
      You have <b>{`${value ?? "…"} of ${config?.capacity ?? "…"}`}</b> calls left. One comes back
      every 2 seconds.
    </p>
  );
}

function describe({ kind, took }: LastCall): string {
  if (kind === "failed") return "The server did not answer. Try again.";
  const ms = Math.max(1, Math.round(took));
  return kind === "granted"
    ? `The server let it pass, and answered in ${ms} ms.`
    : `The server denied it, and answered in ${ms} ms.`;
}

const LINKS = [
  ["Source", "example-app"],
  ["Docs", "docs"],
  ["Guarantees", "docs/guarantees.md"],
  ["Performance", "docs/performance.md"],
] as const;
