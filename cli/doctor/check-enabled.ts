/** Finds limiters in the sources that are switched off, or that something can switch off. */
import { bare, callsOf, parseProgram, propertyOf } from "../init/code/syntax.js";
import { type Finding, ok, warning } from "./finding.js";
import { readSources } from "./sources.js";

const CHECK = "enabled";

export async function checkEnabled(root: string): Promise<Finding[]> {
  const off: string[] = [];
  const switched: string[] = [];
  for (const [file, text] of await readSources(root)) {
    const found = text.includes("createRateLimiter") ? enabledIn(file, text) : [];
    if (found.includes("off")) off.push(file);
    else if (found.includes("switched")) switched.push(file);
  }
  const findings: Finding[] = [];
  if (off.length > 0) {
    const message = `the limits are switched off (enabled: false), in ${off.join(", ")}`;
    const advice = "every call passes; leave enabled out where calls are to be limited";
    findings.push(warning(CHECK, message, advice));
  }
  if (switched.length > 0) {
    const message = `the limits can be switched off by the option enabled, in ${switched.join(", ")}`;
    findings.push(ok(CHECK, message));
  }
  return findings;
}

/** What a file says about the limiters that it makes with the option. */
function enabledIn(file: string, text: string): ("on" | "off" | "switched")[] {
  const program = parseProgram(file, text);
  if (program === undefined) return [];
  return callsOf(program, "createRateLimiter").flatMap(
    ({
      node: {
        arguments: [options],
      },
    }) => {
      if (options?.type !== "ObjectExpression") return [];
      const property = propertyOf(options, "enabled");
      if (property === undefined) return [];
      const value = property.type === "ObjectProperty" ? bare(property.value) : property;
      if (value.type !== "BooleanLiteral") return ["switched"];
      return [value.value ? "on" : "off"];
    },
  );
}
