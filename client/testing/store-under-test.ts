/** What `describeStore` tests. */
import type { RateLimitStore } from "../../server/store/store.js";

/** What `open` of `describeStore` resolves with. */
export interface StoreUnderTest {
  /** A store without rows. */
  store: RateLimitStore;
  /**
   * A second store on the same rows, with a client of its own, as in another process. Without it,
   * the tests that need two stores are skipped, with a reason.
   */
  peer?: RateLimitStore | undefined;
  /** Closes what `open` has opened. Called after each test. */
  close(): Promise<void>;
}
