// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { createRef, StrictMode } from "react";
import { afterEach, expect, it } from "vitest";
import { PassingButton } from "../../../../example-app/shared/page/passing-button.js";

afterEach(cleanup);

const heir = createRef<HTMLInputElement>();
const Page = ({ isThere }: { isThere: boolean }) => (
  <StrictMode>
    <input ref={heir} />
    <select />
    {isThere && <PassingButton heir={heir}>Stop</PassingButton>}
  </StrictMode>
);

it("leaves the focus to another element when it goes away", () => {
  const { rerender } = render(<Page isThere />);
  screen.getByRole("button").focus();
  rerender(<Page isThere={false} />);
  expect(document.activeElement).toBe(screen.getByRole("textbox"));
});

it("takes no focus from elsewhere", () => {
  const { rerender } = render(<Page isThere />);
  screen.getByRole("combobox").focus();
  rerender(<Page isThere={false} />);
  expect(document.activeElement).toBe(screen.getByRole("combobox"));
});
