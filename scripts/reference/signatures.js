/** The code of signatures: their parameters and types. */
import * as prettier from "prettier";
import { SIMPLER } from "./layout/options.js";
import { membersOf } from "./sources.js";

/** The declaration of a function, without the words `declare function`. */
export async function signatureCode(reference, name, signature) {
  const parameters = parametersText(reference, signature);
  const code = await formatted(
    `declare function ${name}(${parameters}): ${returnType(reference, signature)};`,
  );
  return code.replace(/^declare function /, "");
}

/** A signature as the type of a function. */
export function callType(reference, signature) {
  return `(${parametersText(reference, signature)}) => ${returnType(reference, signature)}`;
}

export function returnType({ sources, simplifier }, signature) {
  const { type } = sources.of(signature) ?? {};
  if (type !== undefined) return simplifier.textOf(type);
  if (signature.type.type !== "reflection") return String(signature.type);
  const names = membersOf(signature.type.declaration).map(({ name }) => name);
  return `{ ${names.join(", ")} }`;
}

/** The type of a property. */
export function typeOf(reference, declaration) {
  return typeOfNode(reference, declaration, reference.sources.of(declaration));
}

/** The parameters of a signature. `type` is simplified for callers. */
export function parametersOf(reference, signature) {
  const nodes = reference.sources.of(signature)?.parameters;
  return (signature.parameters ?? []).flatMap((parameter, i) => {
    const { flags, defaultValue, comment } = parameter;
    const several = reference.simplifier.argumentsOf(nodes?.[i]);
    if (several !== undefined) return several.map((one) => shownOf(one, parameter));
    const name = parameter.name === "__namedParameters" ? "options" : parameter.name;
    return {
      name,
      shown: flags.isOptional || defaultValue !== undefined ? `${name}?` : name,
      type: typeOfNode(reference, parameter, nodes?.[i]),
      defaultValue,
      comment,
    };
  });
}

/**
 * The usual overloads. Overloads for names that a limiter does not know are on the page of `WithConfig`.
 */
export function usualOf({ sources }, signatures) {
  const known = signatures.filter((one) => {
    const names = sources.namesIn(one);
    return !["WithConfig", "ConfigsUnlessNamed", "KnownItemOf"].some((name) => names.has(name));
  });
  return known.length === 0 ? signatures : known;
}

export async function formatted(code) {
  const text = await prettier.format(code, { parser: "typescript", printWidth: 97 });
  return text.trim().replace(/;$/, "");
}

/** One of the parameters behind a rest parameter. TypeDoc has only comments of `options` for them. */
function shownOf({ name, isOptional, type }, { comment }) {
  const about = name === "options" ? comment : undefined;
  return { name, shown: isOptional ? `${name}?` : name, type, comment: about };
}

function parametersText(reference, signature) {
  return parametersOf(reference, signature)
    .map(({ shown, type }) => `${shown}: ${type}`)
    .join(", ");
}

function typeOfNode({ simplifier }, { parent, name, type, flags }, node) {
  const simpler = SIMPLER[`${parent?.name}.${name}`];
  if (simpler !== undefined) return simpler;
  if (node?.type === undefined) return String(type);
  return simplifier.textOf(node.type, flags.isOptional);
}
