import { describe, expect, it } from "vitest";
import { watchStream } from "../../../server/ai/watch-stream.js";

const PARTS = [
  { type: "stream-start", warnings: [] },
  { type: "text-delta", id: "1", delta: "Hel" },
  { type: "future", whatever: true },
  null,
  "no object",
  { type: "finish", usage: { inputTokens: 1 } },
];

function setUp(parts: readonly unknown[] = PARTS) {
  const asked: number[] = [];
  const settled: unknown[][] = [];
  const kept: string[] = [];
  let at = 0;
  let release!: () => void;
  const settling = new Promise<void>((resolve) => (release = resolve));
  const stream = new ReadableStream<unknown>(
    {
      pull(controller) {
        asked.push(at);
        if (at === parts.length) controller.close();
        else controller.enqueue(parts[at++]);
      },
    },
    { highWaterMark: 0 },
  );
  const end = {
    settle(...args: unknown[]) {
      settled.push(args);
      return settling;
    },
    keep: async () => void kept.push("kept"),
    over: () => Promise.resolve(),
  };
  return { watched: watchStream(stream, end, () => false), asked, settled, kept, release };
}

describe("watchStream", () => {
  it("hands on each part as it is, and asks for it when the reader does", async () => {
    const { watched, asked, release } = setUp();
    const reader = watched.getReader();
    release();
    expect(asked).toEqual([]);
    for (const [i, part] of PARTS.entries()) {
      expect((await reader.read()).value).toBe(part);
      expect(asked).toEqual(Array.from({ length: i + 1 }, (_, n) => n));
    }
    expect((await reader.read()).done).toBe(true);
  });

  it("hands on the last part before its tokens are settled, and ends after that", async () => {
    const { watched, settled, release } = setUp();
    const reader = watched.getReader();
    for (const part of PARTS) expect((await reader.read()).value).toBe(part);
    expect(settled).toEqual([[{ inputTokens: 1 }, false]]);
    let isOver = false;
    const last = reader.read().then(({ done }) => (isOver = done));
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(isOver).toBe(false);
    release();
    expect(await last).toBe(true);
    // Not again at the end.
    expect(settled).toHaveLength(1);
  });

  it("settles once where the reader leaves after the report", async () => {
    const { watched, settled, release } = setUp();
    const reader = watched.getReader();
    for (const _ of PARTS) await reader.read();
    release();
    await reader.cancel();
    expect(settled).toHaveLength(1);
  });

  it("settles nothing where the reader leaves before it", async () => {
    const { watched, settled, kept } = setUp();
    const reader = watched.getReader();
    await reader.read();
    await reader.cancel();
    expect([settled, kept]).toEqual([[], ["kept"]]);
  });

  it("knows a stream with nothing but an error", async () => {
    const { watched, settled, release } = setUp([PARTS[0], { type: "error", error: 1 }]);
    release();
    for await (const _ of watched as unknown as AsyncIterable<unknown>);
    expect(settled).toEqual([[undefined, true]]);
  });
});
