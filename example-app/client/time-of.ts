/** The time of day of an instant, to the nearest second, on the visitor's clock: 14:05:09. */
export function timeOf(instant: number): string {
  return new Date(Math.round(instant / 1000) * 1000).toLocaleTimeString("en-GB");
}
