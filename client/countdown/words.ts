/**
 * The words for a wait. `Intl` has the numbers, the units and the clock of a language. The labels have
 * the sentences.
 */
import { inUnits } from "../../core/wait-in-words.js";

/**
 * The sentences around a wait, for other languages, or for other words of English. A label that is not
 * given is in English, so give all labels, and `locale` beside them.
 */
export interface CountdownLabels {
  /**
   * The text of a wait of less than 12 hours, and of any wait on a server.
   * @param time in its two largest units, such as "2m 5s" or "9d 14h".
   * @default the time alone
   */
  in?: (time: string) => string;
  /**
   * The text of a longer wait.
   * @param clock when the wait ends, on the visitor's clock, such as "9:00 AM".
   * @param day "Tuesday", or from six days on "December 24"; `undefined` for today.
   * @default "at 9:00 AM", "at 9:00 AM on Tuesday"
   */
  at?: (clock: string, day: string | undefined) => string;
  /** The text where no wait helps. @default "never" */
  never?: string;
  /**
   * The text for screen readers when a wait of less than 12 hours starts.
   * @param time in its largest unit, rounded up, such as "3 minutes".
   * @default "Wait 3 minutes"
   */
  announceIn?: (time: string) => string;
  /** Like `announceIn`, for a longer wait; parameters as in `at`. @default "Wait until 9:00 AM on Tuesday" */
  announceAt?: (clock: string, day: string | undefined) => string;
  /** The text for screen readers where no wait helps. @default "You cannot go on" */
  announceNever?: string;
  /** The text for screen readers at the end of the wait. @default "You can go on" */
  announceEnd?: string;
}

/** The language of countdowns. */
export interface CountdownWords {
  /**
   * A language tag of BCP 47, such as `"de"` or `"en-GB"`, for numbers, units, days and the clock. `Intl`
   * throws a RangeError for any other text, such as `"en_GB"`. @default "en"
   */
  locale?: string | undefined;
  /** The sentences around a wait. @default English */
  labels?: CountdownLabels | undefined;
}

const onDay = (clock: string, day?: string) => (day ? `${clock} on ${day}` : clock);

const ENGLISH: Required<CountdownLabels> = {
  in: (time) => time,
  at: (clock, day) => `at ${onDay(clock, day)}`,
  never: "never",
  announceIn: (time) => `Wait ${time}`,
  announceAt: (clock, day) => `Wait until ${onDay(clock, day)}`,
  announceNever: "You cannot go on",
  announceEnd: "You can go on",
};

/** s. For a wait from this length on, people prefer the time of day at its end. */
const CLOCK = 12 * 3600;
/** s. A day of the week means one of the next days. A date without a year is within the next 12 months. */
const [WEEK, YEAR] = [6 * 86_400, 360 * 86_400];

/**
 * @param own the words of a countdown, which go before those of the provider, `above`.
 * @returns a function of the seconds of a wait, and of the instant at which it ends, epoch ms. Without
 * the instant, the text has no time of day: a server is in another time zone than its visitors. `isSaid`
 * asks for the text for screen readers.
 */
export function wordsOf(own: CountdownWords, above: CountdownWords) {
  const locale = own.locale ?? above.locale ?? "en";
  const label = <TName extends keyof CountdownLabels>(name: TName) =>
    own.labels?.[name] ?? above.labels?.[name] ?? ENGLISH[name];
  const wait = (seconds: number, isSaid: boolean) =>
    isSaid ? inUnits(seconds, locale, 1, "long") : inUnits(seconds, locale, 2, "narrow");

  function clock(seconds: number, retryAt: number): [clock: string, day: string | undefined] {
    // To the nearest minute: an instant that was corrected by a few ms is still nine o'clock.
    const end = new Date(Math.round(retryAt / 60_000) * 60_000);
    const format = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat(locale, options).format(end);
    const isToday = end.toDateString() === new Date(retryAt - seconds * 1000).toDateString();
    const date: Intl.DateTimeFormatOptions = { day: "numeric", month: "long" };
    if (seconds > YEAR) date.year = "numeric";
    return [
      format({ timeStyle: "short" }),
      isToday ? undefined : format(seconds < WEEK ? { weekday: "long" } : date),
    ];
  }

  return (seconds: number, retryAt?: number, isSaid = false): string => {
    if (seconds === 0) return label("announceEnd");
    if (seconds === Infinity) return label(isSaid ? "announceNever" : "never");
    return retryAt === undefined || seconds < CLOCK
      ? label(isSaid ? "announceIn" : "in")(wait(seconds, isSaid))
      : label(isSaid ? "announceAt" : "at")(...clock(seconds, retryAt));
  };
}
