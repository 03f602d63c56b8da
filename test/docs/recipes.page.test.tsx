// @vitest-environment jsdom
/** The recipes and the guide to tiers: their components, as they stand on the page. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen } from "@testing-library/react";
import type { ComponentType, ReactNode } from "react";
import { afterEach, expect, it } from "vitest";
import { createFakeRateLimits } from "../../testing/index.js";
import { openPage } from "../support/docs-module.js";
import { shownCountdown } from "../support/countdown.js";

afterEach(cleanup);

it("offers an upgrade to a limited user of the free plan alone", async () => {
  const load = await openPage("docs/guides/plans.md", "guides/plans");
  const { RateLimitProvider } = await load<{
    RateLimitProvider: ComponentType<{ observer: object; children: ReactNode }>;
  }>("client/limits.ts");
  const { SendOrUpgrade } = await load<{
    SendOrUpgrade: ComponentType<{ plan: "free" | "pro"; send(): void }>;
  }>("client/send-or-upgrade.tsx");
  const limits = createFakeRateLimits();
  const pageOf = (plan: "free" | "pro") => (
    <RateLimitProvider observer={limits}>
      <SendOrUpgrade plan={plan} send={() => {}} />
    </RateLimitProvider>
  );
  const { rerender } = render(pageOf("free"));
  expect(screen.queryByRole("button", { name: "Send" })).not.toBeNull();
  expect(screen.queryByRole("link")).toBeNull();

  act(() => limits.deny("sendMessage", Date.now() + 60_000));
  expect(screen.queryByRole("button")).toBeNull();
  expect(screen.getByRole("link", { name: "Send 100 a minute" })).toBeDefined();
  expect(shownCountdown().textContent).toMatch(/^1m 0s$|^5\ds$/);

  rerender(pageOf("pro"));
  expect(screen.queryByRole("link")).toBeNull();
  act(() => limits.fill("sendMessage"));
  expect(screen.queryByRole("button", { name: "Send" })).not.toBeNull();
});

it("lets an administrator send, whose calls count 0, where others have to wait", async () => {
  const load = await openPage("docs/recipes.md", "guides/recipes");
  const { RateLimitProvider, useRateLimitedMutation } = await load<{
    RateLimitProvider: ComponentType<{ observer: object; children: ReactNode }>;
    useRateLimitedMutation(name: string, options: object): { canMutate: boolean };
  }>("client/limits.ts");
  function Send({ count }: { count: number }) {
    const mutationFn = () => Promise.resolve("sent");
    const { canMutate } = useRateLimitedMutation("sendMessage", { mutationFn, count });
    return <button disabled={!canMutate}>{`Send for ${count}`}</button>;
  }
  const limits = createFakeRateLimits();
  limits.fill("sendMessage", 0);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <RateLimitProvider observer={limits}>
        <Send count={0} />
        <Send count={1} />
      </RateLimitProvider>
    </QueryClientProvider>,
  );
  const isDisabled = (name: string) =>
    screen.getByRole<HTMLButtonElement>("button", { name }).disabled;
  expect(isDisabled("Send for 1")).toBe(true);
  expect(isDisabled("Send for 0")).toBe(false);
});
