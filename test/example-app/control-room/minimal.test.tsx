// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { expect, it, onTestFinished } from "vitest";
import { limiter, router, Support } from "../../../example-app/control-room/minimal.js";
import { startServer } from "../../support/http.js";

it("shows support who is limited, and others nothing", async () => {
  const user = { name: "ada", isSupport: false };
  const server = await startServer(router, () => ({ user }));
  onTestFinished(() => server[Symbol.asyncDispose]());
  onTestFinished(cleanup);
  const client = createTRPCClient<typeof router>({ links: [httpBatchLink({ url: server.url })] });
  await limiter.limit("apiCalls", { key: "bob", count: 100 });
  render(<Support client={client} />);
  await screen.findByText("You may not see this page");
  user.isSupport = true;
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(
    (await screen.findByRole("button", { name: "bob" })).closest("[role=row]")?.textContent,
  ).toContain("0 of 100");
});
