import { expect, it } from "vitest";
import { portIsTaken, readOptions } from "../../../../example-app/shared/server/options.js";

it.each([3000, 65_535])("names a command for another port than %i that the demo takes", (port) => {
  const message = portIsTaken(port);
  const [, args = ""] = /with: npm run demo -- (.+)$/.exec(message) ?? [];
  expect(message).toContain(`Port ${port} is taken`);
  expect(args).not.toBe("");
  expect(readOptions(args.split(" "), {}).port).not.toBe(port);
});
