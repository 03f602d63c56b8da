/**
 * Keeps the parameters of a control room in the address of the page, or in memory. All other parameters,
 * and the state that the application's router keeps in the history, stay as they are.
 *
 * The parameters are those of the search: `/admin?rla-view=who`. Where the fragment is a route, they follow
 * the route: `/#admin?rla-view=who`. Routers of fragments read them there. Measured and rejected: the search
 * for them, too. Chromium tells no `hashchange` where the search changes as well, so that a step back to
 * another route would show nothing.
 */
import { PREFIX } from "./place.js";

export interface Address {
  subscribe(onChange: () => void): () => void;
  /** The room's own parameters, such as `rla-view=who`. */
  read(): string;
  /** @param isStep whether the browser's back button leads to what was shown before. */
  write(own: string, isStep: boolean): void;
  /** The whole address with other parameters of the room; `undefined` where the address is left alone. */
  hrefOf(own: string): string | undefined;
}

/** The rooms that listen, of all that are on the page. */
let open = 0;

export function createAddress(isInAddress: boolean): Address {
  const listeners = new Set<() => void>();
  /** In place of the address, where the browser or the application does not let the page write it. */
  let memory: string | undefined = isInAddress ? undefined : "";

  function onChange(): void {
    for (const listener of listeners) listener();
  }
  return {
    subscribe(listener) {
      if (listeners.size === 0 && isInAddress) {
        open++;
        for (const event of EVENTS) addEventListener(event, onChange);
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0 || !isInAddress) return;
        for (const event of EVENTS) removeEventListener(event, onChange);
        // The key of a customer must not stay in the address of another page. Wait for a room that is
        // mounted again at once: in strict mode, or with another React key.
        queueMicrotask(() => {
          open--;
          if (open === 0 && ownParameters() !== "") move("", false);
        });
      };
    },
    read: () => memory ?? ownParameters(),
    write(own, isStep) {
      if (memory !== undefined || !move(own, isStep)) memory = own;
      onChange();
    },
    hrefOf: (own) => (memory === undefined ? addressWith(own) : undefined),
  };
}

const EVENTS = ["popstate", "hashchange"] as const;

/** The address, cut at the parameters. Without parameters, `query` is empty. */
function cut(): { before: string; query: string; after: string } {
  const { href, hash, search } = location;
  const [page] = href.split(/[?#]/) as [string];
  if (!isRoute(hash)) return { before: page, query: search.slice(1), after: hash };
  const [route, ...query] = hash.split("?");
  return { before: `${page}${search}${route}`, query: query.join("?"), after: "" };
}

/** Whether a fragment is no place in the page. */
function isRoute(hash: string): boolean {
  return hash !== "" && hash !== "#top" && !document.getElementById(hash.slice(1));
}

const isOwn = (parameter: string) => parameter.startsWith(PREFIX);

function ownParameters(): string {
  return cut().query.split("&").filter(isOwn).join("&");
}

/** Texts, not `URLSearchParams`, which would write the application's parameters in another form. */
function addressWith(own: string): string {
  const { before, query, after } = cut();
  const others = query.split("&").filter((part) => !isOwn(part));
  const parameters = [...others, own].filter((part) => part !== "").join("&");
  return `${before}${parameters === "" ? "" : `?${parameters}`}${after}`;
}

/** @returns whether the browser did it: it refuses in some frames, and after 100 times in 30 s. */
function move(own: string, isStep: boolean): boolean {
  const href = addressWith(own);
  if (href === location.href) return true;
  try {
    history[isStep ? "pushState" : "replaceState"](stateFor(href), "", href);
    return true;
  } catch {
    return false;
  }
}

/**
 * The state of the present entry, for the router that wrote it. Next's app router takes a call with its
 * own mark for its own, and would not learn the address; it adds the mark itself. Next's pages router
 * goes back to the address in its state.
 */
function stateFor(href: string): unknown {
  const { __NA, _N, ...state } = Object(history.state) as Record<string, unknown>;
  return state["__N"] ? { ...state, as: href.slice(location.origin.length) } : state;
}
