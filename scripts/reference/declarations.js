/** The text below the heading of a function, class, method, interface or type. */
import { ReflectionKind } from "typedoc";
import { exampleOf, sentences } from "./comments.js";
import { functionText } from "./functions.js";
import { membersText } from "./members.js";
import { formatted, typeOf } from "./signatures.js";
import { signaturesOf, textOf } from "./sources.js";

/** @returns paragraphs; empty or `undefined` paragraphs do not count. */
export async function declarationText(reference, declaration) {
  const { comment, name } = declaration;
  const words = [sentences(reference, comment), exampleOf([comment])];
  if (declaration.kindOf(ReflectionKind.Class)) {
    return [classCode(reference, declaration), ...words, ...membersText(reference, declaration)];
  }
  if (declaration.kindOf(ReflectionKind.Interface)) {
    return declaration.signatures === undefined
      ? [...words, ...membersText(reference, declaration)]
      : callableText(reference, declaration, words);
  }
  if (declaration.kindOf(ReflectionKind.TypeAlias)) {
    return [...words, ...(await aliasText(reference, declaration))];
  }
  if (declaration.kindOf(ReflectionKind.Variable)) {
    return [block(`const ${reference.sources.of(declaration).getText()};`), ...words];
  }
  const signatures = signaturesOf(declaration);
  if (signatures.length > 0) return functionText(reference, name, signatures);
  const type = typeOf(reference, declaration);
  return [`Type: ${reference.linkType(type)}`, ...words];
}

function classCode({ sources }, declaration) {
  const [clause] = sources.of(declaration).heritageClauses ?? [];
  const base = clause === undefined ? "" : ` extends ${textOf(clause.types[0])}`;
  return block(`class ${declaration.name}${base}`);
}

/** The text of an interface that can be called, and that has further methods. */
async function callableText(reference, { name, signatures, children = [] }, words) {
  const own = name[0].toLowerCase() + name.slice(1);
  const [code, ...rest] = await functionText(reference, own, signatures);
  const members = children.map(async (member) => [
    `### ${own}.${member.name}`,
    ...(await declarationText(reference, member)),
  ]);
  return [code, ...words, ...rest, ...(await Promise.all(members)).flat()];
}

/** The type as it is written, and links to the types that it uses. */
async function aliasText(reference, declaration) {
  const { sources, exported } = reference;
  const code = sources
    .of(declaration)
    .getText()
    .replace(/^export /, "")
    .replace(/\{@link (\w+)\}/g, "$1");
  const names = [...sources.namesIn(declaration)].filter((name) => exported.has(name));
  const links = names.map((name) => reference.linkName(name));
  return [block(await formatted(code)), links.length > 0 && `It uses ${links.join(", ")}.`];
}

function block(code) {
  return `\`\`\`ts\n${code}\n\`\`\``;
}
