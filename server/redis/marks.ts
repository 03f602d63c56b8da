/**
 * Marks for clients that send a command again after their connection was lost. A script keeps its
 * reply beside the mark of the command, and answers a command of the same mark with that reply. Each
 * command in flight has a place of its own, so one small key per place is enough.
 */

export interface Mark {
  /** The name of the key that holds the last reply of the place. */
  readonly name: string;
  /** Different for each command of the place. */
  readonly text: string;
  /**
   * Call it when the client will not send the command again: when it has a reply. The place of a
   * command that failed is never used again, and its key expires by itself.
   */
  free(): void;
}

export class Marks {
  private readonly id = `${randomText()}${randomText()}`;
  private readonly freePlaces: number[] = [];
  private places = 0;
  private count = 0;

  take(): Mark {
    const place = this.freePlaces.pop() ?? this.places++;
    return {
      name: `mark\0${this.id}\0${place}`,
      text: `${++this.count} `,
      free: () => void this.freePlaces.push(place),
    };
  }
}

/** No two stores must share it. */
export function randomText(): string {
  return Math.random().toString(36).slice(2, 12);
}
