/** The keys that are limited now: the pages that were scrolled to. The pages on the screen stay fresh. */
"use client";
import { useCallback, useContext, useEffect, useRef, useState } from "react";
import type { AdminClient } from "./admin-client.js";
import type { AdminItem } from "./admin-types.js";
import { type LimitedPages, NO_PAGES, startOf, withItem, withPage } from "./limited-pages.js";
import { TickerContext } from "./ticker.js";

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
  const [state, setState] = useState({
    name,
    data: NO_PAGES,
    isThere: false,
    error: undefined as unknown,
  });
  const current = useRef({ data: NO_PAGES, first: 0, last: 0 });
  const control = useRef<{ ask(): void; more(): void }>(undefined);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asking: AbortController | undefined;
    let loading: AbortController | undefined;
    current.current.data = NO_PAGES;

    async function read(index: number, signal: AbortSignal): Promise<boolean> {
      const after = startOf(current.current.data, index);
      try {
        const input = { name, denied, count: COUNT, ...(after !== undefined && { after }) };
        const page = await client.list(input, signal);
        if (signal.aborted) return false;
        ticker?.hear(page.now);
        const data = withPage(current.current.data, index, page);
        current.current.data = data;
        setState({ name, data, isThere: true, error: undefined });
        return true;
      } catch (error) {
        if (!signal.aborted) {
          setState((before) => ({
            ...before,
            name,
            isThere: before.name === name && before.isThere,
            error,
          }));
        }
        return false;
      }
    }

    /** Asks for the pages on the screen, and again after `every` ms. */
    async function ask(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      asking?.abort();
      const { signal } = (asking = new AbortController());
      const { data, first, last } = current.current;
      const from = data.pageOf[first] ?? 0;
      const to = data.pageOf[Math.min(last, data.items.length - 1)] ?? from;
      for (let index = from; index <= to; index++) {
        if (index > 0 && startOf(current.current.data, index) === undefined) break;
        if (!(await read(index, signal))) break;
      }
      if (signal.aborted) return;
      asking = undefined;
      more();
      if (!document.hidden) timer = setTimeout(() => void ask(), every);
    }

    /** Asks for the next page if the rows on the screen are near the end of the known rows. */
    function more(): void {
      if (!loading) void load();
    }

    async function load(): Promise<void> {
      const { signal } = (loading = new AbortController());
      for (let pages = 0; pages < EMPTY_IN_A_ROW; pages++) {
        const { data, last } = current.current;
        if (data.next === undefined || last + AHEAD < data.items.length) break;
        if (!(await read(data.pages.length, signal))) break;
        if (current.current.data.items.length > data.items.length) pages = 0;
      }
      if (!signal.aborted) loading = undefined;
    }

    function wake(): void {
      if (!document.hidden && timer === undefined && !asking) void ask();
    }

    const onLine = () => void ask();
    control.current = { ask: onLine, more };
    onLine();
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", onLine);
    return () => {
      clearTimeout(timer);
      asking?.abort();
      loading?.abort();
      document.removeEventListener("visibilitychange", wake);
      window.removeEventListener("online", onLine);
    };
  }, [client, name, denied, every, ticker]);

  const show = useCallback((first: number, last: number) => {
    Object.assign(current.current, { first, last });
    control.current?.more();
  }, []);
  const refresh = useCallback(() => control.current?.ask(), []);
  const patch = useCallback((item: AdminItem, now: number) => {
    const data = withItem(current.current.data, item, now);
    current.current.data = data;
    setState((before) => ({ ...before, data }));
  }, []);

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
