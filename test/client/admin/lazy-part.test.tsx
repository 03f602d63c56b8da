// @vitest-environment jsdom
/** Parts of a page whose code comes later, or does not come. */
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useLayoutEffect } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { lazyPart } from "../../../client/admin/lazy-part.js";

afterEach(cleanup);

function Hello({ to }: { to: string }) {
  return <p>{`Hello ${to}`}</p>;
}

it("shows a part when its code is there, and at once the next time", async () => {
  const load = vi.fn(() => Promise.resolve(Hello));
  const Part = lazyPart(load);
  const { unmount } = render(<Part to="ann" />);
  screen.getByText("Loading this part…");
  await screen.findByText("Hello ann");
  unmount();
  render(<Part to="bob" />);
  screen.getByText("Hello bob");
  expect(load).toHaveBeenCalledOnce();
});

it("says that code does not come, and asks again at a press", async () => {
  const load = vi.fn(() => Promise.resolve(Hello));
  load.mockRejectedValueOnce(new TypeError("Failed to fetch dynamically imported module"));
  const Part = lazyPart(load);
  render(<Part to="ann" />);
  expect((await screen.findByRole("alert")).textContent).toMatch(/could not be loaded/);
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByText("Hello ann");
});

it("can be loaded ahead, and a failure ahead is tried again when the part is shown", async () => {
  const load = vi.fn(() => Promise.resolve(Hello));
  load.mockRejectedValueOnce(new TypeError("offline"));
  const Part = lazyPart(load);
  await Part.preload();
  render(<Part to="ann" />);
  await screen.findByText("Hello ann");
});

it("shows a part whose code comes between its first look and its first effect", async () => {
  let bring: (part: typeof Hello) => void;
  const loading = new Promise<typeof Hello>((resolve) => (bring = resolve));
  const Part = lazyPart(() => loading);
  const ahead = Part.preload();
  function Bring() {
    useLayoutEffect(() => bring(Hello), []);
    return null;
  }
  const host = document.createElement("div");
  document.body.append(host);
  const root = createRoot(host);
  onTestFinished(() => {
    root.unmount();
    host.remove();
  });
  // As in a browser: effects run in a task of their own.
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", false);
  root.render([<Bring key="bring" />, <Part key="part" to="ann" />]);
  await ahead;
  await vi.waitFor(() => expect(host.textContent).toBe("Hello ann"));
});
