// @vitest-environment jsdom
import { fireEvent, renderHook, screen, within } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import { RateLimitCountdown, Shown, startPage, textOf, useRateLimit } from "../../support/page.js";
import { soon } from "../../support/soon.js";
import { COUNTDOWN } from "../../support/countdown.js";

const WATCH = "rateLimit.watch";

function Composer({ send }: { send: () => Promise<unknown> }) {
  const { status, value } = useRateLimit("sendMessage");
  if (status === undefined) return <button disabled>Send</button>;
  return (
    <button disabled={!status.ok} onClick={() => void send()}>
      {status.ok ? (
        `Send (${value} left)`
      ) : (
        <>
          Wait <RateLimitCountdown retryAt={status.retryAt} />
        </>
      )}
    </button>
  );
}

/** Every text that the page has shown since, in order and without repetition. */
function recordTexts(container: HTMLElement): string[] {
  const texts: string[] = [];
  new MutationObserver(() => {
    if (texts.at(-1) !== container.textContent) texts.push(container.textContent);
  }).observe(container, { childList: true, characterData: true, subtree: true });
  return texts;
}

describe.concurrent.each([
  ["on a page", {}],
  ["in StrictMode", { strict: true }],
  ["without a QueryClient", { query: false }],
])("useRateLimit %s", (_, options) => {
  it("shows what remains, denies, counts down, and comes back by itself", async () => {
    await using page = await startPage();
    const send = () => page.client.take.mutate({ name: "sendMessage" });
    const { container } = page.render(<Composer send={send} />, options);
    const button = () => within(container).getByRole<HTMLButtonElement>("button");
    expect(container.textContent).toBe("Send");
    const texts = recordTexts(container);
    await soon(() => expect(container.textContent).toBe("Send (3 left)"));
    await soon(() => expect(page.server.open(WATCH)).toBe(1));
    await page.limiter.limit("sendMessage", { count: 2 });
    await soon(() => expect(container.textContent).toBe("Send (1 left)"));

    fireEvent.click(button());
    await soon(() => expect(container.textContent).toMatch(/^Wait [123]s$/));
    expect(button().disabled).toBe(true);
    const requests = page.server.requests();
    await soon(() => expect(container.textContent).toBe("Send (1 left)"));
    expect(button().disabled).toBe(false);
    expect(container.querySelector(COUNTDOWN)).toBeNull();
    expect(page.server.requests()).toBe(requests);

    const waits = texts.filter((text) => /^Wait \d/.test(text));
    // A busy machine may skip a second, and never goes back.
    expect(waits.length).toBeGreaterThan(1);
    expect(waits).toEqual(waits.toSorted().toReversed());
  });
});

describe.concurrent("useRateLimit", () => {
  it("agrees with every other one on the same limit, at every moment", async () => {
    await using page = await startPage();
    function Later() {
      const [shown, setShown] = useState(false);
      if (shown) return <Shown id="third" name="quick" />;
      return <button onClick={() => setShown(true)}>Look</button>;
    }
    const { container } = page.render(
      <>
        <Shown id="first" name="quick" />
        <Shown id="second" name="quick" />
        <Later />
      </>,
    );
    const disagreements: (string | undefined)[][] = [];
    new MutationObserver(() => {
      const texts = ["first", "second", "third"].map(textOf).filter((text) => text !== undefined);
      if (new Set(texts).size > 1) disagreements.push(texts);
    }).observe(container, { childList: true, characterData: true, subtree: true });
    await soon(() => expect(textOf("first")).toBe("ok 10"));
    await soon(() => expect(page.server.open(WATCH)).toBe(1));
    await page.limiter.limit("quick", { count: 13, reserve: true });
    await soon(() => expect(textOf("first")).toMatch(/^ok [1-9]$/));
    // Between two shown refills, a third hook mounts and reads the clock again.
    await new Promise((resolve) => setTimeout(resolve, 400));
    fireEvent.click(screen.getByText("Look"));
    await soon(() => expect(textOf("third")).toMatch(/^ok [1-9]/));
    expect(textOf("first")).toBe(textOf("third"));
    await soon(() => expect(textOf("second")).toBe("ok 10"));
    expect(textOf("first")).toBe("ok 10");
    expect(textOf("third")).toBe("ok 10");
    expect(disagreements).toEqual([]);
    expect(page.server.open(WATCH)).toBe(1);
  });

  it("distinguishes keys and counts", async () => {
    await using page = await startPage();
    page.render(
      <>
        <Shown id="own" />
        <Shown id="ann" limitKey="ann" />
        <Shown id="three" limitKey="ann" count={3} />
        <Shown id="four" limitKey="ann" count={4} />
      </>,
    );
    await soon(() => expect(textOf("ann")).toBe("ok 3"));
    await page.limiter.limit("hourly", { key: "ann" });
    await soon(() => expect(textOf("ann")).toBe("ok 2"));
    await soon(() => expect(textOf("own")).toBe("ok 3"));
    expect(textOf("three")).toBe("wait 2");
    expect(textOf("four")).toBe("wait 2");
  });

  it("follows another key when it gets one", async () => {
    await using page = await startPage();
    await page.limiter.limit("hourly", { key: "bob", count: 3 });
    const { rerender } = page.render(<Shown id="a" limitKey="ann" />);
    await soon(() => expect(textOf("a")).toBe("ok 3"));
    rerender(page.around(<Shown id="a" limitKey="bob" />));
    await soon(() => expect(textOf("a")).toBe("wait 0"));
    rerender(page.around(<Shown id="a" limitKey="ann" count={5} />));
    await soon(() => expect(textOf("a")).toBe("wait 3"));
    await soon(() => expect(page.server.open(WATCH)).toBe(1));
  });

  it("checks other counts and other times", async () => {
    await using page = await startPage();
    const { result, unmount } = renderHook(() => useRateLimit("hourly", { count: 2 }), {
      wrapper: ({ children }) => page.around(children),
    });
    expect(result.current.check()).toBeUndefined();
    await soon(() => expect(result.current.status).toEqual({ ok: true }));
    await page.limiter.limit("hourly", { count: 2 });
    await soon(() => expect(result.current.status?.ok).toBe(false));
    const { retryAt } = result.current.status!;
    expect(result.current.check()?.retryAt).toBe(retryAt);
    expect(result.current.check(undefined, 1)?.retryAt).toBeUndefined();
    expect(result.current.check(retryAt! - 1)?.retryAt).toBe(retryAt);
    expect(result.current.check(retryAt)?.retryAt).toBeUndefined();
    expect(result.current.check(retryAt)!.value).toBeCloseTo(0);
    expect(result.current.config?.capacity).toBe(3);
    expect(result.current.connection).toBe("live");
    unmount();
  });

  it("knows at its first render what an earlier visit has received", async () => {
    await using page = await startPage();
    await page.limiter.limit("hourly", { count: 3 });
    const first: (string | undefined)[] = [];
    function Visit() {
      const { status, value } = useRateLimit("hourly");
      first.push(status && `${status.ok} ${value}`);
      return <p data-testid="visit">{`${status?.ok}`}</p>;
    }
    function Site() {
      const [isHere, setHere] = useState(true);
      return (
        <>
          <button onClick={() => setHere(!isHere)}>Turn</button>
          {isHere && <Visit />}
        </>
      );
    }
    const { container } = page.render(<Site />);
    const turn = () => fireEvent.click(within(container).getByRole("button"));
    await soon(() => expect(textOf("visit")).toBe("false"));
    turn();
    await soon(() => expect(page.server.open(WATCH)).toBe(0));
    first.length = 0;
    turn();
    expect([...new Set(first)]).toEqual(["false 0"]);
  });
});
