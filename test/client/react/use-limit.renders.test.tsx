// @vitest-environment jsdom
import { act, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import {
  Connection,
  RateLimitProvider,
  startPage,
  textOf,
  useRateLimit,
} from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

describe.concurrent("a component with useRateLimit", () => {
  it("does not render for refills when it does not read the value", async () => {
    let [readers, others] = [0, 0];
    function Reader() {
      readers++;
      return <p data-testid="reader">{useRateLimit("quick").value}</p>;
    }
    function Other() {
      others++;
      return <p data-testid="other">{String(useRateLimit("quick").status?.ok)}</p>;
    }
    await using page = await startPage();
    page.render([
      <Reader key="reader" />,
      <Other key="other" />,
      <Connection key="c" id="a connection" />,
    ]);
    await soon(() => expect(textOf("a connection")).toBe("live"));
    await soon(() => expect(textOf("reader")).toBe("10"));
    await settled(() => readers + others);
    expect(textOf("other")).toBe("true");

    [readers, others] = [0, 0];
    await page.limiter.limit("quick", { count: 9 });
    await soon(() => expect(Number(textOf("reader"))).toBeLessThan(10));
    await soon(() => expect(textOf("reader")).toBe("10"));
    expect(readers).toBeGreaterThanOrEqual(2);
    expect(others).toBe(0);
    // It does when the answer changes.
    await page.limiter.limit("quick", { count: 1000, reserve: true });
    await soon(() => expect(textOf("other")).toBe("false"));
    expect(others).toBe(1);
  });

  it("shows the current value when it starts to read it later, and follows it", async () => {
    function Late() {
      const limit = useRateLimit("quick");
      const [reading, setReading] = useState(false);
      return (
        <button onClick={() => setReading(true)} data-testid="late">
          {reading ? limit.value : `${limit.status?.ok}`}
        </button>
      );
    }
    await using page = await startPage();
    page.render([<Late key="late" />, <Connection key="b" id="late connection" />]);
    await soon(() => expect(textOf("late connection")).toBe("live"));
    await page.limiter.limit("quick", { count: 10 });
    const snapshot = [["rateLimit", "status"], { input: { name: "quick" }, type: "query" }];
    await soon(() => expect(page.queryClient.getQueryData(snapshot)).toMatchObject({ value: 0 }));
    await new Promise((resolve) => setTimeout(resolve, 400));
    fireEvent.click(screen.getByTestId("late"));
    expect(Number(textOf("late"))).toBeGreaterThanOrEqual(3);
    await soon(() => expect(textOf("late")).toBe("10"));
  });

  it("gets the same object until something in it changes", async () => {
    const results = new Set<object>();
    let renders = 0;
    function Probe() {
      const limit = useRateLimit("hourly");
      const [, setTimes] = useState(0);
      results.add(limit);
      renders++;
      return (
        <button data-testid="probe" onClick={() => setTimes((times) => times + 1)}>
          {`${limit.connection} ${limit.status?.ok}`}
        </button>
      );
    }
    await using page = await startPage();
    page.render(<Probe />);
    await soon(() => expect(textOf("probe")).toBe("live true"));
    await settled(() => renders);
    results.clear();
    renders = 0;
    fireEvent.click(screen.getByTestId("probe"));
    fireEvent.click(screen.getByTestId("probe"));
    expect(renders).toBe(2);
    expect(results.size).toBe(1);
    await page.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(textOf("probe")).toBe("live false"));
    expect(results.size).toBe(2);
  });
});

it("renders nothing on a page of 200 hooks while nothing changes, and one when one does", async () => {
  let renders = 0;
  function Row({ limitKey }: { limitKey: string | undefined }) {
    renders++;
    const { status, value } = useRateLimit("hourly", { key: limitKey });
    return <p data-testid={limitKey}>{status ? `${status.ok} ${value}` : "unknown"}</p>;
  }
  await using page = await startPage();
  await page.limiter.limit("hourly", { key: "row7", count: 3 });
  // The last fifty follow one limit, the others one each.
  const rows = Array.from({ length: 200 }, (_, i) => `row${i}`);
  page.render([
    ...rows.map((row, i) => <Row key={row} limitKey={i < 150 ? row : undefined} />),
    <Connection key="connection" id="connection" />,
  ]);
  await soon(() => expect(textOf("connection")).toBe("live"));
  await soon(() => expect(screen.queryAllByText("unknown")).toEqual([]));
  expect(screen.queryAllByText("true 3")).toHaveLength(199);
  expect(textOf("row7")).toBe("false 0");
  await settled(() => renders + page.server.requests());

  renders = 0;
  const requests = page.server.requests();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(renders).toBe(0);
  expect(page.server.requests()).toBe(requests);

  await page.limiter.limit("hourly", { key: "row149" });
  await soon(() => expect(textOf("row149")).toBe("true 2"));
  expect(renders).toBe(1);
});

it("needs one timer for a page of 1,000 hooks that wait, and renders nothing in ten seconds", async () => {
  let renders = 0;
  function Row({ limitKey }: { limitKey: string }) {
    renders++;
    const { status, value } = useRateLimit("hourly", { key: limitKey });
    return <p>{status ? `${status.ok} ${value}` : "unknown"}</p>;
  }
  await using page = await startPage();
  const observer = page.observer();
  const keys = Array.from({ length: 100 }, (_, i) => `key${i}`);
  const { unmount } = render(
    <RateLimitProvider observer={observer}>
      {Array.from({ length: 1000 }, (_, i) => (
        <Row key={i} limitKey={keys[i % keys.length]!} />
      ))}
    </RateLimitProvider>,
  );
  await soon(() => expect(screen.queryAllByText("true 3")).toHaveLength(1000));
  await soon(() => expect(observer.connection).toBe("live"));
  await settled(() => renders + page.server.requests());
  const snapshot = await page.client.rateLimit.status.query({ name: "hourly" });
  // From here on the test controls both clocks. If the monotonic clock ran on, rendering for a
  // quarter of a second would count as a step of the other clock.
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "Date", "performance"],
  });
  try {
    // A snapshot from the future would move the clock, so it is from now at most.
    const { now } = snapshot;
    renders = 0;
    act(() => {
      for (const key of keys) observer.receive({ ...snapshot, key, value: 0, ts: now, now });
    });
    expect(screen.queryAllByText("false 0")).toHaveLength(1000);
    expect(renders).toBe(1000);
    expect(vi.getTimerCount()).toBe(1);
    renders = 0;
    act(() => {
      vi.advanceTimersByTime(10_000);
    });
    expect(renders).toBe(0);
  } finally {
    vi.useRealTimers();
  }
  unmount();
});
