/** The keys that are limited now: the pages that were scrolled to. The pages on the screen stay fresh. */
"use client";
import { type Dispatch, type SetStateAction, useContext, useEffect, useState } from "react";
import type { AdminClient } from "./admin-client.js";
import type { AdminItem } from "./admin-types.js";
import { type LimitedPages, NO_PAGES, startOf, withItem, withPage } from "./limited-pages.js";
import { Poller } from "./poller.js";
import { type Ticker, TickerContext } from "./ticker.js";

/** Keys per page. */
const COUNT = 200;
/** The next page is asked for this many rows before the end of the known rows. */
const AHEAD = 100;
/** The most pages without a limited key that are asked for in a row: the server reads many rows for each. */
const EMPTY_IN_A_ROW = 50;

export interface Limited {
  data: LimitedPages;
  /** Whether the first page has been read. */
  isThere: boolean;
  /** Why the last question had no answer. */
  error: unknown;
  /** Tells which rows are on the screen. Asks for more when these rows are near the end. */
  show(first: number, last: number): void;
  refresh(): void;
  patch(item: AdminItem, now: number): void;
}

/**
 * @param denied only the keys that are limited now, or all that have rows.
 * @param every ms between an answer and the next question.
 */
export function useLimited(
  client: AdminClient,
  name: string,
  denied: boolean,
  every: number,
): Limited {
  const ticker = useContext(TickerContext);
  const [state, setState] = useState<State>({
    name,
    data: NO_PAGES,
    isThere: false,
    error: undefined,
  });
  const [reader] = useState(() => new PageReader(setState));
  useEffect(() => {
    reader.start({ client, name, denied, every, ticker });
    return reader.stop;
  }, [reader, client, name, denied, every, ticker]);

  const { show, refresh, patch } = reader;
  const isCurrent = state.name === name;
  return {
    data: isCurrent ? state.data : NO_PAGES,
    isThere: isCurrent && state.isThere,
    error: isCurrent ? state.error : undefined,
    show,
    refresh,
    patch,
  };
}

/** The state that is shown, and the name of its limit. */
interface State extends Pick<Limited, "data" | "isThere" | "error"> {
  name: string;
}

interface List {
  client: AdminClient;
  name: string;
  denied: boolean;
  every: number;
  ticker: Ticker | undefined;
}

/** Reads the pages of one list at a time. The rows on the screen outlast a change of the list. */
class PageReader {
  readonly #setState: Dispatch<SetStateAction<State>>;
  /** Reads the pages on the screen. */
  readonly #poller = new Poller((signal) => this.#readShown(signal));
  /** While pages after the known ones are read. */
  #loading: AbortController | undefined;
  #list!: List;
  #data = NO_PAGES;
  #first = 0;
  #last = 0;

  constructor(setState: Dispatch<SetStateAction<State>>) {
    this.#setState = setState;
  }

  start(list: List): void {
    this.#list = list;
    this.#data = NO_PAGES;
    this.#poller.start();
  }

  readonly stop = (): void => {
    this.#poller.stop();
    this.#loading?.abort();
    this.#loading = undefined;
  };

  readonly show = (first: number, last: number): void => {
    this.#first = first;
    this.#last = last;
    this.#more();
  };

  readonly refresh = this.#poller.ask;

  readonly patch = (item: AdminItem, now: number): void => {
    const data = (this.#data = withItem(this.#data, item, now));
    this.#setState((before) => ({ ...before, data }));
  };

  /** @returns ms until the pages on the screen are read again. */
  async #readShown(signal: AbortSignal): Promise<number> {
    const { items, pageOf } = this.#data;
    const from = pageOf[this.#first] ?? 0;
    const to = pageOf[Math.min(this.#last, items.length - 1)] ?? from;
    for (let index = from; index <= to; index++) {
      if (index > 0 && startOf(this.#data, index) === undefined) break;
      if (!(await this.#read(index, signal))) break;
    }
    if (!signal.aborted) this.#more();
    return this.#list.every;
  }

  /** Asks for the next page if the rows on the screen are near the end of the known rows. */
  #more(): void {
    if (!this.#loading) void this.#load();
  }

  async #load(): Promise<void> {
    const { signal } = (this.#loading = new AbortController());
    for (let pages = 0; pages < EMPTY_IN_A_ROW; pages++) {
      const data = this.#data;
      if (data.next === undefined || this.#last + AHEAD < data.items.length) break;
      if (!(await this.#read(data.pages.length, signal))) break;
      if (this.#data.items.length > data.items.length) pages = 0;
    }
    if (!signal.aborted) this.#loading = undefined;
  }

  /** @returns whether there was an answer. */
  async #read(index: number, signal: AbortSignal): Promise<boolean> {
    const { client, name, denied, ticker } = this.#list;
    const after = startOf(this.#data, index);
    try {
      const input = { name, denied, count: COUNT, ...(after !== undefined && { after }) };
      const page = await client.list(input, signal);
      if (signal.aborted) return false;
      ticker?.hear(page.now);
      const data = (this.#data = withPage(this.#data, index, page));
      this.#setState({ name, data, isThere: true, error: undefined });
      return true;
    } catch (error) {
      if (!signal.aborted) {
        this.#setState((before) => ({
          ...before,
          name,
          isThere: before.name === name && before.isThere,
          error,
        }));
      }
      return false;
    }
  }
}
