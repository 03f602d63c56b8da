/** Three processes share the quota of a provider, knowing only what its header fields say. */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { bundleProgram } from "../../support/bundle-program.js";
import { createPostgres } from "../../support/database.js";
import { AT_A_TIME, ESTIMATE, QUOTA, USED } from "../../support/model-limits.js";
import { listen } from "../../support/serve-fetch.js";

const WORKER = await bundleProgram(new URL("../../support/model-worker.ts", import.meta.url));
const PROCESSES = 3;
/** More than the quota has for all. */
const CALLS = 200;

/** Answers as long as it has tokens, and says how many are left. */
async function startProvider() {
  let left = QUOTA;
  const server = createServer((_, response) => {
    const isGranted = left >= USED;
    if (isGranted) left -= USED;
    response.setHeader("x-ratelimit-remaining-tokens", left);
    if (!isGranted) response.writeHead(429, { "retry-after": "3600" });
    // It takes a moment, so that the answers of several processes overtake each other.
    const body = JSON.stringify({ inputTokens: USED / 2, outputTokens: USED / 2 });
    setTimeout(() => response.end(body), Math.random() * 5);
  });
  return { ...(await listen(server)), used: () => QUOTA - left };
}

/** What became of the calls of all processes together. */
async function ask(mode: "listens" | "is deaf") {
  await using database = await createPostgres();
  await using provider = await startProvider();
  let waiting = PROCESSES;
  let begin!: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const counts = await Promise.all(
    Array.from({ length: PROCESSES }, async () => {
      const args = [WORKER, "pg", database.url, provider.url, String(CALLS), mode];
      const child = spawn(process.execPath, args);
      let log = "";
      child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
      let said: { granted: number; refused: number; denied: number } | undefined;
      for await (const line of createInterface(child.stdout)) {
        if (line === "ready") {
          if (--waiting === 0) begin();
          void begun.then(() => child.stdin.write("begin\n"));
        } else said = JSON.parse(line) as typeof said;
      }
      if (said === undefined) throw new Error(`a process has failed: ${log}`);
      return said;
    }),
  );
  const sum = (of: "granted" | "refused" | "denied") =>
    counts.reduce((all, each) => all + each[of], 0);
  return {
    granted: sum("granted"),
    refused: sum("refused"),
    denied: counts.map(({ denied }) => denied),
    used: provider.used(),
  };
}

it(
  "stop at the end of the quota, with no more refusals than calls were under way",
  { timeout: 120_000 },
  async () => {
    const { granted, refused, denied, used } = await ask("listens");
    const underWay = PROCESSES * AT_A_TIME;
    expect(granted * USED).toBe(used);
    expect(refused).toBeLessThanOrEqual(underWay);
    // Every loop of every process was stopped by the limit that all share.
    expect(denied).toEqual(Array.from({ length: PROCESSES }, () => AT_A_TIME));
    expect(used).toBeGreaterThanOrEqual(QUOTA - (underWay + 1) * ESTIMATE);
    // Without what the provider says, they go on as long as they have calls.
    const deaf = await ask("is deaf");
    expect(deaf.denied).toEqual(Array.from({ length: PROCESSES }, () => 0));
    expect(deaf.refused).toBe(PROCESSES * CALLS - QUOTA / USED);
  },
);
