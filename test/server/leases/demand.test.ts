import { expect, it } from "vitest";
import { Demand } from "../../../server/leases/demand.js";

it("counts the tokens of the last span", () => {
  const demand = new Demand(100);
  demand.note(3);
  expect(demand.at(1000)).toBe(3);
  demand.note(5);
  expect(demand.at(1050)).toBe(8);
  // A span is over. Of the next one, half has passed.
  expect(demand.at(1100)).toBe(8);
  demand.note(1);
  expect(demand.at(1150)).toBe(1 + 4);
});

it("knows what a long pause means", () => {
  const demand = new Demand(100);
  demand.note(10);
  demand.at(0);
  expect(demand.at(1000)).toBe(1);
  expect(demand.at(2000)).toBe(0);
});
