import { expect, it } from "vitest";
import { Silence } from "../../../../server/store/group-commit/silence.js";

/** A database whose probes are answered by hand. */
function open({ tellsSent = true, isExhausted = false } = {}) {
  const probes: { answer(): void; fail(): void }[] = [];
  const silence = new Silence({
    isExhausted: () => isExhausted,
    probe: (sent) =>
      new Promise((resolve, reject) => {
        if (tellsSent) sent();
        probes.push({ answer: () => resolve(undefined), fail: () => reject(new Error("lost")) });
      }),
  });
  /** What has arrived is read before a probe is judged. */
  const look = async () => {
    silence.look();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { silence, probes, look };
}

it("is found when a probe has no answer by the second look", async () => {
  const { silence, look } = open();
  await look();
  expect(silence.isSilentSince(Infinity)).toBe(false);
  await look();
  expect(silence.isSilentSince(Infinity)).toBe(true);
});

it("ends with an answer to the probe, or to anything else", async () => {
  const { silence, probes, look } = open();
  for (let i = 0; i < 2; i++) await look();
  probes[0]!.answer();
  await look();
  expect(silence.isSilentSince(Infinity)).toBe(false);
  for (let i = 0; i < 2; i++) await look();
  expect(silence.isSilentSince(Infinity)).toBe(true);
  silence.answeredAt = performance.now();
  expect(silence.isSilentSince(Infinity)).toBe(false);
});

it("is none if something was answered after the probe was sent", async () => {
  const { silence, probes, look } = open();
  await look();
  silence.answeredAt = performance.now();
  await look();
  expect(silence.isSilentSince(Infinity)).toBe(false);
  expect(probes).toHaveLength(2);
});

it("does not end with a probe whose connection was lost", async () => {
  const { silence, probes, look } = open();
  for (let i = 0; i < 2; i++) await look();
  probes[0]!.fail();
  await look();
  expect(silence.isSilentSince(Infinity)).toBe(true);
});

it("is none as long as a probe waits for a connection", async () => {
  const { silence, look } = open({ tellsSent: false, isExhausted: true });
  for (let i = 0; i < 3; i++) await look();
  expect(silence.isSilentSince(Infinity)).toBe(false);
});

it("says since when the database has been silent", async () => {
  const { silence, look } = open();
  silence.answeredAt = 100;
  for (let i = 0; i < 2; i++) await look();
  expect([silence.isSilentSince(99), silence.isSilentSince(100)]).toEqual([false, true]);
});

it("keeps at most two connections with probes", async () => {
  const { silence, probes, look } = open();
  for (let i = 0; i < 6; i++) {
    await look();
    silence.answeredAt = i;
  }
  expect(probes).toHaveLength(2);
});
