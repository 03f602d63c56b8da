/** The page believes no message of a process. */
import { describe, expect, it } from "vitest";
import { readMessage } from "../../../../../site/app/count/engine/protocol.js";
import { runCount } from "../../../../../site/app/count/engine/run.js";

const OP = { id: 0, call: 0, kind: "get", keys: ["a"], value: null, amount: 0 };
const ENDED = { call: 0, outcome: "granted", problem: "" };
const events = (ops: unknown, ended: unknown = []) =>
  JSON.stringify({ type: "events", ops, ended });

describe("a message", () => {
  it.each([
    events([OP], [ENDED]),
    JSON.stringify({ type: "loaded", problem: "" }),
    JSON.stringify({ type: "applied", values: ["1", null] }),
    JSON.stringify({ type: "applied", values: null }),
  ])("is read: %s", (text) => {
    expect(readMessage(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ["an object", { type: "loaded", problem: "" }],
    ["no JSON", "{"],
    ["null", "null"],
    ["a list", "[]"],
    ["another type", `{"type":"load","problem":""}`],
    ["a field too many", `{"type":"loaded","problem":"","__proto__":{"a":1}}`],
    ["a long problem", JSON.stringify({ type: "loaded", problem: "x".repeat(201) })],
    ["a long message", JSON.stringify({ type: "loaded", problem: "x".repeat(200_001) })],
    ["a long value", events([{ ...OP, value: "x".repeat(1_001) }])],
    ["a long key", events([{ ...OP, keys: ["x".repeat(201)] }])],
    ["no key", events([{ ...OP, keys: [] }])],
    ["many keys", events([{ ...OP, keys: Array.from({ length: 9 }, () => "a") }])],
    ["a key that is an object", events([{ ...OP, keys: [{}] }])],
    ["an unknown kind", events([{ ...OP, kind: "constructor" }])],
    ["no number", events([{ ...OP, amount: null }])],
    ["part of an id", events([{ ...OP, id: 0.5 }])],
    ["a missing field", events([{ ...OP, value: undefined }])],
    ["an unknown outcome", events([], [{ ...ENDED, outcome: "over" }])],
    ["many statements", events(Array.from({ length: 201 }, () => OP))],
    ["no list", events({ length: 1 })],
  ])("is refused that is or has %s", (_, data) => {
    expect(readMessage(data)).toBeUndefined();
  });
});

describe("a process that lies", () => {
  /** Answers each question by the next of these messages. */
  async function runAgainst(messages: readonly unknown[], more = 0) {
    const channels = [new MessageChannel(), new MessageChannel()];
    for (const { port2 } of channels) {
      let next = 0;
      port2.addEventListener("message", ({ data }) => {
        const { type } = JSON.parse(data as string) as { type: string };
        if (type !== "start" && type !== "answer") port2.postMessage(messages[next++]);
        for (let i = 0; i < more; i++) port2.postMessage(messages[0]);
      });
      port2.start();
    }
    return runCount(
      { code: "", seed: 1 },
      channels.map(({ port1 }) => port1),
    );
  }
  const LOADED = JSON.stringify({ type: "loaded", problem: "" });

  it.each([
    ["answers the wrong question", [LOADED], 0, "It sent a message of its own"],
    ["posts more than it was asked", [events([])], 1_000, "It sent a message of its own"],
    [
      "posts an object",
      [events([]), LOADED, { type: "events" }],
      0,
      "It sent a message of its own",
    ],
    [
      "ends a call twice",
      [events([]), LOADED, events([], [ENDED, ENDED])],
      0,
      "It answered a call twice",
    ],
    [
      "ends a call that is none",
      [events([]), LOADED, events([], [{ ...ENDED, call: 25 }])],
      0,
      "It answered a call twice",
    ],
  ])("and %s is stopped", async (_, messages, more, why) => {
    const run = await runAgainst(messages, more);
    expect(run.stopped).toBe(why);
    expect(run.granted).toBeLessThan(3);
  });
});
