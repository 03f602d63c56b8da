import { describe, expect, it } from "vitest";
import { estimateTokens, usedTokens } from "../../../server/ai/count-tokens.js";

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

describe("the estimate of a call", () => {
  it("is a token for 3 bytes of text, and the most that the model may write", () => {
    // "user" has 4 bytes.
    expect(estimateTokens({ prompt: [user("a".repeat(296))], maxOutputTokens: 50 })).toBe(150);
    // Three bytes each, as a token each is.
    expect(estimateTokens({ prompt: [user("語".repeat(100))], maxOutputTokens: 0 })).toBe(102);
    expect(estimateTokens({ prompt: [] })).toBe(4000);
  });

  it("has the tools, their calls and their results in it", () => {
    const tools = [{ type: "function", name: "weather", description: "x".repeat(293) }];
    expect(estimateTokens({ prompt: [], tools, maxOutputTokens: 0 })).toBe(100);
    const output = { type: "json", value: { rain: ["y".repeat(290)] } };
    const content = [{ type: "tool-result", toolCallId: "1", toolName: "weather", output }];
    const prompt = [{ role: "tool", content }];
    expect(estimateTokens({ prompt, maxOutputTokens: 0 })).toBe(101);
  });

  it("counts a file as 1,000, whatever its size and wherever it is", () => {
    const data = "A".repeat(1_000_000);
    const files = [
      { type: "file", mediaType: "image/png", data },
      { type: "file", mediaType: "image/png", data: new Uint8Array(1_000_000) },
      { type: "file", mediaType: "image/png", data: { type: "data", data } },
      {
        type: "tool-result",
        output: { type: "content", value: [{ type: "media", mediaType: "a/b", data }] },
      },
    ];
    const estimated = estimateTokens({ prompt: [{ content: files }], maxOutputTokens: 0 });
    expect(estimated).toBe(4000);
  });
});

describe("the use that is reported", () => {
  it.each([
    [{ inputTokens: 20, outputTokens: 30, totalTokens: 70 }, 70],
    [{ inputTokens: 20, outputTokens: 30, totalTokens: undefined }, 50],
    [{ inputTokens: 20, outputTokens: 30, totalTokens: NaN }, 50],
    [{ inputTokens: { total: 20 }, outputTokens: { total: 30 } }, 50],
    [{ inputTokens: 0, outputTokens: 0 }, 0],
    [{ inputTokens: 20 }, NaN],
    [{ inputTokens: { total: undefined }, outputTokens: { total: 30 } }, NaN],
    [{ inputTokens: null, outputTokens: null }, NaN],
    [{ inputTokens: "20", outputTokens: 30 }, NaN],
    [{ inputTokens: -1, outputTokens: 30 }, NaN],
    [{ inputTokens: Infinity, outputTokens: 30 }, NaN],
    [{}, NaN],
  ])("of %o is %d", (usage, used) => {
    expect(usedTokens(usage as never)).toBe(used);
  });
});
