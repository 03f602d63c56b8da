/** Shows the answers of a race one after the other, slowly enough to be seen. */
import { useEffect, useState } from "react";

/** How long the whole replay takes, ms. */
const LENGTH = 1_200;

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * @param answers `undefined` while there are none. New answers are shown from the first.
 * @param isOld whether the answers are of a race before, and shown at once.
 * @returns the answers that are shown now. Visitors who want no motion see all answers at once.
 */
export function useReplay<T>(answers: readonly T[] | undefined, isOld: boolean): readonly T[] {
  const begin = () => ({ answers, shown: isOld || isStill() ? Infinity : 0 });
  const [replay, setReplay] = useState(begin);
  if (replay.answers !== answers) setReplay(begin());

  useEffect(() => {
    if (!answers || isOld || isStill()) return undefined;
    const start = performance.now();
    let frame = requestAnimationFrame(function show(now) {
      const part = Math.min(1, Math.max(0, now - start) / LENGTH);
      setReplay({ answers, shown: Math.floor(part * answers.length) });
      if (part < 1) frame = requestAnimationFrame(show);
    });
    return () => cancelAnimationFrame(frame);
  }, [answers, isOld]);
  return answers?.slice(0, replay.answers === answers ? replay.shown : 0) ?? [];
}
