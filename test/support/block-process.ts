/** Keeps this process busy for some ms, so that it can neither read answers nor run timers. */
export function blockProcess(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
