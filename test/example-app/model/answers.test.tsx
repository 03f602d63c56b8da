// @vitest-environment jsdom
import { fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, describe, expect, it } from "vitest";
import { Answers } from "../../../example-app/model/answers.js";
import type { AskedPrompt, PromptState } from "../../../example-app/model/use-prompts.js";
import { createTRPC } from "../../../example-app/shared/server/trpc.js";
import { openExampleDatabase } from "../../support/example-database.js";
import { mountExample } from "../../support/mount-example.js";

function promptOf(id: number, state: PromptState): AskedPrompt {
  return { id, prompt: { text: `prompt ${id}`, length: 100 }, state, words: [] };
}

/** As the page does it: a prompt that is asked again is another one, at the end. */
function Page() {
  const [prompts, setPrompts] = useState([
    promptOf(1, { kind: "denied" }),
    promptOf(2, { kind: "running" }),
  ]);
  return (
    <>
      <Answers
        prompts={prompts}
        news={undefined}
        isFull={false}
        onStop={() => {}}
        onAskAgain={({ id }) =>
          setPrompts((all) => [
            ...all.filter((asked) => asked.id !== id),
            promptOf(3, { kind: "sent" }),
          ])
        }
      />
      <button
        onClick={() =>
          setPrompts([promptOf(1, { kind: "denied" }), promptOf(2, { kind: "stopped" })])
        }
      >
        End
      </button>
    </>
  );
}

describe("the focus", () => {
  beforeEach(async () => {
    const { prisma } = await openExampleDatabase();
    const { t, rl } = createTRPC(prisma);
    await mountExample(t.router({ rateLimit: rl.router }), "ada", () => <Page />);
  });
  const item = (text: string) => screen.getByText(text, { selector: ".prompt" }).closest("li");

  it("goes with a prompt that is asked again", () => {
    const again = screen.getByRole("button", { name: "Ask again" });
    again.focus();
    fireEvent.click(again);
    expect(document.activeElement).toBe(item("prompt 3"));
  });

  it("stays at a prompt whose answer ends", () => {
    screen.getByRole("button", { name: "Stop: prompt 2" }).focus();
    fireEvent.click(screen.getByText("End"));
    expect(document.activeElement).toBe(item("prompt 2"));
  });
});
