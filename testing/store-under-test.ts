/** The store that `describeStore` tests. */
import type { RateLimitStore } from "../server/store/store.js";

/** The result of `open` of `describeStore`. */
export interface StoreUnderTest {
  /** A store without rows. */
  store: RateLimitStore;
  /**
   * A second store on the same rows, with a client of its own, as in another process. Without a peer, the
   * tests that need two stores are skipped, with a reason.
   */
  peer?: RateLimitStore | undefined;
  /**
   * Why the database cannot guard a row against writes of the peer, if a decision writes the row
   * unchanged. The test of such rows is then skipped, with this reason. @default the database can
   */
  unguarded?: string | undefined;
  /** Closes what `open` has opened. Called after each test. */
  close(): Promise<void>;
}
