/**
 * The config of one limit as the stream reports it. A stream keeps the context of its start, so the
 * stream may report an older config than the answers do, such as that of the plan before an upgrade.
 */

/** Configs of a limit, as texts. */
export interface SeenConfigs {
  /** The config of the newest snapshot from anywhere. */
  config?: string;
  /** More than 0 once there is a snapshot that no stream and no cache brought. */
  answered: number;
  /** The config that the stream reported last. */
  streamed?: string;
  /**
   * The value of `streamed` because of which the stream was opened anew last, until the stream has
   * reported another config.
   */
  reopened?: string | undefined;
  /**
   * The config that was the newest when the stream was opened anew, until the stream has reported
   * a change. A slow stream reports that config although answers have brought another one meanwhile.
   */
  opened?: string | undefined;
}

/**
 * Takes the config of a streamed snapshot. Returns whether a newer answer has replaced that config, as
 * far as is known. The first report is no newer than an answer: another tab may have opened the stream.
 */
export function isReplaced(seen: SeenConfigs, config: string): boolean {
  const isSame = config === seen.streamed;
  const isDoubtful = seen.streamed ? isSame || config === seen.opened : seen.answered > 0;
  seen.streamed = config;
  if (isDoubtful && config !== seen.config) return true;
  // The same config may come from the old stream, which stays until the new stream has delivered.
  if (!isSame) seen.opened = seen.reopened = undefined;
  return false;
}

/** Whether the newest snapshot has another config than the stream. */
export function isStreamOutdated({ config, streamed }: SeenConfigs): boolean {
  return streamed !== undefined && streamed !== config;
}

/**
 * Whether the stream has to be opened anew because of an answer. True only once for a reported config: a
 * new stream that reports the same config again is left alone.
 */
export function mustReopen(seen: SeenConfigs): boolean {
  if (!isStreamOutdated(seen) || seen.streamed === seen.reopened) return false;
  seen.reopened = seen.streamed;
  seen.opened = seen.config;
  return true;
}
