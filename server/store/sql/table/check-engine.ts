/**
 * Tells the database engines apart that answer to one dialect, by the version that they report. Some
 * engines accept the statements and do not keep their promises, or fail at the first statement with an
 * error that explains nothing. Such engines are refused by name.
 */

/** The engine is refused. The message names the engine, says why it is refused, and what to do. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

export interface Engine {
  name: string;
  pattern: RegExp;
  /** Why the engine is refused. Absent: the engine is accepted, from the version `from` on. */
  refusal?: string;
  /** The lowest version, compared with the first group of the pattern. */
  from?: readonly number[];
  /** The features that the lower versions lack. */
  lacks?: string;
}

export interface Engines {
  /** The first engine whose pattern matches is the one that runs. */
  readonly engines: readonly Engine[];
  /** The advice in place of using an engine that is refused. */
  readonly instead: string;
}

/** @returns `undefined` for a version that is not known. */
export function engineOf(engines: readonly Engine[], version: string): Engine | undefined {
  return engines.find(({ pattern }) => pattern.test(version));
}

/**
 * @param version what the database reports. A version that is not known passes.
 * @throws EngineError
 */
export function checkEngine({ engines, instead }: Engines, version: string): void {
  const engine = engineOf(engines, version);
  if (engine === undefined) return;
  const { name, pattern, refusal, from, lacks } = engine;
  const hint = `(it reports "${version}"; ${instead})`;
  if (refusal !== undefined)
    throw new EngineError(`${name} cannot keep limits: ${refusal} ${hint}`);
  const found = (pattern.exec(version)?.[1] ?? "").split(".").map(Number);
  const [lowest, other] =
    from?.map((number, index) => [number, found[index] ?? number]).find(([a, b]) => a !== b) ?? [];
  if (from === undefined || lowest === undefined || other! > lowest) return;
  throw new EngineError(
    `${name} before ${from.join(".")} cannot keep limits: it lacks ${lacks} ${hint}`,
  );
}
