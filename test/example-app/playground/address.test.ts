/** Links to the playground, and how the page reads links of any kind. */
import { describe, expect, it } from "vitest";
import {
  isOfPlayground,
  readAddress,
  runningLink,
  writeAddress,
} from "../../../example-app/playground/address.js";
import type { PlaygroundChoice } from "../../../example-app/playground/choice.js";

const CHOICE: PlaygroundChoice = {
  kind: "token bucket",
  rate: 30,
  period: 60_000,
  capacity: 10,
  shards: 1,
};
const PLAIN = { count: 1, reserve: false };

describe("the address", () => {
  it.each<[PlaygroundChoice, typeof PLAIN, string]>([
    [CHOICE, PLAIN, "#playground?kind=token-bucket&rate=30&period=60s&capacity=10"],
    [
      { ...CHOICE, kind: "fixed window", rate: 0.5, period: 1500, shards: 4 },
      { count: 2.5, reserve: true },
      "#playground?kind=fixed-window&rate=0.5&period=1.5s&capacity=10&shards=4&count=2.5&reserve",
    ],
    [
      { ...CHOICE, kind: "fixed window", period: "month", blockFor: 20_000 },
      PLAIN,
      "#playground?kind=fixed-window&rate=30&period=month&capacity=10&blockFor=20s",
    ],
  ])("says all that is set, and is read back: %o", (choice, call, address) => {
    expect(writeAddress(choice, call)).toBe(address);
    expect(isOfPlayground(address)).toBe(true);
    expect(readAddress(address)).toEqual({ choice, call });
  });

  it("asks for no limit where it names none", () => {
    for (const hash of ["#playground", "#playground?", "#playground?theme=dark"]) {
      expect(readAddress(hash)).toEqual({ choice: undefined, call: PLAIN });
    }
    expect(readAddress("#playground?count=3").call).toEqual({ count: 3, reserve: false });
    expect(isOfPlayground("#play")).toBe(false);
  });

  it("lets ten visitors call where it says so", () => {
    const link = runningLink(writeAddress(CHOICE, PLAIN));
    expect(readAddress(link)).toEqual({ choice: CHOICE, call: PLAIN, isRunning: true });
    expect(readAddress("#playground?run=1")).toMatchObject({ call: PLAIN, isRunning: true });
    for (const other of ["run=0", "run", "run=0&count=0", "run=1&count=0"]) {
      expect(readAddress(`#playground?${other}`).isRunning).toBeUndefined();
    }
  });

  it("takes the rate for a capacity that is left out, as the package does", () => {
    const { choice } = readAddress("#playground?kind=token-bucket&rate=7&period=1s");
    expect(choice).toMatchObject({ rate: 7, capacity: 7 });
  });

  it.each([
    ["rate=30&period=60s", "kind must be token-bucket or fixed-window"],
    ["kind=toString&rate=30&period=60s", "kind must be token-bucket or fixed-window"],
    ["kind=token-bucket&period=60s", "rate must be a number"],
    ["kind=token-bucket&rate=1e9&period=60s", "rate must be a number"],
    ["kind=token-bucket&rate=&period=60s", "rate must be a number"],
    ["kind=token-bucket&rate=0&period=60s", "rate must be from 0.1 to 10,000"],
    ["kind=token-bucket&rate=30", "period must be a time"],
    ["kind=token-bucket&rate=30&period=60", "period must be a time"],
    ["kind=token-bucket&rate=30&period=month", "limit.period must be"],
    ["kind=token-bucket&rate=30&period=60s&capacity=-1", "capacity must be a number"],
    ["kind=token-bucket&rate=30&period=60s&shards=1.5", "limit.shards must be"],
    [
      "kind=token-bucket&rate=30&period=60s&shards=2&blockFor=5s",
      "left out of a limit with shards",
    ],
    ["kind=%E0%A4%A&rate=30&period=60s", "kind must be"],
    ["count=0", "count must be from 1 to 10000"],
    ["count=lots", "count must be a number"],
  ])("says what is wrong with %s, and asks for nothing", (query, problem) => {
    const asked = readAddress(`#playground?${query}`);
    expect(asked.problem).toContain(problem);
    expect(asked).toMatchObject({ call: PLAIN });
    expect(asked.choice).toBeUndefined();
  });
});
