import { describe, expect, it } from "vitest";
import { MINUTE } from "../../core/durations.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { validateConfig } from "../../core/validate-config.js";

const validate = (config: object) => () =>
  validateConfig({ kind: "credits", ...config } as never, "limits.credits");

describe("the config of credits", () => {
  it("needs no option", () => {
    for (const config of [{}, { capacity: 10 }, { shadow: true }, { rememberDenials: 100 }]) {
      expect(validate(config)).not.toThrow();
    }
    // As `configOf` and snapshots give it.
    expect(validate({ rate: 0, period: 1, capacity: 2 ** 53 })).not.toThrow();
  });

  it("refuses each option of limits that refill, and says why", () => {
    const refused: [string, unknown, string][] = [
      ["rate", 5, 'credits do not refill; for tokens that come back, use kind: "token bucket"'],
      ["period", MINUTE, "credits do not refill"],
      ["maxReserved", 5, "no tokens are still to come"],
      ["shards", 2, "a balance is one row"],
      ["blockFor", MINUTE, "nothing would open the balance again"],
      ["afterBlock", "new window", "nothing would open the balance again"],
      ["start", 5, "credits have no windows"],
      ["timeZone", "UTC", "credits have no windows"],
      ["lease", { ms: 100 }, "what is left of a block lapses"],
    ];
    for (const [option, value, reason] of refused) {
      expect(validate({ [option]: value })).toThrow(
        `limits.credits.${option} does not go with kind: "credits", got `,
      );
      expect(validate({ [option]: value })).toThrow(reason);
    }
  });

  it("quotes a capacity that is not a number of credits, and other wrong options", () => {
    for (const capacity of [0, -1, NaN, 2 ** 54, "10"]) {
      expect(validate({ capacity })).toThrow("limits.credits.capacity must be");
      expect(validate({ capacity })).toThrow(RateLimitConfigError);
    }
    expect(validate({ shadow: 1 })).toThrow("limits.credits.shadow must be a boolean, got 1");
    expect(validate({ burst: 1 })).toThrow("limits.credits.burst is not an option");
  });

  it("is named where a token bucket has a rate of 0", () => {
    expect(() => validateConfig({ kind: "token bucket", rate: 0, period: 5 })).toThrow(
      'config.rate must be a finite number above 0 (kind: "credits" is a balance that only credit() raises), got 0',
    );
    expect(() => validateConfig({ kind: "fixed window", rate: 0, period: 5 })).toThrow(
      /^config\.rate must be a finite number above 0, got 0$/,
    );
  });
});
