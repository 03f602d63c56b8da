/** The contract of stores, in this repository's test runner. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeStore as describeStoreIn, type StoreUnderTest } from "../../../testing/index.js";

export function describeStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describeStoreIn({ describe, it, beforeEach, afterEach, expect }, name, open);
}
