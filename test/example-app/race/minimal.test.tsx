// @vitest-environment jsdom
import { fireEvent, screen } from "@testing-library/react";
import { createTRPCClient, httpLink } from "@trpc/client";
import { expect, it } from "vitest";
import { limits, order, OrderSeat } from "../../../example-app/race/minimal.js";
import { createTRPC } from "../../../example-app/shared/server/trpc.js";
import { LIMITS } from "../../../example-app/shared/server/limiter.js";
import { openExampleDatabase } from "../../support/example-database.js";
import { mountExample } from "../../support/mount-example.js";

it("takes a token for a seat, and none for a seat that is taken", async () => {
  expect(LIMITS.race).toEqual(limits.race);
  const { prisma } = await openExampleDatabase();
  const app = createTRPC(prisma);
  const router = app.t.router({ rateLimit: app.rl.router, order: order(app) });
  await mountExample(router, "ada", (url) => {
    const client = createTRPCClient<typeof router>({ links: [httpLink({ url })] });
    return <OrderSeat send={(seat) => client.order.mutate(seat)} />;
  });
  const orderSeat = (number: number) => {
    fireEvent.change(screen.getByLabelText("Seat"), { target: { value: `${number}` } });
    fireEvent.click(screen.getByRole("button", { name: "Order" }));
  };
  const left = (count: number) =>
    screen.findByText(new RegExp(`^${count} orders left`), undefined, { timeout: 10_000 });

  await left(10);
  orderSeat(1);
  await left(9);
  orderSeat(1);
  await screen.findByRole("alert", undefined, { timeout: 10_000 });
  await left(9);
  expect(await prisma.seat.count()).toBe(1);
  // The page hears of what another tab takes.
  await app.limiter.limit("race", { key: "ada", count: 9 });
  await left(0);
  expect(screen.getByRole<HTMLButtonElement>("button").disabled).toBe(true);
});
