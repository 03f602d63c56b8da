// @vitest-environment jsdom
/** The short version of each part of the example: what one would write without its decoration. */
import { readdirSync, readFileSync } from "node:fs";
import { fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as behind from "../../example-app/behind/minimal.js";
import * as chat from "../../example-app/chat/minimal.js";
import * as logIn from "../../example-app/log-in/minimal.js";
import * as model from "../../example-app/model/minimal.js";
import { overviewLimits } from "../../example-app/overview/limits.js";
import { SendButton } from "../../example-app/overview/send-button.js";
import { overviewRouter } from "../../example-app/overview/server.js";
import * as playground from "../../example-app/playground/minimal.js";
import * as signUps from "../../example-app/sign-ups/minimal.js";
import { mountMinimal } from "../support/minimal.js";
import { translatePage } from "../support/translate.js";
import { shownCountdown } from "../support/countdown.js";

/** Vitest starts in the root of the repository. */
const EXAMPLE = "example-app";
const button = () => screen.getByRole<HTMLButtonElement>("button");
const press = (name?: string) =>
  fireEvent.click(name === undefined ? button() : screen.getByRole("button", { name }));

describe("the code of each part", () => {
  const parts = readdirSync(EXAMPLE, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("minimal.tsx"))
    .map((file) => ({ file, text: readFileSync(`${EXAMPLE}/${file}`, "utf8") }));

  it("is there for every part that has a limit to show", () => {
    const folders = parts.map(({ file }) => file.split("/")[0]);
    expect(folders).toEqual(
      expect.arrayContaining(["behind", "chat", "log-in", "model", "playground", "sign-ups"]),
    );
  });

  it.each(parts)("has its three sections in at most 50 lines: $file", ({ text }) => {
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(50);
    const sections = [...text.matchAll(/^\/\/ (The (?:limit|procedure|component))\b/gm)];
    expect(sections.map(([, section]) => section)).toEqual([
      "The limit",
      "The procedure",
      "The component",
    ]);
  });
});

describe.each(["as it is", "translated by the browser"])("on a page, %s,", (page) => {
  let stop = () => {};
  beforeEach(() => {
    if (page !== "as it is") stop = translatePage();
  });
  afterEach(() => stop());

  describe("the overview", () => {
    it("sends until its limit is empty, and then waits", async () => {
      await mountMinimal({
        part: "overview",
        limits: overviewLimits,
        procedures: (app) => ({ send: overviewRouter(app).send }),
        component: <SendButton />,
      });
      await vi.waitFor(() =>
        expect(screen.getByRole("meter").getAttribute("aria-valuetext")).toBe("5 of 5"),
      );
      for (let i = 0; i < 5; i++) press();
      await vi.waitFor(() => expect(button().textContent).toMatch(/^Wait [12]s/));
      expect(button().getAttribute("aria-disabled")).toBe("true");
      // By itself, two seconds later.
      await vi.waitFor(() => expect(button().textContent).toBe("Send"), { timeout: 4000 });
    });
  });

  describe("the chat", () => {
    it("sends three messages at once, and holds the fourth until its turn", async () => {
      const messages: { visitor: string; text: string }[] = [];
      const create = async ({ data }: { data: (typeof messages)[0] }) => messages.push(data);
      await mountMinimal({
        part: "chat",
        limits: chat.limits,
        prisma: { message: { create } },
        procedures: (app) => ({ send: chat.sendMessage(app) }),
        component: <chat.SendMessage />,
      });
      for (const text of ["one", "two", "three", "four"]) {
        fireEvent.change(screen.getByLabelText("Message"), { target: { value: text } });
        press("Send");
      }
      await screen.findByText(/^1 waiting, the next for/);
      expect(shownCountdown().textContent).toMatch(/^[56]s$/);
      await vi.waitFor(() => expect(messages).toHaveLength(3));
      expect(messages[2]).toMatchObject({ visitor: "ann", text: "three" });
    });
  });

  describe("the log-in", () => {
    const mount = () =>
      mountMinimal({
        part: "logIn",
        limits: logIn.limits,
        procedures: (app) => ({ attempt: logIn.attempt(app) }),
        component: <logIn.LogIn />,
      });
    const tryPassword = (password: string) => {
      fireEvent.change(screen.getByLabelText("Password"), { target: { value: password } });
      press();
    };

    it("takes an attempt for each wrong password, and closes when none is left", async () => {
      await mount();
      await screen.findByText(/^5 attempts left/);
      for (let left = 4; left >= 0; left--) {
        tryPassword("wrong");
        await screen.findByText(new RegExp(`^${left} attempts left`));
      }
      // The page counts a call down when it is sent, and may know the wait a moment later.
      await vi.waitFor(() => expect(button().disabled).toBe(true));
      expect((await vi.waitFor(() => shownCountdown())).textContent).toMatch(/^\d+s$/);
    });

    it("forgets the failures after the right password", async () => {
      const { limiter } = await mount();
      await screen.findByText(/^5 attempts left/);
      tryPassword("wrong");
      await screen.findByText(/^4 attempts left/);
      tryPassword("open sesame");
      await screen.findByText(/^Welcome\./);
      expect((await limiter.getValue("logIn", { key: "demo:ann" })).value).toBe(5);
    });
  });

  describe("the model", () => {
    it("takes the estimate, says that the next would queue, and gives back the rest", async () => {
      const { limiter } = await mountMinimal({
        part: "model",
        limits: model.limits,
        procedures: (app) => ({ ask: model.ask(app) }),
        component: <model.Ask prompt={{ text: "hello", length: 1000 }} />,
      });
      await screen.findByText(/1200 tokens left/);
      press("Ask");
      // It took 1,001, and the next one needs as many.
      await vi.waitFor(() => expect(button().textContent).toMatch(/^Queue for \d\d s$/));
      expect((await limiter.getValue("llmTokens", { key: "ann" })).value).toBeLessThan(300);
      await screen.findByText(/ hello/);
      await vi.waitFor(() => expect(button().textContent).toBe("Ask"), { timeout: 10_000 });
      expect((await limiter.getValue("llmTokens", { key: "ann" })).value).toBeGreaterThan(1100);
    });
  });

  describe("the sign-ups", () => {
    it("counts those of all visitors, and closes until the next window", async () => {
      const accounts: object[] = [];
      const create = async ({ data }: { data: object }) => accounts.push(data);
      const { limiter } = await mountMinimal({
        part: "signUps",
        // A window of which nearly all is left.
        limits: { signUp: { ...signUps.limits.signUp, start: Date.now() - 1000 } },
        prisma: { signUp: { create } },
        procedures: (app) => ({ create: signUps.create(app) }),
        component: <signUps.SignUp name="ann" />,
      });
      await screen.findByText(/^100 of 100 accounts left/);
      press();
      await screen.findByText(/^99 of 100 accounts left/);
      // The page counts before the server answers.
      await vi.waitFor(() => expect(accounts).toEqual([{ name: "ann" }]));
      // All others take the rest.
      await limiter.limit("signUp", { count: 99 });
      await screen.findByText(/The next window starts in/);
      expect(button().disabled).toBe(true);
    });
  });

  describe("the playground", () => {
    it("takes as many tokens as are wanted, and waits for those that are not there", async () => {
      await mountMinimal({
        part: "playground",
        limits: playground.limits,
        procedures: (app) => ({ take: playground.takeTokens(app) }),
        component: <playground.Take />,
      });
      const want = (count: string) =>
        fireEvent.change(screen.getByLabelText("Tokens"), { target: { value: count } });
      await screen.findByText(/^10 of 10 tokens left/);
      want("7");
      press();
      await screen.findByText(/^3 of 10 tokens left/);
      expect(button().disabled).toBe(true);
      // Four tokens, one in two seconds.
      expect(shownCountdown().textContent).toMatch(/^[78]s$/);
      want("3");
      expect(button().disabled).toBe(false);
    });
  });

  describe("what is behind it", () => {
    it("shows the rows of a limit, and whose they are", async () => {
      const { limiter } = await mountMinimal({
        part: "behind",
        procedures: (app) => ({ rows: behind.readRows(app) }),
        component: <behind.Rows />,
      });
      await limiter.limit("sendMessage", { key: "ann" });
      await limiter.limit("sendMessage", { key: "bob", count: 3 });
      await screen.findByText(/^sendMessage of you: 2 left$/, {}, { timeout: 5000 });
      await screen.findByText(/^sendMessage of another visitor: 0 left$/);
    });
  });
});
