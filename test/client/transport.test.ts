import { createTRPCClient, TRPCClientError } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable, type Observer } from "@trpc/server/observable";
import { expect, it, vi } from "vitest";
import { createTRPCTransport } from "../../client/index.js";

/** A stream whose link the test controls. */
function watch() {
  let stream: Observer<unknown, unknown> | undefined;
  const client = createTRPCClient<AnyTRPCRouter>({
    links: [() => () => observable((observer) => void (stream = observer as typeof stream))],
  });
  const handlers = { onSnapshot: vi.fn(), onLost: vi.fn(), onEnded: vi.fn() };
  createTRPCTransport(client, "rateLimit").watch([{ name: "a" }], handlers);
  return { stream: stream!, ...handlers };
}

it.each(["completes", "fails"])("a stream that %s has ended", (how) => {
  const { stream, onEnded, onLost } = watch();
  if (how === "completes") stream.complete();
  else stream.error(new TRPCClientError("gone"));
  expect(onEnded).toHaveBeenCalledTimes(1);
  expect(onLost).not.toHaveBeenCalled();
});

it("loses a connecting stream only where it has to reconnect", () => {
  const { stream, onEnded, onLost, onSnapshot } = watch();
  const connecting = (error: unknown) =>
    stream.next({ result: { type: "state", state: "connecting", error } });
  connecting(null);
  expect(onLost).not.toHaveBeenCalled();
  connecting(new TRPCClientError("gone"));
  expect(onLost).toHaveBeenCalledTimes(1);
  stream.next({ result: { type: "data", data: "a snapshot" } });
  expect(onSnapshot.mock.calls).toEqual([["a snapshot"]]);
  expect(onEnded).not.toHaveBeenCalled();
});
