/** Pages of a list that changes while an operator scrolls through it. */
import { describe, expect, it } from "vitest";
import type { AdminItem, AdminPage } from "../../../client/admin/admin-types.js";
import {
  type LimitedPages,
  NO_PAGES,
  startOf,
  withItem,
  withPage,
} from "../../../client/admin/limited-pages.js";

const config = { kind: "token bucket", rate: 1, period: 1000 } as const;
const item = (key: string, value = 0): AdminItem => ({ key, value, ts: 0, config, now: 0 });
const page = (keys: string, next?: string, now = 0): AdminPage => ({
  now,
  items: [...keys].map((key) => item(key)),
  next,
});
const keysOf = ({ items }: LimitedPages) => items.map(({ key }) => key).join("");

/** Two full pages and a third one, read from the top. */
function threePages(): LimitedPages {
  const pages = [page("abc", "c"), page("def", "f"), page("g")];
  return pages.reduce((before, each, index) => withPage(before, index, each), NO_PAGES);
}

describe("pages that are read one after the other", () => {
  it("are one list, with where the next one begins", () => {
    const pages = threePages();
    expect(keysOf(pages)).toBe("abcdefg");
    expect(pages.pageOf).toEqual([0, 0, 0, 1, 1, 1, 2]);
    expect(pages.next).toBeUndefined();
    expect([0, 1, 2].map((index) => startOf(pages, index))).toEqual([undefined, "c", "f"]);
  });

  it("have each key once, when a new key pushes others to the next page", () => {
    const first = withPage(threePages(), 0, page("aAb", "b", 1));
    // `c` is on neither page until the second one is read again, from where the first one ends now.
    expect(keysOf(first)).toBe("aAbdefg");
    expect(startOf(first, 1)).toBe("b");
    expect(keysOf(withPage(first, 1, page("cde", "e", 1)))).toBe("aAbcdeg");
    // The other way round, a key that has moved up is not shown twice.
    expect(keysOf(withPage(threePages(), 0, page("acd", "d", 1)))).toBe("acdefg");
  });

  it("end where the server says so", () => {
    const shorter = withPage(threePages(), 0, page("ab", undefined, 1));
    expect(keysOf(shorter)).toBe("ab");
    expect(shorter.pages).toHaveLength(1);
  });

  it("stand in the order of people where all are on one page, and banned keys before them", () => {
    const banned = {
      ...item("c 3"),
      override: { blocked: true as const, name: "send", key: "c 3", setAt: 0 },
    };
    const items = [item("c 1"), item("c 10"), item("c 2"), banned];
    const one = withPage(NO_PAGES, 0, { now: 0, items });
    expect(one.items.map(({ key }) => key)).toEqual(["c 3", "c 1", "c 2", "c 10"]);
    const first = withPage(NO_PAGES, 0, { now: 0, items, next: "x" });
    expect(first.items).toEqual(items);
  });

  it("may be without a key and still go on", () => {
    const pages = withPage(NO_PAGES, 0, page("", "z"));
    expect(pages.items).toEqual([]);
    expect(pages.next).toBe("z");
  });
});

describe("what an action has answered", () => {
  it("is in its row at once, and an answer to an older question does not undo it", () => {
    const acted = withItem(threePages(), item("b", 3), 5);
    expect(acted.items[1]).toMatchObject({ key: "b", value: 3 });
    expect(withPage(acted, 0, page("abc", "c", 4)).items[1]).toMatchObject({ value: 3 });
    expect(withPage(acted, 0, page("ac", "c", 6)).items[1]).toMatchObject({ key: "c" });
  });

  it("changes nothing where its key is not shown", () => {
    expect(keysOf(withItem(threePages(), item("x"), 5))).toBe("abcdefg");
  });
});
