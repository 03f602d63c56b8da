/**
 * How many tokens the calls of this process want in a given time. Each call notes its tokens, so the
 * demand is two numbers only: the tokens of the present span, and the tokens of the span before.
 */
export class Demand {
  private present = 0;
  private before = 0;
  private since: number | undefined;

  /** @param span ms. */
  constructor(private readonly span: number) {}

  note(count: number): void {
    this.present += count;
  }

  /**
   * Tokens that were wanted in the last span.
   *
   * @param now ms, by the monotonic clock.
   */
  at(now: number): number {
    this.since ??= now;
    const elapsed = now - this.since;
    if (elapsed >= this.span) {
      // A span ends only when `at` is called, so this span may have been longer than `span`.
      this.before = (this.present * this.span) / elapsed;
      this.present = 0;
      this.since = now;
      return this.before;
    }
    return this.present + this.before * (1 - elapsed / this.span);
  }
}
