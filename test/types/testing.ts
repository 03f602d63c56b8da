/** Test runners that `describeStore` must and must not accept. `tsc` checks it; it never runs. */
import { memoryStore, type RateLimitStore } from "trpc-rate-limit/server";
import { describeStore } from "trpc-rate-limit/testing";
import * as vitest from "vitest";

const open = async () => ({ store: memoryStore() as RateLimitStore, close: async () => {} });

const { describe, it, beforeEach, afterEach, expect } = vitest;
describeStore({ describe, it, beforeEach, afterEach, expect }, "a store", open);

/** The shape of Jest's types. */
interface Jest {
  describe: { (name: string, fn: () => void): void; only: unknown };
  it: { (name: string, fn?: JestCallback, timeout?: number): void; only: unknown };
  beforeEach: (fn: JestCallback, timeout?: number) => void;
  afterEach: (fn: JestCallback, timeout?: number) => void;
  expect: { <T>(actual: T): JestMatchers<void, T>; any(classType: unknown): unknown };
}
type JestCallback =
  ((done: (error?: unknown) => void) => void | undefined) | (() => PromiseLike<unknown>);
interface JestMatchers<R, T> {
  toBe<E = T>(expected: E): R;
  toEqual<E = T>(expected: E): R;
  not: JestMatchers<R, T>;
}
declare const jest: Jest;
describeStore(jest, "a store", open);

// @ts-expect-error `expect` is missing
describeStore({ describe, it, beforeEach, afterEach }, "a store", open);
// @ts-expect-error `close` is missing
describeStore(vitest, "a store", async () => ({ store: memoryStore() }));
