/** The part behind the other parts: the rows, this page's connection, and the server's processes. */
import code from "code:./minimal.tsx";
import { useMutation } from "@tanstack/react-query";
import { Part } from "../shared/page/pieces.js";
import { useTRPC } from "../shared/page/trpc.js";
import { PageFacts } from "./page-facts.js";
import "./page.css";
import { Processes, useProcesses } from "./processes.js";
import { Rows } from "./rows.js";

export default function Behind() {
  const processes = useProcesses();
  return (
    <Part
      title="Behind it"
      code={code}
      lead="A bucket is one row: how many of its tokens were used, and when that was."
    >
      <div className="behind">
        <Rows />
        <PageFacts />
        <Reset canReset={processes.data?.canReset} />
        <Processes processes={processes} />
      </div>
    </Part>
  );
}

/** @param canReset `undefined` while the server has not said so. */
function Reset({ canReset }: { canReset: boolean | undefined }) {
  const reset = useMutation(useTRPC().behind.reset.mutationOptions());
  const isReady = canReset === true && !reset.isPending;
  return (
    <section className="card reset" aria-labelledby="reset-title">
      <h2 id="reset-title">Start again</h2>
      <p>
        {canReset === false
          ? "In production, the server does not let visitors reset their limits."
          : "Deletes your rows, with your credits and the ids of your messages. A bucket without a row is full."}
      </p>
      {/* The button is never really disabled, so that it keeps the focus. */}
      <button aria-disabled={!isReady} onClick={() => isReady && reset.mutate()}>
        Reset my limits
      </button>
      <p role="status">
        {reset.isError
          ? "The server has not reset them. Try again."
          : reset.isSuccess && resetText(reset.data)}
      </p>
    </section>
  );
}

function resetText({ process, rows }: { process: number; rows: number }): string {
  return `Process ${process} has deleted ${rows} ${rows === 1 ? "row" : "rows"}.`;
}
