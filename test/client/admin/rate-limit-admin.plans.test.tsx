// @vitest-environment jsdom
/** Plans in the control room: what a key has, and how a person changes it, against a real router. */
import { fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../../server/index.js";
import { lookUp, press, serveAdmin, showRoom } from "../../support/control-room.js";
import { soon } from "../../support/soon.js";

interface Options {
  /** What the limiter knows of a key. */
  plan?: "free" | "pro";
  hashKey?: (key: string) => string;
}

async function open({ plan, hashKey }: Options = {}) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    plans: ["free", "pro"],
    limits: {
      pictures: { kind: "fixed window", period: "month", start: 0, plans: { free: 5, pro: 50 } },
      video: {
        kind: "fixed window",
        period: DAY,
        start: 0,
        plans: { free: "none", pro: "unlimited" },
      },
      jobs: { kind: "concurrency", plans: { free: 1, pro: 3 } },
      signUp: { kind: "fixed window", rate: 100, period: HOUR, start: 0 },
    },
    overrides: true,
    ...(hashKey && { hashKey }),
    ...(plan && { plan: () => plan }),
  });
  const { client } = await serveAdmin(limiter, { plan: () => "free" });
  showRoom({ client });
  return limiter;
}

const card = async (name: string) => within(await screen.findByRole("region", { name }));

async function openKey(key: string) {
  await lookUp(key);
  await screen.findByRole("heading", { level: 2, name: key });
  press(await screen.findByText("Limits that this key has not used lately"));
}

describe("a limit with plans", () => {
  it("says what each plan has, and of each key in its list which plan it has", async () => {
    const limiter = await open({ plan: "free" });
    await limiter.limit("pictures", { key: "ann", count: 5 });
    await screen.findByText("free: 5 per month · pro: 50 per month");
    await soon(() =>
      expect(document.querySelector(".rla-row")?.textContent).toMatch(/^annplan free.*0 of 5/),
    );
    press(screen.getByRole("tab", { name: /^video/ }));
    await screen.findByText("free: not included · pro: unlimited");
    press(screen.getByRole("tab", { name: /^jobs/ }));
    await screen.findByText("free: 1 at a time · pro: 3 at a time");
  });
});

describe("the plan of a key", () => {
  it("stands beside its numbers, on each limit that has plans", async () => {
    await open({ plan: "free" });
    await openKey("ann");
    (await card("pictures")).getByText("plan free: 5 per month");
    (await card("video")).getByText("plan free: not included");
    (await card("jobs")).getByText("plan free: 1 at a time");
    (await card("signUp")).getByText("100 per 1h");
  });

  it("that nothing says is said to be unknown, beside the numbers of the largest", async () => {
    await open();
    await openKey("ann");
    (await card("pictures")).getByText("plan unknown, the largest: 50 per month");
  });

  it("is known of a key that was typed, where keys are stored as hashes, also after an action", async () => {
    await open({ plan: "free", hashKey: (key) => `#${key.length}` });
    await openKey("ann");
    const pictures = await card("pictures");
    press(pictures.getByRole("button", { name: "Reset" }));
    press(pictures.getByRole("button", { name: "Reset" }));
    await pictures.findByText("Done.");
    pictures.getByText("plan free: 5 per month");
  });
});

describe("a person", () => {
  it("gives a key another plan for a while, and takes it back", async () => {
    const limiter = await open({ plan: "free" });
    await limiter.limit("pictures", { key: "ann", count: 5 });
    await openKey("ann");
    const pictures = await card("pictures");
    press(pictures.getByRole("button", { name: "Change plan" }));
    const select = pictures.getByLabelText<HTMLSelectElement>("Plan");
    expect(document.activeElement).toBe(select);
    // The one that the key has not.
    expect(select.value).toBe("pro");
    expect([...select.options].map(({ text }) => text)).toEqual([
      "free: 5 per month",
      "pro: 50 per month",
    ]);
    fireEvent.change(pictures.getByLabelText("How long"), { target: { value: "1" } });
    press(pictures.getByRole("button", { name: "Change" }));
    await pictures.findByText(/^Done: plan pro until /);
    pictures.getByText("plan pro: 50 per month");
    pictures.getByText("45 of 50 left");
    expect(document.activeElement?.textContent).toBe("Change plan");
    const [override, ...others] = await limiter.overrides.list();
    expect(others).toEqual([]);
    expect(override).toMatchObject({ name: "pictures", key: "ann", plan: "pro" });
    // From the press on the button, which comes before the server sets it.
    const lasts = override!.until! - override!.setAt;
    expect(lasts).toBeLessThanOrEqual(DAY);
    expect(lasts).toBeGreaterThan(DAY - MINUTE);

    press(pictures.getByRole("button", { name: "Clear the override" }));
    press(pictures.getByRole("button", { name: "Clear" }));
    await pictures.findByText("0 of 5 left");
  });

  it("gives it on all limits with plans by one tick, and each card shows it", async () => {
    const limiter = await open({ plan: "free" });
    await openKey("ann");
    const pictures = await card("pictures");
    press(pictures.getByRole("button", { name: "Change plan" }));
    press(pictures.getByLabelText("on all limits with plans"));
    press(pictures.getByRole("button", { name: "Change" }));
    await pictures.findByText(/^Done on 2 limits: plan pro until /);
    (await card("video")).getByText("plan pro: unlimited");
    expect((await limiter.overrides.list()).map(({ name }) => name)).toEqual(["pictures", "video"]);
  });

  it("is not offered it on slots, nor on a limit without plans", async () => {
    await open({ plan: "free" });
    await openKey("ann");
    for (const name of ["jobs", "signUp"]) {
      expect((await card(name)).queryByRole("button", { name: "Change plan" })).toBeNull();
    }
  });
});
