/** The control room of a limiter in a page, against a real router. */
import { fireEvent, render, screen } from "@testing-library/react";
import { createTRPCClient, httpBatchLink, type TRPCLink } from "@trpc/client";
import { type AnyTRPCRouter, initTRPC } from "@trpc/server";
import type { ComponentProps, ComponentType } from "react";
import { onTestFinished } from "vitest";
import { RateLimitAdmin } from "../../client/admin/index.js";
import {
  createRateLimitTRPC,
  type RateLimitAdminOptions,
  SHARED_BUCKET,
} from "../../server/trpc/index.js";
import { startServer } from "./http.js";

interface AdminServerOptions {
  /** @default everything is allowed */
  admin?: RateLimitAdminOptions<object, string>;
  /** The plan of a page's caller. */
  plan?: () => string;
  links?: TRPCLink<AnyTRPCRouter>[];
}

/** Serves the admin router of a limiter until the end of the test. */
export async function serveAdmin(limiter: object, options: AdminServerOptions = {}) {
  const { links = [], ...terms } = options;
  const t = initTRPC.create();
  const admin = { authorize: () => true };
  const given = { key: SHARED_BUCKET, t, limiter, admin, ...terms } as never;
  const router = t.router({ rateLimitAdmin: createRateLimitTRPC(given).admin });
  return connectAdmin(router, links);
}

/** Serves a router until the end of the test, and connects a client. */
export async function connectAdmin(
  router: AnyTRPCRouter,
  links: readonly TRPCLink<AnyTRPCRouter>[] = [],
) {
  const server = await startServer(router, () => ({}));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const client = createTRPCClient<AnyTRPCRouter>({
    links: [...links, httpBatchLink({ url: server.url })],
  });
  return { server, client };
}

/** Renders the control room, which asks often, until the end of the test. */
export function showRoom(
  props: ComponentProps<typeof RateLimitAdmin>,
  wrapper?: ComponentType<{ children?: React.ReactNode }>,
): void {
  const room = <RateLimitAdmin locale="en-GB" refreshInterval={250} {...props} />;
  const { unmount } = render(room, wrapper && { wrapper });
  onTestFinished(unmount);
}

export const press = (element: HTMLElement) => fireEvent.click(element);

/** Types a key into the field, and presses the button beside it. */
export async function lookUp(key: string): Promise<void> {
  fireEvent.change(await screen.findByLabelText("Look up a key"), { target: { value: key } });
  press(screen.getByRole("button", { name: "Look up" }));
}
