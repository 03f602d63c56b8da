import { describe, expect, it } from "vitest";
import { type Linked, LinkedList } from "../../../server/timers/linked-list.js";

interface Item extends Linked<Item> {
  name: string;
}

function setUp() {
  const list = new LinkedList<Item>();
  const [a, b, c] = ["a", "b", "c"].map((name): Item => {
    const item = { name, before: undefined, after: undefined };
    list.append(item);
    return item;
  }) as [Item, Item, Item];
  const names = () => {
    const found = [];
    for (let item = list.oldest; item !== undefined; item = item.after) found.push(item.name);
    return found.join("");
  };
  return { list, a, b, c, names };
}

describe("LinkedList", () => {
  it.each(["abc", "acb", "bac", "bca", "cab", "cba"])(
    "lets items leave in the order %s, each once, and keeps the order of the others",
    (order) => {
      const { list, names, ...items } = setUp();
      let left = "abc";
      for (const name of order as Iterable<"a" | "b" | "c">) {
        expect(list.has(items[name])).toBe(true);
        expect(list.remove(items[name])).toBe(true);
        expect([list.has(items[name]), list.remove(items[name])]).toEqual([false, false]);
        left = left.replace(name, "");
        expect(names()).toBe(left);
      }
      list.append(items.b);
      list.append(items.a);
      expect(names()).toBe("ba");
    },
  );

  it("leaves no way from an item that has left to those that come later", () => {
    const { list, a, b, names } = setUp();
    list.remove(b);
    expect([b.before, b.after]).toEqual([undefined, undefined]);
    list.remove(a);
    expect([a.before, a.after, names()]).toEqual([undefined, undefined, "c"]);
  });
});
