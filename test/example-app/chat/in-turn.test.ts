import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createInTurn } from "../../../example-app/chat/in-turn.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const noAnswer = () => Promise.reject(new Error("fetch failed"));
const refused = () => Promise.reject(Object.assign(new Error("no"), { data: { code: "X" } }));

describe("messages in turn", () => {
  it("send the second one after the answer to the first", async () => {
    const inTurn = createInTurn();
    let answerFirst: (answer: string) => void = () => {};
    const first = new Promise<string>((resolve) => (answerFirst = resolve));
    const second = vi.fn(() => Promise.resolve("2"));
    const answers = [inTurn.send(() => first), inTurn.send(second)];
    await vi.advanceTimersByTimeAsync(10);
    expect(second).not.toHaveBeenCalled();
    answerFirst("1");
    expect(await Promise.all(answers)).toEqual(["1", "2"]);
  });

  it("send none that is behind one that failed, and all that come later", async () => {
    const inTurn = createInTurn();
    const behind = vi.fn(() => Promise.resolve("2"));
    const answers = await Promise.allSettled([inTurn.send(refused), inTurn.send(behind)]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(behind).not.toHaveBeenCalled();
    expect(await inTurn.send(() => Promise.resolve("3"))).toBe("3");
  });

  it("give up after ten tries without an answer, and never while there is no connection", async () => {
    const inTurn = createInTurn();
    const send = vi.fn(noAnswer);
    const answer = inTurn.send(send);
    void answer.catch(() => {});
    inTurn.setOffline(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(send.mock.calls.length).toBeGreaterThan(50);
    inTurn.setOffline(false);
    const before = send.mock.calls.length;
    await vi.advanceTimersByTimeAsync(60_000);
    await expect(answer).rejects.toThrow("fetch failed");
    expect(send.mock.calls.length - before).toBeLessThanOrEqual(10);
  });
});
