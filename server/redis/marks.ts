/**
 * Marks for clients that send a command again after their connection was lost. A script keeps its
 * reply beside the mark of the command, and answers a command of the same mark with that reply. Each
 * command in flight has a place of its own, so one small key per place is enough.
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

  /** @param keyOf the key of Redis of a name. */
  constructor(private readonly keyOf: (name: string) => string) {}

  take(): Mark {
    const mark = this.free.pop() ?? this.newPlace();
    mark.text = `${++this.count} `;
    return mark;
  }

  /**
   * Call it when the client will not send the command again: when it has a reply. The place of a
   * command that failed is never used again, and its key expires by itself.
   */
  release(mark: Mark): void {
    this.free.push(mark);
  }

  private newPlace(): Mark {
    return { key: this.keyOf(`mark\0${this.id}\0${this.places++}`), text: "" };
  }
}

/** No two stores must share it. */
export function randomText(): string {
  return Math.random().toString(36).slice(2, 12);
}
