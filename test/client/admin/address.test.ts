// @vitest-environment jsdom
/** The address of the page, which the control room shares with the application and its router. */
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createAddress } from "../../../client/admin/address.js";

beforeEach(() => history.replaceState(null, "", "/admin"));

function open(isInAddress = true) {
  const address = createAddress(isInAddress);
  const onChange = vi.fn();
  const leave = address.subscribe(onChange);
  onTestFinished(leave);
  return { address, onChange, leave };
}
const shown = () => location.pathname + location.search + location.hash;

describe("what a room writes", () => {
  it("stands beside the application's parameters, which keep their form", () => {
    history.replaceState(null, "", "/admin?q=a%20b&flag&rla-view=who#top");
    const { address } = open();
    expect(address.read()).toBe("rla-view=who");
    address.write("rla-view=limits&rla-tab=all", true);
    expect(shown()).toBe("/admin?q=a%20b&flag&rla-view=limits&rla-tab=all#top");
    address.write("", false);
    expect(shown()).toBe("/admin?q=a%20b&flag#top");
    expect(address.hrefOf("rla-view=who")).toBe(
      `${location.origin}/admin?q=a%20b&flag&rla-view=who#top`,
    );
  });

  it("follows the route where the fragment is one, and the place where it is a place in the page", () => {
    history.replaceState(null, "", "/?q=1&rla-view=no#/admin?x=1");
    const { address } = open();
    expect(address.read()).toBe("");
    address.write("rla-view=who", true);
    expect(shown()).toBe("/?q=1&rla-view=no#/admin?x=1&rla-view=who");
    expect(address.read()).toBe("rla-view=who");
    address.write("", true);
    expect(shown()).toBe("/?q=1&rla-view=no#/admin?x=1");

    const section = document.createElement("section");
    section.id = "limits";
    document.body.append(section);
    onTestFinished(() => section.remove());
    history.replaceState(null, "", "/admin#limits");
    address.write("rla-view=who", true);
    expect(shown()).toBe("/admin?rla-view=who#limits");
  });

  it("is a step of the history or none, and an address that is there already is none", () => {
    const { address, onChange } = open();
    const before = history.length;
    address.write("rla-view=who", false);
    expect(history.length).toBe(before);
    address.write("rla-view=limits", true);
    expect(history.length).toBe(before + 1);
    address.write("rla-view=limits", true);
    expect(history.length).toBe(before + 1);
    expect(onChange).toHaveBeenCalledTimes(3);
  });

  it.each([
    ["React Router", { usr: { a: 1 }, key: "k", idx: 3 }, { usr: { a: 1 }, key: "k", idx: 3 }],
    ["TanStack Router", { __TSR_index: 2, key: "k" }, { __TSR_index: 2, key: "k" }],
    // Next marks its own calls, and marks those of others itself.
    ["Next's app router", { __NA: true, tree: 1 }, { tree: 1 }],
    // Next goes back to the address of the state.
    [
      "Next's pages router",
      { __N: true, url: "/[team]", as: "/admin", key: "k" },
      { __N: true, url: "/[team]", as: "/admin?rla-view=who", key: "k" },
    ],
    ["no router", null, {}],
  ])("has the state that %s needs", (_, state, expected) => {
    history.replaceState(state, "", "/admin");
    open().address.write("rla-view=who", true);
    expect(history.state).toEqual(expected);
  });

  it("is kept in memory where the browser refuses", () => {
    const { address } = open();
    const push = vi.spyOn(history, "pushState").mockImplementation(() => {
      throw new DOMException("too many", "SecurityError");
    });
    address.write("rla-view=who", true);
    expect(push).toHaveBeenCalledOnce();
    expect(address.read()).toBe("rla-view=who");
    expect(shown()).toBe("/admin");
    expect(address.hrefOf("rla-view=limits")).toBeUndefined();
    push.mockRestore();
  });

  it("never reaches the address where the application does not want it", () => {
    history.replaceState(null, "", "/admin?rla-view=who");
    const { address, onChange } = open(false);
    expect(address.read()).toBe("");
    address.write("rla-view=limits", true);
    expect(address.read()).toBe("rla-view=limits");
    expect(shown()).toBe("/admin?rla-view=who");
    expect(onChange).toHaveBeenCalledOnce();
  });
});

describe("a room", () => {
  it("hears when the visitor goes back", async () => {
    const { address, onChange } = open();
    address.write("rla-view=who", true);
    onChange.mockClear();
    history.back();
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled());
    expect(address.read()).toBe("");
  });

  it("that is left takes its parameters along, and one that comes again at once does not", async () => {
    history.replaceState({ idx: 1 }, "", "/admin?a=1&rla-key=typed:ann#top");
    const { address, leave } = open();
    leave();
    const again = address.subscribe(() => {});
    await Promise.resolve();
    expect(address.read()).toBe("rla-key=typed:ann");
    again();
    await Promise.resolve();
    expect(shown()).toBe("/admin?a=1#top");
    expect(history.state).toEqual({ idx: 1 });
  });
});
