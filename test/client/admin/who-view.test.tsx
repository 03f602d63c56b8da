// @vitest-environment jsdom
/** The top keys, as a person sorts and opens them. The numbers are those of a router made for the test. */
import { act, fireEvent, screen, within } from "@testing-library/react";
import { initTRPC, TRPCError } from "@trpc/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { AdminTop } from "../../../client/admin/admin-types.js";
import type { AdminTopInput } from "../../../client/admin/admin-types.js";
import { DAY, HOUR, MINUTE } from "../../../core/durations.js";
import { createRateLimiter, memoryStore } from "../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../server/trpc/index.js";
import { connectAdmin, press, showRoom } from "../../support/control-room.js";
import { soon } from "../../support/soon.js";

const SINCE = new Date(2020, 3, 3, 10, 0).getTime();
const item = (name: string, key: string | undefined, granted: number, denied: number) => ({
  name,
  ...(key !== undefined && { key }),
  granted,
  denied,
  taken: 2 * granted,
  share: denied / 100,
});
const TOP: Omit<AdminTop, "now"> = {
  items: [
    item("send", "ann 10", 5, 60),
    item("send", "ann 9", 30, 25),
    item("plan", "bob", 20, 10),
    item("plan", undefined, 40, 0),
  ],
  total: { granted: 900, denied: 100, taken: 1800 },
  sources: [
    { name: "send", source: "usage", since: SINCE },
    { name: "plan", source: "processes", since: SINCE },
    { name: "jobs", source: "usage", since: SINCE },
  ],
};

beforeEach(() => history.replaceState(null, "", "/admin?rla-view=who"));
afterEach(() => history.replaceState(null, "", "/"));

async function open({ answer = TOP, isOld = false, isRefused = false } = {}) {
  const asked: AdminTopInput[] = [];
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: {
      send: { kind: "token bucket", rate: 2, period: HOUR },
      plan: { kind: "fixed window", rate: 5, period: DAY },
      jobs: { kind: "concurrency", slots: 1 },
    },
  });
  const t = initTRPC.create();
  const rl = createRateLimitTRPC({
    key: SHARED_BUCKET,
    t,
    limiter,
    admin: { authorize: () => true },
  });
  const top = t.procedure.input(z.custom<AdminTopInput>()).query(({ input }) => {
    asked.push(input);
    if (isRefused) throw new TRPCError({ code: "FORBIDDEN" });
    return { now: Date.now(), ...answer };
  });
  const { top: _, ...others } = rl.admin["_def"].procedures;
  const router = t.router({ rateLimitAdmin: t.router(isOld ? others : { ...others, top }) });
  const { client } = await connectAdmin(router);
  showRoom({ client });
  return asked;
}

const rows = () =>
  screen
    .getAllByRole("row")
    .slice(1)
    .map((row) => [...row.children].map(({ textContent }) => textContent));
const keys = () => rows().map(([key]) => key);
const sortBy = (name: string) => press(screen.getByRole("button", { name }));

describe("the top keys", () => {
  it("stand with their numbers and their share, and with the sums of all keys", async () => {
    const asked = await open();
    await soon(() =>
      expect(rows()).toEqual([
        ["ann 10send", "5", "60", "10", "60%"],
        ["ann 9send", "30", "25", "60", "25%"],
        ["bobplan", "20", "10", "40", "10%"],
        ["shared bucketplan", "40", "0", "80", "0%"],
      ]),
    );
    const sums = screen.getAllByRole("definition").map(({ textContent }) => textContent);
    expect(sums).toEqual(["90090%", "10010%", "1,800"]);
    const [{ from, to, ...rest }] = asked as [AdminTopInput];
    expect(rest).toEqual({ by: "denied", count: 25 });
    expect([to - from, to % MINUTE]).toEqual([HOUR, 0]);
  });

  it("are sorted by each column, keys by their numbers, and again the other way round", async () => {
    await open();
    await soon(() => expect(keys()[0]).toBe("ann 10send"));
    sortBy("Granted");
    expect(keys()).toEqual(["shared bucketplan", "ann 9send", "bobplan", "ann 10send"]);
    sortBy("Granted");
    expect(keys()).toEqual(["ann 10send", "bobplan", "ann 9send", "shared bucketplan"]);
    const head = (name: string) => screen.getByRole("columnheader", { name });
    expect(head("Granted").getAttribute("aria-sort")).toBe("ascending");
    expect(head("Denied").getAttribute("aria-sort")).toBeNull();
    sortBy("Key");
    expect(keys()).toEqual(["shared bucketplan", "ann 9send", "ann 10send", "bobplan"]);
    sortBy("Share");
    expect(keys()[0]).toBe("ann 10send");
  });

  it("are of the limit, the order and the range that a person chooses, as the address has it", async () => {
    const asked = await open();
    await soon(() => expect(asked).toHaveLength(1));
    fireEvent.change(screen.getByLabelText("of"), { target: { value: "plan" } });
    press(screen.getByLabelText("Took most"));
    press(screen.getByLabelText("Week"));
    await soon(() => expect(asked.at(-1)).toMatchObject({ name: "plan", by: "taken" }));
    await soon(() => expect(asked.at(-1)!.to - asked.at(-1)!.from).toBe(7 * DAY));
    expect(location.search).toBe("?rla-view=who&rla-limit=plan&rla-range=week&rla-tab=taken");
    // Rows of one limit do not name it.
    await soon(() => expect(keys()).toContain("bob"));
  });

  it("say where their numbers are from, once for limits of which the same is true", async () => {
    await open();
    const sources = (await soon(() => screen.getByText(/^from usage/))).closest(".rla-sources")!;
    expect([...sources.children].map(({ textContent }) => textContent)).toEqual([
      "send, jobs: from usage, complete since 3 Apr 2020.",
      "plan: from what all processes saw since 3 Apr 2020.",
    ]);
  });

  it("say so of one process without the names of limits, where it is true of all", async () => {
    const sources = [{ name: "send", source: "process" as const, since: SINCE }];
    await open({ answer: { ...TOP, sources } });
    const text = await soon(() => screen.getByText("from this process since 3 Apr 2020."));
    expect(text.parentElement!.textContent).toBe("from this process since 3 Apr 2020.");
  });

  it("are one stop of Tab, and a press opens a key and leads back to it", async () => {
    await open();
    const bob = await soon(() => screen.getByRole("button", { name: "bob" }));
    expect(bob.tabIndex).toBe(-1);
    act(() => bob.focus());
    expect(bob.tabIndex).toBe(0);
    press(bob);
    await soon(() => screen.getByRole("heading", { level: 2, name: "bob" }));
    expect(location.search).toBe("?rla-view=who&rla-key=stored%3Abob");
    press(screen.getByRole("button", { name: "Back to Who" }));
    await soon(() => expect(document.activeElement).toBe(bob));
  });
});

describe("where there are no numbers", () => {
  it("the view says that nobody called", async () => {
    await open({ answer: { ...TOP, items: [], total: { granted: 0, denied: 0, taken: 0 } } });
    await soon(() => screen.getByText("No calls in the last hour."));
  });

  it("because the server is older, the view says so, and the page is live", async () => {
    await open({ isOld: true });
    await soon(() => screen.getByText(/its version of trpc-rate-limit is older/));
    const region = screen.getByRole("region", { name: "Rate limits" });
    expect(within(region).getByText("Live")).toBeTruthy();
  });

  it("because this caller may not see them, the view says so", async () => {
    await open({ isRefused: true });
    await soon(() => screen.getByText("You may not see this."));
  });
});
