// @vitest-environment jsdom
/** The actions of a key where several overrides lie over each other, against a real router. */
import { fireEvent, screen, within } from "@testing-library/react";
import { type TRPCLink } from "@trpc/client";
import { type AnyTRPCRouter } from "@trpc/server";
import { map } from "@trpc/server/observable";
import { expect, it } from "vitest";
import { createRateLimiter, HOUR, memoryStore } from "../../../server/index.js";
import { lookUp, press, serveAdmin, showRoom } from "../../support/control-room.js";
import { soon } from "../../support/soon.js";

const ann = { key: "ann" };

async function open({ links = [] }: { links?: TRPCLink<AnyTRPCRouter>[] } = {}) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { send: { kind: "token bucket", rate: 2, period: HOUR } },
    overrides: true,
  });
  const { server, client } = await serveAdmin(limiter, { links });
  showRoom({ client });
  await limiter.limit("send", ann);
  await lookUp("ann");
  const card = within(await soon(() => screen.getByRole("region", { name: "send" })));
  return { limiter, server, card };
}

type Card = Awaited<ReturnType<typeof open>>["card"];

/** Presses the button of an action, and then that of its question. */
function pressTwice(card: Card, action: string, sure = action): void {
  press(card.getByRole("button", { name: action }));
  press(within(card.getByRole("form")).getByRole("button", { name: sure }));
}

it("say what was set, and not what lies over it", async () => {
  const { limiter, card } = await open();
  await limiter.overrides.set("send", { ...ann, blocked: true });
  await card.findByText("banned");
  pressTwice(card, "Raise");
  expect((await card.findByText(/^Done/)).textContent).toMatch(/^Done: 2 times/);
});

it("clear what is there, also where the kind that was chosen before has ended", async () => {
  const { limiter, card } = await open();
  await limiter.overrides.set("send", { ...ann, times: 2 });
  await limiter.overrides.set("send", { ...ann, blocked: true });
  await card.findByText("banned");
  press(card.getByRole("button", { name: "Clear the override" }));
  fireEvent.change(card.getByLabelText("What"), { target: { value: "times" } });
  press(within(card.getByRole("form")).getByRole("button", { name: "Clear" }));
  await card.findByText("Done.");
  expect(await limiter.overrides.list()).toMatchObject([{ blocked: true }]);
  pressTwice(card, "Clear the override", "Clear");
  await card.findByText("Done.");
  expect(await limiter.overrides.list()).toEqual([]);
});

it("clear an override of a server that knows one of each key", async () => {
  const earlier: TRPCLink<AnyTRPCRouter> =
    () =>
    ({ next, op }) =>
      next(op).pipe(
        map((message) => {
          const { data } = message.result as { data?: { limits?: { overrides?: unknown }[] } };
          for (const limit of data?.limits ?? []) {
            if (Array.isArray(limit.overrides)) {
              const [override] = limit.overrides as unknown[];
              delete limit.overrides;
              Object.assign(limit, { override });
            }
          }
          return message;
        }),
      );
  const { limiter, card } = await open({ links: [earlier] });
  await limiter.overrides.set("send", { ...ann, blocked: true });
  await card.findByText("banned");
  pressTwice(card, "Clear the override", "Clear");
  await card.findByText("Done.");
  expect(await limiter.overrides.list()).toEqual([]);
});

it("say why an undo was refused", async () => {
  const { limiter, card } = await open();
  pressTwice(card, "Ban");
  await card.findByText(/^Done: banned/);
  await limiter.overrides.set("send", { ...ann, blocked: true });
  press(card.getByRole("button", { name: "Undo" }));
  await card.findByText("The server has refused it: It was changed again since, or has ended");
});

it("leave a question alone that was opened while another action is on its way", async () => {
  const { limiter, server, card } = await open();
  const answer = server.delay("rateLimitAdmin.ban");
  pressTwice(card, "Ban");
  press(card.getByRole("button", { name: "Cancel" }));
  press(card.getByRole("button", { name: "Raise" }));
  answer();
  await card.findByText(/^Done: banned/);
  expect(card.getByLabelText("Times")).toBe(document.activeElement);
  press(within(card.getByRole("form")).getByRole("button", { name: "Raise" }));
  await card.findByText(/^Done: 2 times/);
  await soon(async () => expect((await limiter.overrides.list()).length).toBe(2));
});
