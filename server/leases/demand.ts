/**
 * How many tokens the calls of this process want in a given time. Two numbers, because it is noted
 * in each call: those of the present span, and those of the span before it.
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
      // The spans end only where somebody asks, so this one may have been longer.
      this.before = (this.present * this.span) / elapsed;
      this.present = 0;
      this.since = now;
      return this.before;
    }
    return this.present + this.before * (1 - elapsed / this.span);
  }
}
