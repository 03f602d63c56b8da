import { describe, expect, it } from "vitest";
import { type Claim, ClaimDecision, Draft } from "../../../../server/limiter/claims/draft.js";
import { rowId } from "../../../../server/store/store.js";

const rows = ["a", "b", "c"].map((key) => rowId("limit", key, 0));
const [a, b, c] = rows as [(typeof rows)[0], (typeof rows)[0], (typeof rows)[0]];
const at = (used: number) => ({ used, ts: 0 });
const stored = [at(1), at(2), null];

describe("a draft", () => {
  it("guards what was read and not written, and nothing that was only looked at", () => {
    const draft = new Draft(rows, stored);
    expect(draft.read(c)).toBe(null);
    expect(draft.peek(b)).toEqual(at(2));
    draft.write(a, at(0));
    expect(draft.read(a)).toEqual(at(0));
    expect(draft.outcome("answer")).toEqual({
      result: "answer",
      writes: [at(0), undefined, null],
    });
  });

  it("writes nothing, and guards nothing, where nothing was written", () => {
    const draft = new Draft(rows, stored);
    draft.read(a);
    expect(draft.isWritten).toBe(false);
    expect(draft.outcome("answer")).toEqual({ result: "answer" });
  });

  it("deletes a row, which is then missing", () => {
    const draft = new Draft(rows, stored);
    draft.write(a, null);
    expect(draft.peek(a)).toBe(null);
    expect(draft.readStored(a)).toEqual(at(1));
    expect(draft.outcome(0).writes).toEqual([null, undefined, undefined]);
  });

  it("knows nothing of a fork until it adopts it", () => {
    const draft = new Draft(rows, stored);
    draft.write(b, at(5));
    const fork = draft.fork();
    fork.read(c);
    const second = fork.fork();
    second.write(a, at(7));
    expect([fork.peek(a), second.peek(b), second.peek(a)]).toEqual([at(1), at(5), at(7)]);
    expect(draft.outcome(0).writes).toEqual([undefined, at(5), undefined]);
    fork.adopt(second);
    expect(draft.peek(a)).toEqual(at(1));
    draft.adopt(fork);
    expect(draft.outcome(0).writes).toEqual([at(7), at(5), null]);
  });

  it("guards what a fork has read whose writes it does not take", () => {
    const draft = new Draft(rows, stored);
    const fork = draft.fork();
    fork.read(a);
    fork.write(a, at(0));
    draft.note(fork);
    expect(draft.isWritten).toBe(false);
    draft.write(c, at(3));
    expect(draft.outcome(0).writes).toEqual([at(1), undefined, at(3)]);
  });

  it("takes a row that is named by another object for the same row", () => {
    const draft = new Draft(rows, stored);
    draft.write({ name: "limit", key: "b", shard: 0 }, at(9));
    expect(draft.peek(b)).toEqual(at(9));
  });

  it("refuses a row that the decision does not name, since the store has not read it", () => {
    const draft = new Draft([a], [null]);
    expect(() => draft.read(b)).toThrow('does not name the row "limit"');
  });
});

it("a decision names each row of its claim once, and says what its last run did", () => {
  let time = 0;
  const claim: Claim<number> = {
    rows: [a, b, { ...a }],
    attempt(draft, now) {
      const { used } = draft.read(b)!;
      if (used > 1) draft.write(a, { used, ts: now });
      return used;
    },
  };
  const decision = new ClaimDecision(claim, () => (time += 10));
  expect(decision.rows).toEqual([a, b]);
  expect(decision.decide([null, at(2)])).toEqual({
    result: 2,
    writes: [{ used: 2, ts: 10 }, at(2)],
  });
  expect(decision).toMatchObject({ now: 10, isChange: true });
  expect(decision.decide([null, at(1)])).toEqual({ result: 1 });
  expect(decision).toMatchObject({ now: 20, isChange: false });
});
