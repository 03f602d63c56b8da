/** Sends one message after the other, so that none overtakes an earlier one. */

const PAUSE = 1000;
/** The most tries for a message that gets no answer although the page seems to be connected. */
const MAX_TRIES = 10;

export function createInTurn() {
  let last: Promise<unknown> = Promise.resolve();
  let isOffline = false;

  /** A message that got no answer is sent again. The server stores it once, by its nonce. */
  async function untilAnswered<T>(send: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await send();
      } catch (error) {
        if (isOffline) tries = 0;
        if (isAnswer(error) || tries >= MAX_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
  }

  return {
    /** While there is no connection, no try counts. */
    setOffline(value: boolean): void {
      isOffline = value;
    },
    /**
     * Waits for the answer to the message before, and then sends. If the message before fails, this
     * message fails as well, and is not sent.
     */
    send<T>(send: () => Promise<T>): Promise<T> {
      const answer = last.then(() => untilAnswered(send));
      last = answer;
      // The next message that is sent after a failure starts anew.
      answer.catch(() => {
        if (last === answer) last = Promise.resolve();
      });
      return answer;
    },
  };
}

/** tRPC's errors have `data` if the server has sent them. */
function isAnswer(error: unknown): boolean {
  return (error as { data?: unknown }).data != null;
}
