/** The limits, and how many keys each of them limits now. */
"use client";
import { type KeyboardEvent, type ReactElement, type RefObject, useEffect, useRef } from "react";
import { type Admin, useAdmin } from "./admin-context.js";
import { usePoll } from "./use-poll.js";

/** The most keys that are counted for a limit. A limit with more shows `99+`. */
const COUNTED = 99;
/** ms between two counts, at least: the server looks at many rows for each. */
const COUNT_INTERVAL = 10_000;

export function Tabs({
  id,
  chosen,
  onChoose,
  onCount,
}: {
  /** The start of the ids of the tabs and of their panel. */
  id: string;
  chosen: string;
  onChoose: (name: string) => void;
  /** Called after each count, with the first limit that limits a key, or else with the first of all. */
  onCount: (name: string) => void;
}): ReactElement {
  const { limits } = useAdmin();
  const counts = useCounts(onCount);
  const names = limits.limits.map(({ name }) => name);
  const list = useShown(chosen);

  function onKeyDown(event: KeyboardEvent): void {
    const index = names.indexOf(chosen);
    const next = {
      ArrowDown: index + 1,
      ArrowRight: index + 1,
      ArrowUp: index - 1,
      ArrowLeft: index - 1,
      Home: 0,
      End: names.length - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const wanted = (next + names.length) % names.length;
    onChoose(names[wanted]!);
    document.getElementById(`${id}-${wanted}`)?.focus();
  }

  return (
    <div ref={list} role="tablist" aria-label="Limits" className="rla-tabs">
      {names.map((name, index) => (
        <button
          key={name}
          type="button"
          role="tab"
          // A name may have spaces, and an id may not.
          id={`${id}-${index}`}
          aria-selected={name === chosen}
          aria-controls={`${id}-panel`}
          tabIndex={name === chosen ? 0 : -1}
          className="rla-tab"
          onClick={() => onChoose(name)}
          onKeyDown={onKeyDown}
        >
          <span translate="no">{name}</span>
          <Count text={counts?.[name]} />
        </button>
      ))}
    </div>
  );
}

/** @returns the list that shows the chosen tab. In a narrow page, the tabs are a row that scrolls. */
function useShown(chosen: string): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-selected="true"]');
    const { left = 0, right = 0 } = tab?.getBoundingClientRect() ?? {};
    const row = list.current?.getBoundingClientRect();
    if (!row || (left >= row.left && right <= row.right)) return;
    list.current!.scrollLeft += left - row.left - 16;
  }, [chosen]);
  return list;
}

function Count({ text }: { text: string | undefined }) {
  if (text === undefined || text === "0") return null;
  return (
    <span className="rla-count" aria-label={`${text} limited now`} role="img">
      {text}
    </span>
  );
}

/** By name, such as `3` or `99+`. */
function useCounts(onCount: (name: string) => void): Record<string, string> | undefined {
  const { client, limits, interval } = useAdmin();
  const names = limits.limits.map(({ name }) => name);
  const { data } = usePoll(
    JSON.stringify(names),
    async (signal) => {
      const counts = await countAll(client, names, signal);
      onCount(names.find((name) => counts[name] !== "0") ?? names[0]!);
      return { counts };
    },
    Math.max(COUNT_INTERVAL, 5 * interval),
  );
  return data?.counts;
}

async function countAll(
  client: Admin["client"],
  names: readonly string[],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const counts = await Promise.all(
    names.map(async (name): Promise<[string, string]> => {
      const { items, next } = await client.list({ name, denied: true, count: COUNTED }, signal);
      return [name, next === undefined ? String(items.length) : `${items.length}+`];
    }),
  );
  return Object.fromEntries(counts);
}
