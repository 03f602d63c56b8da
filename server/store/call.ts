/** Lets a store drop a call that has timed out. */
export interface Call {
  /** Whether the call has timed out and its promise has been rejected. */
  readonly expired: boolean;
}
