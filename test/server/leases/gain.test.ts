import { expect, it } from "vitest";
import type { Block } from "../../../server/leases/block.js";
import { Gain } from "../../../server/leases/gain.js";

const used = (age: number) => ({ age: () => age }) as Block;
const left = (remaining: number) => ({ remaining, size: 100 }) as Block;

it("grows while blocks are used up early, up to a bound", () => {
  const gain = new Gain(100);
  gain.usedUp(used(0.4));
  expect(gain.at(0)).toBe(1.5);
  gain.usedUp(used(0.6));
  expect(gain.at(0)).toBe(1.5);
  for (let i = 0; i < 10; i++) gain.usedUp(used(0));
  expect(gain.at(0)).toBe(2);
});

it("shrinks when a block lapses with tokens, and recovers after a while", () => {
  const gain = new Gain(100);
  gain.lapsed(left(12), 0);
  expect(gain.at(0)).toBe(1);
  for (let i = 0; i < 2; i++) gain.lapsed(left(13), 1000);
  expect(gain.at(2000)).toBe(0.25);
  expect(gain.at(3001)).toBe(0.5);
  expect(gain.at(4000)).toBe(0.5);
  expect(gain.at(5002)).toBe(1);
  expect(gain.at(9999)).toBe(1);
});
