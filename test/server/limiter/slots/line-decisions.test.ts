import { expect, it } from "vitest";
import type { Row as Stored } from "../../../../core/rows/row.js";
import { type InLine, lineDecision } from "../../../../server/limiter/slots/line-decisions.js";
import { PlanTable } from "../../../../server/limiter/limits/plans/plan-table.js";
import { createSlotsResolver } from "../../../../server/limiter/slots/slots-limit.js";

const NOW = 1e12;
/** All callers draw the same number, as callers of different processes rarely do. */
const environment = { clock: () => NOW, random: () => 0.25 };

type Row = Stored | null;

it("lets one of two callers in, who joined with the same ticket and enter in the same ms", () => {
  const config = { kind: "concurrency", slots: 1 } as const;
  const resolve = createSlotsResolver(new Map([["work", config]]), new PlanTable([]), (key) => key);
  const limit = resolve("work", {});
  let rows: Row[] = [...limit.rows, ...limit.seats()].map(() => null);
  rows[0] = { used: -(2 ** -40), ts: NOW };
  const callers = [1, 2].map((nonce) => {
    const caller: InLine = { seat: undefined, stays: true };
    return { caller, decision: lineDecision(limit, caller, nonce, environment) };
  });
  const [first, second] = callers;

  /** Both decide on the same rows. The first one writes, so the second one decides again. */
  function race() {
    const { result, writes } = first!.decision.decide(rows);
    second!.decision.decide(rows);
    rows = rows.map((row, i) => (writes?.[i] === undefined ? row : writes[i]!));
    return [result.kind, second!.decision.decide(rows).result.kind];
  }

  expect(race()).toEqual(["waiting", "waiting"]);
  expect(second!.caller.seat?.ticket).toBe(first!.caller.seat?.ticket);
  rows[0] = null;
  expect(race()).toEqual(["entered", "waiting"]);
});
