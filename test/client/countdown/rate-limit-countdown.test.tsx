// @vitest-environment jsdom
import { act, cleanup, render, renderHook, screen } from "@testing-library/react";
import { createElement } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CountdownContext } from "../../../client/countdown/countdown-context.js";
import { createFakeRateLimits } from "../../../testing/index.js";
import { RateLimitCountdown, useCountdown } from "../../../client/countdown/index.js";
import { RateLimitProvider } from "../../support/page.js";
import { COUNTDOWN, shownCountdown } from "../../support/countdown.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

/** The text of the page's live region now, and each later text. */
function recordAnnouncements(): string[] {
  const [region, ...others] = screen.getAllByRole("status");
  expect(others).toEqual([]);
  expect(region!.getAttribute("aria-live") ?? "polite").toBe("polite");
  const said = [region!.textContent];
  new MutationObserver(() => said.push(region!.textContent)).observe(region!, { childList: true });
  return said;
}

function countDown(retryAt: number | undefined) {
  const seen: number[] = [];
  const { result, ...hook } = renderHook(
    (until: number | undefined) => {
      const seconds = useCountdown(until);
      seen.push(seconds);
      return seconds;
    },
    { initialProps: retryAt },
  );
  return { ...hook, seen, seconds: () => result.current };
}

describe("useCountdown", () => {
  it("shows whole seconds, rounded up, until the very end", async () => {
    const countdown = countDown(Date.now() + 2500);
    expect(countdown.seconds()).toBe(3);
    await pass(499);
    expect(countdown.seconds()).toBe(3);
    await pass(1);
    expect(countdown.seconds()).toBe(2);
    await pass(1000);
    expect(countdown.seconds()).toBe(1);
    await pass(999);
    expect(countdown.seconds()).toBe(1);
    await pass(1);
    expect(countdown.seconds()).toBe(0);
  });

  it("renders once a second, and leaves no timer when it is done", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    const { seen } = countDown(Date.now() + 5000);
    for (let second = 0; second < 5; second++) {
      expect(vi.getTimerCount()).toBe(1);
      await pass(1000);
    }
    expect(seen).toEqual([5, 4, 3, 2, 1, 0]);
    expect(timers.mock.calls.filter(([, ms]) => ms !== 1000)).toEqual([]);
    timers.mockRestore();
    expect(vi.getTimerCount()).toBe(0);
    await pass(60_000);
    expect(seen).toHaveLength(6);
  });

  it.each([
    ["there is nothing to wait for", () => undefined, 0],
    ["the instant has passed", () => Date.now() - 1, 0],
    ["it has just come", () => Date.now(), 0],
    ["it never comes", () => Infinity, Infinity],
  ])("does not tick when %s", async (_, retryAt, seconds) => {
    const { seen } = countDown(retryAt());
    expect(seen).toEqual([seconds]);
    expect(vi.getTimerCount()).toBe(0);
    await pass(5000);
    expect(seen).toEqual([seconds]);
  });

  it("ticks through a wait that is longer than a timer can be", async () => {
    const { seen } = countDown(Date.now() + 100 * 86_400_000);
    await pass(1000);
    await pass(1000);
    expect(seen).toEqual([8_640_000, 8_639_999, 8_639_998]);
  });

  it("follows another instant, sooner or later", async () => {
    const countdown = countDown(Date.now() + 10_000);
    countdown.rerender(Date.now() + 2_000);
    expect(countdown.seconds()).toBe(2);
    await pass(1500);
    expect(countdown.seconds()).toBe(1);
    countdown.rerender(Date.now() + 3_000);
    expect(countdown.seconds()).toBe(3);
    countdown.rerender(undefined);
    expect(countdown.seconds()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("stops when it is unmounted", async () => {
    const countdown = countDown(Date.now() + 10_000);
    await pass(1000);
    countdown.unmount();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is right again after the machine has slept", async () => {
    const countdown = countDown(Date.now() + 10_000);
    // Timers stand still in sleep; the clock does not.
    vi.setSystemTime(Date.now() + 8_000);
    await pass(1000);
    expect(countdown.seconds()).toBe(1);
    await pass(1000);
    expect(countdown.seconds()).toBe(0);
  });

  it("does not extend the wait because the machine's clock was put back", async () => {
    const countdown = countDown(Date.now() + 10_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    await pass(1100);
    expect(countdown.seconds()).toBe(9);
    await pass(9000);
    expect(countdown.seconds()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("RateLimitCountdown", () => {
  it.each([
    [1, "1s"],
    [5_000, "5s"],
    [59_001, "1m 0s"],
    [125_000, "2m 5s"],
    [3_599_000, "59m 59s"],
    [3_720_000, "1h 2m"],
    [43_199_000, "11h 59m"],
    [Infinity, "never"],
  ])("shows a wait of %d ms as %s", (wait, text) => {
    render(<RateLimitCountdown retryAt={Date.now() + wait} />);
    expect(shownCountdown().textContent).toBe(text);
  });

  it("shows a longer wait by the clock, and announces it so, until it is short", async () => {
    vi.stubEnv("TZ", "UTC");
    vi.setSystemTime(Date.UTC(2030, 5, 16, 12));
    const retryAt = Date.UTC(2030, 5, 18, 9);
    render(<RateLimitCountdown retryAt={retryAt} locale="en-GB" />);
    const said = recordAnnouncements();
    expect(shownCountdown().textContent).toBe("at 09:00 on Tuesday");
    expect(said).toEqual(["Wait until 09:00 on Tuesday"]);
    vi.setSystemTime(Date.UTC(2030, 5, 18, 0, 0, 5));
    await pass(1000);
    expect(shownCountdown().textContent).toBe("8h 59m");
    expect(said).toEqual(["Wait until 09:00 on Tuesday"]);
  });

  it("gives its text to a function, which can put more around it", () => {
    render(
      <RateLimitCountdown retryAt={Date.now() + 125_000}>
        {(seconds, text) => `${seconds}: wait ${text}`}
      </RateLimitCountdown>,
    );
    expect(shownCountdown().textContent).toBe("125: wait 2m 5s");
  });

  it("has the language of the provider, and its own before that", async () => {
    const observer = createFakeRateLimits();
    const german = { in: (time: string) => `noch ${time}`, announceIn: () => "Bitte warten" };
    const end = Date.now() + 5_000;
    render(
      <RateLimitProvider observer={observer} locale="de" labels={german}>
        <RateLimitCountdown retryAt={end} />
        <RateLimitCountdown retryAt={end} labels={{ in: (time) => `(${time})` }} locale="en" />
      </RateLimitProvider>,
    );
    expect([...document.querySelectorAll(COUNTDOWN)].map(({ textContent }) => textContent)).toEqual(
      ["noch 5 Sek.", "(5s)"],
    );
    expect(screen.getByRole("status").textContent).toBe("Bitte warten");
  });

  it.each([
    ["there is nothing to wait for", () => undefined],
    ["the wait is over", () => Date.now()],
  ])("shows nothing when %s", (_, retryAt) => {
    const { container } = render(<RateLimitCountdown retryAt={retryAt()} className="badge" />);
    expect(document.querySelector(COUNTDOWN)).toBeNull();
    expect(container.innerHTML).toBe('<span hidden=""></span>');
  });

  it("disappears at the end of the wait", async () => {
    const { container } = render(<RateLimitCountdown retryAt={Date.now() + 1_200} />);
    const texts = [container.textContent];
    for (const ms of [200, 999, 1]) {
      await pass(ms);
      texts.push(container.textContent);
    }
    expect(texts).toEqual(["2s", "1s", "1s", ""]);
    expect(document.querySelector(COUNTDOWN)).toBeNull();
  });

  it("has a class and a state for the application's styles while the wait lasts", () => {
    render(<RateLimitCountdown retryAt={Date.now() + 2_000} className="badge" />);
    expect(shownCountdown().className).toBe("badge");
    expect(shownCountdown().dataset["state"]).toBe("waiting");
  });

  it("shows what its children return", async () => {
    render(
      <RateLimitCountdown retryAt={Date.now() + 2_000}>
        {(seconds) => <b>again in {seconds}</b>}
      </RateLimitCountdown>,
    );
    expect(shownCountdown().innerHTML).toBe("<b>again in 2</b>");
    await pass(1000);
    expect(shownCountdown().innerHTML).toBe("<b>again in 1</b>");
    await pass(1000);
    expect(document.querySelector(COUNTDOWN)).toBeNull();
  });

  it("announces the start and the end of the wait, and nothing between", async () => {
    const { container, rerender } = render(<RateLimitCountdown retryAt={Date.now() + 3_000} />);
    expect(shownCountdown().getAttribute("aria-live")).toBe("off");
    const said = recordAnnouncements();
    expect(said).toEqual(["Wait 3 seconds"]);
    await pass(1000);
    // Corrected by a little, as an observer does: it is still the same wait.
    rerender(<RateLimitCountdown retryAt={Date.now() + 1_990} />);
    await pass(1000);
    expect(said).toEqual(["Wait 3 seconds"]);
    await pass(1000);
    expect(container.textContent).toBe("");
    expect(said).toEqual(["Wait 3 seconds", "You can go on"]);
    rerender(<RateLimitCountdown retryAt={Date.now() + 125_000} />);
    await pass(0);
    expect(said.at(-1)).toBe("Wait 3 minutes");
  });

  it("announces the end on unmount if the wait is over, and only then", async () => {
    const end = Date.now() + 3_000;
    const early = render(<RateLimitCountdown retryAt={end} />);
    const said = recordAnnouncements();
    early.unmount();
    await pass(0);
    expect(said.at(-1)).toBe("");
    const timely = render(<RateLimitCountdown retryAt={end} />);
    vi.setSystemTime(end);
    timely.unmount();
    await pass(0);
    expect(said.at(-1)).toBe("You can go on");
  });

  it("announces the end when the wait ends early, or by the monotonic clock", async () => {
    const { rerender } = render(<RateLimitCountdown retryAt={Date.now() + 60_000} />);
    const said = recordAnnouncements();
    rerender(<RateLimitCountdown retryAt={undefined} />);
    await pass(0);
    expect(said).toEqual(["Wait 1 minute", "You can go on"]);
    rerender(<RateLimitCountdown retryAt={Date.now() + 2_000} />);
    await pass(0);
    vi.setSystemTime(Date.now() - 3_600_000);
    await pass(2_100);
    expect(said.slice(2)).toEqual(["Wait 2 seconds", "You can go on"]);
  });

  it("is not silenced by the provider around it", () => {
    render(
      <RateLimitProvider observer={createFakeRateLimits()}>
        <RateLimitCountdown retryAt={Date.now() + 3_000} />
      </RateLimitProvider>,
    );
    expect(screen.getByRole("status").textContent).toBe("Wait 3 seconds");
  });

  it.each([
    [60_000, "Wait 1 minute"],
    [3_600_000, "Wait 1 hour"],
    [3_601_000, "Wait 2 hours"],
    [39_600_000, "Wait 11 hours"],
    [1_000, "Wait 1 second"],
    [Infinity, "You cannot go on"],
  ])("announces a wait of %d ms in its largest unit", (wait, text) => {
    render(<RateLimitCountdown retryAt={Date.now() + wait} />);
    expect(screen.getByRole("status").textContent).toBe(text);
  });

  it("announces what it is given, or nothing", async () => {
    const announcement = (seconds: number) => (seconds > 0 ? `noch ${seconds}` : "");
    render(<RateLimitCountdown retryAt={Date.now() + 1_000} announcement={announcement} />);
    const said = recordAnnouncements();
    await pass(1000);
    expect(said).toEqual(["noch 1", ""]);
  });

  it("takes over what a server has rendered, by other words of Intl, too", async () => {
    const retryAt = Date.now() + 5_000;
    const rendered = { seconds: new Map([[retryAt, 6]]) };
    const countdown = <RateLimitCountdown retryAt={retryAt} />;
    const page = createElement(CountdownContext.Provider, { value: rendered }, countdown);
    const container = document.body.appendChild(document.createElement("div"));
    const html = renderToString(page);
    expect(html).toContain(">6s<");
    container.innerHTML = html.replace("6s", "6 sec");
    const errors = vi.spyOn(console, "error");
    const onRecoverableError = vi.fn();
    const root = await act(() => hydrateRoot(container, page, { onRecoverableError }));
    expect(shownCountdown().textContent).toBe("5s");
    expect(errors).not.toHaveBeenCalled();
    expect(onRecoverableError).not.toHaveBeenCalled();
    act(() => root.unmount());
    container.remove();
  });

  it("renders nothing around it when it ticks", async () => {
    let renders = 0;
    function Around() {
      renders++;
      return <RateLimitCountdown retryAt={end} />;
    }
    const end = Date.now() + 3_000;
    render(<Around />);
    await pass(3_000);
    expect(renders).toBe(1);
  });
});
