import { QueryClient } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { hydrationCache } from "../../../client/react/hydration-cache.js";
import { snapshotOf } from "../../support/hand-transport.js";

const item = { name: "a" };

const request = () => Promise.resolve(snapshotOf("a", 3));

const keyOf = (input: object) => [["p", "status"], { input, type: "query" }];

function startCache() {
  const queryClient = new QueryClient();
  const put = (value: number) => queryClient.setQueryData(keyOf(item), snapshotOf("a", value));
  return { cache: hydrationCache(queryClient, keyOf, request), put, queryClient };
}

it("keeps what the page was rendered with, whatever is received later", () => {
  const { cache, put } = startCache();
  const first = put(3);
  expect(cache.prefetched(item)).toBe(first);
  const second = put(2);
  expect(cache.prefetched(item)).toBe(first);
  expect(cache.get(item)).toBe(second);
  expect(cache.prefetched({ name: "a", key: "k" })).toBeUndefined();
});

it("keeps it before an observer reads and overwrites it", () => {
  const { cache, put } = startCache();
  const first = put(3);
  cache.get(item);
  cache.set(item, snapshotOf("a", 1));
  expect(cache.prefetched(item)).toBe(first);
  expect(cache.get(item)).toMatchObject({ value: 1 });
});

it("ignores what an observer has received, even one of another provider", () => {
  const { cache, queryClient } = startCache();
  cache.set(item, snapshotOf("a", 1));
  expect(cache.prefetched(item)).toBeUndefined();
  expect(hydrationCache(queryClient, keyOf, request).prefetched(item)).toBeUndefined();
});
