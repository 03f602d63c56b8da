/** Runs the contract of stores (`trpc-rate-limit/testing`), group by group. */
import { GROUPS } from "../../testing/describe-store.js";
import type { StoreUnderTest } from "../../testing/index.js";
import { messageOf } from "../doctor/finding.js";
import { expect } from "./expect.js";
import { within } from "./waits.js";

export interface GroupResult {
  group: string;
  passed: number;
  failed: { test: string; message: string }[];
  skipped: { test: string; reason: string }[];
  seconds: number;
}

interface ContractOptions {
  /** Called before each test. Resolves with stores on empty tables. */
  open: () => Promise<StoreUnderTest>;
  onGroup: (result: GroupResult) => void;
  /** Called after each failed test. Ends the run if it rejects. */
  onFailure?: () => Promise<void>;
  /** Ends the run before the next test. */
  signal: AbortSignal;
  /** How long a test may take, ms. @default 60000 */
  patience?: number;
}

type Test = (context: { skip(reason: string): void }) => Promise<void>;

export async function runContract(options: ContractOptions): Promise<GroupResult[]> {
  const { open, onGroup, onFailure, signal, patience = 60_000 } = options;
  const results: GroupResult[] = [];
  for (const [group, define] of Object.entries(GROUPS)) {
    const tests: [title: string, run: Test][] = [];
    let opened: StoreUnderTest | undefined;
    const it = (title: string, run: Test) => void tests.push([title, run]);
    define({ it, expect }, () => opened!);
    const result: GroupResult = { group, passed: 0, failed: [], skipped: [], seconds: 0 };
    const started = performance.now();
    for (const [test, run] of tests) {
      signal.throwIfAborted();
      let reason: string | undefined;
      try {
        opened = await open();
        await within(
          patience,
          runAndClose(opened, () => run({ skip: (why) => (reason = why) })),
        );
        if (reason === undefined) result.passed++;
        else result.skipped.push({ test, reason });
      } catch (error) {
        // The end of the run has closed the connections under this test.
        signal.throwIfAborted();
        result.failed.push({ test, message: messageOf(error) });
        await onFailure?.();
      }
    }
    result.seconds = (performance.now() - started) / 1000;
    results.push(result);
    onGroup(result);
  }
  return results;
}

async function runAndClose(opened: StoreUnderTest, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await opened.close();
  }
}
