/**
 * The config of one limit as the stream reports it. A stream keeps the context of its start, so it
 * may report an older config than the answers do, such as that of the plan before an upgrade.
 */

/** Configs of a limit, as texts. */
export interface SeenConfigs {
  /** The config of the newest snapshot from anywhere. */
  config?: string;
  /** The config that the stream reported last. */
  streamed?: string;
  /** The value of `streamed` because of which the stream was opened anew last. */
  reopened?: string | undefined;
}

/** Takes the config of a streamed snapshot. Returns whether a newer answer has replaced it. */
export function isReplaced(seen: SeenConfigs, config: string): boolean {
  if (config === seen.streamed && config !== seen.config) return true;
  seen.streamed = config;
  return false;
}

/** Whether the newest snapshot has another config than the stream. */
export function isStreamOutdated({ config, streamed }: SeenConfigs): boolean {
  return streamed !== undefined && streamed !== config;
}

/**
 * Whether the stream has to be opened anew. Once for a reported config: a new stream that reports
 * the same config again is left alone.
 */
export function mustReopen(seen: SeenConfigs): boolean {
  if (!isStreamOutdated(seen) || seen.streamed === seen.reopened) return false;
  seen.reopened = seen.streamed;
  return true;
}
