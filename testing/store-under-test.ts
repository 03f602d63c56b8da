/** What `describeStore` tests. */
import type { RateLimitStore } from "../server/store/store.js";

/** What `open` of `describeStore` resolves with. */
export interface StoreUnderTest {
  /** A store without rows. */
  store: RateLimitStore;
  /**
   * A second store on the same rows, with a client of its own, as in another process. Without it,
   * the tests that need two stores are skipped, with a reason.
   */
  peer?: RateLimitStore | undefined;
  /**
   * Why the database cannot guard a row that is written as it was against writes of the peer. The
   * test of such rows is then skipped, with this reason. @default it can
   */
  unguarded?: string | undefined;
  /** Closes what `open` has opened. Called after each test. */
  close(): Promise<void>;
}
