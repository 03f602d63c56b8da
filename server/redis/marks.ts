/**
 * Marks for clients that send a command again after their connection was lost. A script stores its reply
 * together with the mark of the command, and answers a command of the same mark with the stored reply.
 * Each command in flight has a place of its own, and each place has one small key.
 */

/** The place of a command in flight. */
export interface Mark {
  /** The key that holds the last reply of the place. */
  readonly key: string;
  /** Different for each command of the place. */
  text: string;
}

export class Marks {
  private readonly id = `${randomText()}${randomText()}`;
  private readonly free: Mark[] = [];
  private places = 0;
  private count = 0;

  /** @param keyOf the Redis key for a name. */
  constructor(private readonly keyOf: (name: string) => string) {}

  take(): Mark {
    const mark = this.free.pop() ?? this.newPlace();
    mark.text = `${++this.count} `;
    return mark;
  }

  /**
   * Frees the place of a command that has a reply, which the client will not send again. The place of a
   * command that failed is never used again, and its key expires by itself.
   */
  release(mark: Mark): void {
    this.free.push(mark);
  }

  private newPlace(): Mark {
    return { key: this.keyOf(`mark\0${this.id}\0${this.places++}`), text: "" };
  }
}

/** A random text, so that two stores do not share marks. */
export function randomText(): string {
  return Math.random().toString(36).slice(2, 12);
}
