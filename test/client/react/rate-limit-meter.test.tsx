// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { renderToString } from "react-dom/server";
import { createFakeRateLimits } from "../../../testing/index.js";
import { RateLimitMeter, RateLimitProvider, startPage } from "../../support/page.js";
import { soon } from "../../support/soon.js";

afterEach(cleanup);

const meter = () => screen.getByRole("meter");
const filled = () => meter().querySelector("rect:last-child")!.getAttribute("width")!;

describe("RateLimitMeter", () => {
  it("shows what remains of the capacity, on screen and to a screen reader", async () => {
    await using page = await startPage();
    page.render(<RateLimitMeter name="hourly" label="Messages left" />);
    await soon(() => expect(filled()).toBe("100%"));
    await page.limiter.limit("hourly", { count: 2 });
    await soon(() => expect(meter().getAttribute("aria-valuetext")).toBe("1 of 3"));
    expect(screen.getByRole("meter", { name: "Messages left" })).toBe(meter());
    expect(meter().getAttribute("aria-valuemin")).toBe("0");
    expect(meter().getAttribute("aria-valuemax")).toBe("3");
    expect(meter().getAttribute("aria-valuenow")).toBe("1");
    expect(Number.parseFloat(filled())).toBeCloseTo(33.33, 1);
  });

  it("is empty while the limit is in debt", async () => {
    await using page = await startPage();
    page.render(<RateLimitMeter name="hourly" label="a" />);
    await soon(() => expect(filled()).toBe("100%"));
    await page.limiter.limit("hourly", { count: 5, reserve: true });
    await soon(() => expect(filled()).toBe("0%"));
    expect(meter().getAttribute("aria-valuenow")).toBe("0");
    expect(meter().getAttribute("aria-valuetext")).toBe("0 of 3");
  });

  it("is empty and says so while nothing is known, on a server too", async () => {
    await using page = await startPage();
    const html = renderToString(page.around(<RateLimitMeter name="hourly" label="a" />));
    expect(html).toContain('aria-valuetext="unknown"');
    expect(html).toContain('aria-valuenow="0"');
    expect(html).toContain('<rect width="0%"');
    expect(html).not.toContain("data-state");
    // A strict Content-Security-Policy would drop it.
    expect(html).not.toContain("style=");
  });

  it("counts whole tokens of a whole scale where the capacity is a fraction", async () => {
    await using page = await startPage();
    page.render([
      <RateLimitMeter key="a" name="fractional" label="some" />,
      <RateLimitMeter key="b" name="tiny" label="none" />,
    ]);
    const [some, none] = ["some", "none"].map((name) => screen.getByRole("meter", { name }));
    await soon(() => expect(some!.getAttribute("aria-valuetext")).toBe("2 of 2"));
    await soon(() => expect(none!.getAttribute("aria-valuetext")).toBe("0 of 1"));
    await page.limiter.limit("fractional", { count: 0.75 });
    await soon(() => expect(some!.getAttribute("aria-valuetext")).toBe("1 of 2"));
  });

  it("takes other words, another key, a class and styles, and colours with fallbacks", async () => {
    await using page = await startPage();
    page.render(
      <RateLimitMeter
        name="hourly"
        limitKey="ann"
        label="a"
        className="bar"
        style={{ width: "10em" }}
        text={(value, capacity) => (value === undefined ? "?" : `${value}/${capacity}`)}
      />,
    );
    expect(meter().getAttribute("aria-valuetext")).toBe("?");
    await page.limiter.limit("hourly", { key: "ann" });
    await soon(() => expect(meter().getAttribute("aria-valuetext")).toBe("2/3"));
    expect(meter().classList).toContain("rate-limit-meter");
    expect(meter().classList).toContain("bar");
    expect(meter().style.width).toBe("10em");
    const fills = [...meter().querySelectorAll("rect")].map((rect) => rect.getAttribute("fill"));
    expect(fills).toEqual([
      expect.stringMatching(/^var\(--rate-limit-meter-track, .+\)$/),
      expect.stringMatching(/^var\(--rate-limit-meter-fill, .+\)$/),
    ]);
  });

  it.each([
    ["ok", 8, 8],
    ["ok", 3, 8],
    ["low", 2, 8],
    ["low", 1, 8],
    ["empty", 0, 8],
    ["empty", -2, 8],
    ["low", 1, 3],
    ["ok", 1, 2],
    ["ok", 1, 1],
    ["empty", 0, 1],
  ])("is %s with %d tokens of %d, for the styles of an application", (state, value, capacity) => {
    const config = { kind: "credits", capacity } as const;
    const fake = createFakeRateLimits({ limits: { sendMessage: config } });
    fake.fill("sendMessage", value);
    render(
      <RateLimitProvider observer={fake}>
        <RateLimitMeter name="sendMessage" label="a" />
      </RateLimitProvider>,
    );
    expect(meter().dataset["state"]).toBe(state);
  });
});
