// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import { createRef } from "react";
import { afterEach, expect, it } from "vitest";
import { Messages } from "../../../example-app/chat/messages.js";
import type { Outbox } from "../../../example-app/chat/use-outbox.js";

afterEach(cleanup);

const nextAt = Date.now() + 6_000;
const field = createRef<HTMLInputElement>();
const Page = ({ held }: { held: number }) => {
  const outbox = { pending: [], held, nextAt } as Partial<Outbox> as Outbox;
  return (
    <>
      <input ref={field} />
      <Messages messages={[]} outbox={outbox} field={field} onCancel={() => {}} />
    </>
  );
};

it("keeps what counts down out of the log, of which a screen reader says each change", () => {
  render(<Page held={2} />);
  screen.getByText(/^2 waiting, the next in \d s$/);
  expect(within(screen.getByRole("log")).queryByText(/waiting/)).toBeNull();
});

it("leaves the focus to the field when the last held message has gone", () => {
  const { rerender } = render(<Page held={1} />);
  screen.getByRole("button", { name: "Cancel 1 message" }).focus();
  rerender(<Page held={0} />);
  expect(document.activeElement).toBe(screen.getByRole("textbox"));
});
