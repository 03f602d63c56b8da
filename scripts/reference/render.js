/** The Markdown of the pages: a name, its signature, what it does, an example, and tables. */
import * as prettier from "prettier";
import ts from "typescript";
import { ReflectionKind } from "typedoc";
import { ABOUT, LAYOUT, OPTION_GROUPS, REST_OF, SHARE_MEMBERS, SIMPLER } from "./layout.js";
import { membersOf, signaturesOf } from "./pages.js";
import { simplified, textOf } from "./sources.js";

/** @returns the text of each file, by its name. */
export async function render({ modules, pages, sources, titleOf }) {
  const exported = new Map();
  /** The page of each declaration, and the anchor of each that is not the main one. */
  const places = new Map();
  for (const module of modules) {
    for (const child of module.children ?? []) {
      if (!child.isReference()) exported.set(child.name, child);
    }
  }
  const memberPlaces = new Map();
  /** A page without a sentence of its own, such as that of `rateLimited`, begins with its first type. */
  const isMainOf = ({ main, members, about, types: [first] }, type) =>
    type === first && main === undefined && members.length === 0 && about === undefined;
  for (const page of pages) {
    if (page.main !== undefined) places.set(page.main, page.file);
    const taken = [page.title, ...page.members, ...page.types].map((one) =>
      (one.name ?? one).toLowerCase(),
    );
    const anchorOf = (one) => {
      const anchor = one.name.toLowerCase();
      return taken.indexOf(anchor) === taken.lastIndexOf(anchor) ? anchor : `type-${anchor}`;
    };
    for (const type of page.types) {
      places.set(type, isMainOf(page, type) ? page.file : `${page.file}#${anchorOf(type)}`);
    }
    for (const member of page.members) {
      const isAlone = page.members.length === 1 && page.title === member.name;
      const place = isAlone ? page.file : `${page.file}#${member.name.toLowerCase()}`;
      memberPlaces.set(`${page.of}.${member.name}`, place);
      places.set(member, place);
    }
  }

  const texts = new Map();
  for (const page of pages) texts.set(page.file, await pageText(page));
  for (const module of modules) texts.set(`${module.name}/README.md`, indexText(module));
  texts.set("README.md", rootText());
  return texts;

  /** A page. */
  async function pageText(page) {
    const { file, main, about } = page;
    const parts = [`# ${page.title}`];
    if (about !== undefined) parts.push(about);
    const isAlone = page.members.length === 1 && page.title === page.members[0].name;
    if (main !== undefined) parts.push(...(await declarationText(main, file)));
    for (const member of page.members) {
      if (!isAlone) parts.push(`## ${member.name}`);
      parts.push(...(await declarationText(member, file)));
    }
    for (const type of page.types) {
      const [, anchor = ""] = places.get(type).split("#");
      if (isMainOf(page, type)) parts.push(...(await declarationText(type, file)));
      else {
        if (anchor.startsWith("type-")) parts.push(`<a id="${anchor}"></a>`);
        parts.push(`## ${type.name}`, ...(await declarationText(type, file)));
      }
    }
    return `${parts.filter(Boolean).join("\n\n")}\n`;
  }

  /** What stands below the heading of a function, class, method, interface or type. */
  async function declarationText(declaration, file) {
    if (declaration.kindOf(ReflectionKind.Class)) return classText(declaration, file);
    if (declaration.kindOf(ReflectionKind.Interface)) return interfaceText(declaration, file);
    if (declaration.kindOf(ReflectionKind.TypeAlias)) return aliasText(declaration, file);
    if (declaration.kindOf(ReflectionKind.Variable)) return variableText(declaration, file);
    const signatures = signaturesOf(declaration);
    if (signatures.length > 0) return functionText(declaration.name, signatures, file);
    return propertyText(declaration, file);
  }

  async function functionText(name, signatures, file) {
    const parts = [];
    for (const same of grouped(signatures)) {
      // The last overload is the usual one.
      const shown = shownOf(same).toReversed();
      const codes = await Promise.all(shown.map((one) => signatureCode(name, one)));
      parts.push(block([...new Set(codes)].join("\n")));
      const { comment } = same[0];
      parts.push(sentences(comment, file), exampleOf(same.map((one) => one.comment)));
      parts.push(parametersTable(same, file), returnsText(same, file), throwsText(comment, file));
    }
    return parts;
  }

  /** Overloads that say the same, the one with the most words first. */
  function grouped(signatures) {
    const groups = [];
    for (const signature of signatures) {
      const own = plain(signature.comment?.summary).split(/[.:]\s|[.:]$/)[0];
      const group = groups.find(([first]) => plain(first.comment?.summary).startsWith(own));
      if (group === undefined) groups.push([signature]);
      else group.push(signature);
    }
    return groups;
  }

  /** Overloads without those of names that a limiter does not know: the page of `WithConfig` has these. */
  function shownOf(signatures) {
    const known = signatures.filter((one) => {
      const names = sources.namesIn(one);
      return !["WithConfig", "ConfigsUnlessNamed", "KnownItemOf"].some((name) => names.has(name));
    });
    return known.length === 0 ? signatures : known;
  }

  async function signatureCode(name, signature) {
    const node = sources.of(signature);
    const parameters = (signature.parameters ?? []).map((parameter, i) => {
      const own = node?.parameters?.[i];
      const isRest = own?.dotDotDotToken !== undefined ? "..." : "";
      const isOptional = parameter.flags.isOptional || parameter.defaultValue !== undefined;
      return `${isRest}${nameOf(parameter)}${isOptional ? "?" : ""}: ${typeOf(parameter, own)}`;
    });
    const returned = returnType(signature);
    return formatted(`declare function ${name}(${parameters.join(", ")}): ${returned};`);
  }

  function returnType(signature) {
    const node = sources.of(signature);
    if (node?.type !== undefined) return simplified(node.type, isExported);
    if (signature.type?.type !== "reflection") return signature.type?.toString() ?? "void";
    return `{ ${membersOf(signature.type.declaration)
      .map((member) => member.name)
      .join(", ")} }`;
  }

  function typeOf(reflection, node = sources.of(reflection)) {
    const simpler = SIMPLER[`${reflection.parent?.name}.${reflection.name}`];
    if (simpler !== undefined) return simpler;
    if (node?.type === undefined) return reflection.type?.toString() ?? "unknown";
    const isOptional = reflection.flags.isOptional || node.questionToken !== undefined;
    return simplified(node.type, isExported, isOptional);
  }

  function parametersTable(signatures, file) {
    const rows = new Map();
    const shown = shownOf(signatures);
    for (const signature of signatures.toReversed()) {
      (signature.parameters ?? []).forEach((parameter, i) => {
        const name = nameOf(parameter);
        const known = rows.get(name);
        const about = sentences(parameter.comment, file);
        if (known !== undefined) known.about ||= about;
        else if (shown.includes(signature)) {
          const type = typeOf(parameter, sources.of(signature)?.parameters?.[i]);
          const given = parameter.defaultValue;
          const isShown = given !== undefined && !/^\{|\.\.\.|\(/.test(given);
          const without = isShown ? ` Without it: \`${given}\`.` : "";
          const isOptional = parameter.flags.isOptional || given !== undefined;
          rows.set(name, { name: `${name}${isOptional ? "?" : ""}`, type, about: about + without });
        }
      });
    }
    return table("Parameter", [...rows.values()], file);
  }

  function returnsText(signatures, file) {
    const [first] = signatures;
    const tag = signatures.map(({ comment }) => comment?.getTag("@returns")).find(Boolean);
    const type = returnType(signatures.at(-1)).replace(/\s+/g, " ");
    // The signature says it.
    if (
      tag === undefined &&
      (/^(?:void|Promise<void>|ReactElement)$/.test(type) || type.length > 100)
    ) {
      if (first.type?.type !== "reflection") return "";
    }
    const members = first.type?.type === "reflection" ? membersOf(first.type.declaration) : [];
    if (members.length > 0) {
      const rows = members.map((member) => memberRow(member, file));
      return `**Returns** ${tag === undefined ? "an object:" : partsText(tag.content, file)}\n\n${rawTable(["Member", "About"], rows)}`;
    }
    const about = tag === undefined ? "" : `: ${partsText(tag.content, file)}`;
    return `**Returns** ${linked(type, file)}${about.replace(/\n/g, " ")}`;
  }

  /** A member of what a function returns, with the page of it, or that of its type. */
  function memberRow(member, file) {
    const type = exported.get(/^\w+/.exec(typeOf(member))?.[0]);
    const same = exported.get(member.name);
    const ofPage = pages.find(
      ({ title, entry }) => title === member.name && file.startsWith(`${entry}/`),
    );
    const place = places.get(member) ?? places.get(same) ?? ofPage?.file ?? places.get(type);
    const name = `\`${member.name}\``;
    const comment = [member, same, type].map((one) => one && commentOf(one)).find(Boolean);
    const link = place === undefined ? name : `[${name}](${relative(file, place)})`;
    return [link, firstOf(comment, file)];
  }

  function throwsText(comment, file) {
    const tags = (comment?.blockTags ?? []).filter(({ tag }) => tag === "@throws");
    const reasons = tags.map(({ content }) =>
      partsText(content, file).replace(/^(\w+Error|Error)\b/, errorName(file)),
    );
    if (reasons.length === 0) return "";
    if (reasons.length === 1) return `**Throws** ${reasons[0]}`;
    return `**Throws**\n\n${reasons.map((text) => `- ${text.replace(/\n/g, "\n  ")}`).join("\n")}`;
  }

  function errorName(file) {
    return (name) => {
      const place = places.get(exported.get(name));
      return place === undefined ? `\`${name}\`` : `[\`${name}\`](${relative(file, place)})`;
    };
  }

  async function classText(declaration, file) {
    const node = sources.of(declaration);
    const [base] = node?.heritageClauses?.flatMap(({ types }) => [...types]) ?? [];
    const head = `class ${declaration.name}${base === undefined ? "" : ` extends ${textOf(base)}`}`;
    return [
      block(`${head} {}`.replace(" {}", "")),
      sentences(declaration.comment, file),
      exampleOf([declaration.comment]),
      ...membersText(declaration, file),
    ];
  }

  async function interfaceText(declaration, file) {
    const { comment, name, signatures = [] } = declaration;
    if (signatures.length === 0) {
      return [sentences(comment, file), exampleOf([comment]), ...membersText(declaration, file)];
    }
    // Something to call, with further methods.
    const own = name[0].toLowerCase() + name.slice(1);
    const parts = [...(await functionText(own, signatures, file))];
    parts.splice(1, 0, sentences(comment, file), exampleOf([comment]));
    for (const member of declaration.children ?? []) {
      parts.push(`### ${own}.${member.name}`, ...(await declarationText(member, file)));
    }
    return parts;
  }

  /** The members of an interface or class: a table each for the groups that layout.js names. */
  function membersText(declaration, file) {
    const { name } = declaration;
    const owner = SHARE_MEMBERS[name] ?? name;
    const hasPages = pages.some(({ of, members }) => of === owner && members.length > 1);
    if (hasPages) return [methodsTable(declaration, owner, file)];
    const other = REST_OF[name] && exported.get(REST_OF[name]);
    const same = new Set((other?.children ?? []).map((one) => one.name));
    const shown = (declaration.children ?? []).filter(
      (one) =>
        !one.flags.isExternal &&
        !one.kindOf(ReflectionKind.Constructor) &&
        !(isInherited(one) && same.has(one.name)),
    );
    const parts = [];
    const groups = OPTION_GROUPS[name] ?? {};
    const inGroups = new Set(Object.values(groups).flat());
    for (const [title, names] of Object.entries(groups)) {
      const rows = names.map((one) => shown.find((child) => child.name === one)).filter(Boolean);
      parts.push(
        `### ${title}`,
        table(
          "Option",
          rows.map((one) => propertyRow(one, file)),
          file,
        ),
      );
    }
    const rest = shown.filter((one) => !inGroups.has(one.name));
    if (inGroups.size > 0 && rest.length > 0) parts.push("### Others");
    const heading = /Options|Config$|Props$/.test(name) ? "Option" : "Member";
    parts.push(
      table(
        heading,
        rest.map((one) => propertyRow(one, file)),
        file,
      ),
    );
    if (other) {
      parts.push(
        `The other options are those of [\`${other.name}\`](${relative(file, places.get(other))}).`,
      );
    }
    return parts;
  }

  function methodsTable(declaration, owner, file) {
    const isOwn = declaration.name === owner;
    const rows = (declaration.children ?? []).flatMap((member) => {
      const place = memberPlaces.get(`${owner}.${member.name}`);
      return place === undefined ? [] : [{ member, place }];
    });
    if (!isOwn) {
      const names = rows.map(
        ({ member, place }) => `[\`${member.name}\`](${relative(file, place)})`,
      );
      return `It has ${names.slice(0, -1).join(", ")} and ${names.at(-1)}.`;
    }
    const owners = pages.filter(({ of, members }) => of === owner && members.length > 0);
    const lines = owners.map(({ title, file: target, members }) => [
      `[${/^[a-z]/.test(title) ? `\`${title}\`` : title}](${relative(file, target)})`,
      members
        .map(({ name }) => `[\`${name}\`](${relative(file, memberPlaces.get(`${owner}.${name}`))})`)
        .join(", "),
    ]);
    return rawTable(["To", "Methods"], lines);
  }

  function propertyRow(member, file) {
    const isOptional = member.flags.isOptional ? "?" : "";
    const signatures = ts.isTypeQueryNode(sources.of(member)?.type ?? {})
      ? []
      : signaturesOf(member);
    if (member.kindOf(ReflectionKind.Method)) {
      const all = grouped(signatures);
      const about = all.map(([{ comment }]) => sentences(comment, file)).filter(Boolean);
      const details = all.flatMap((same) => parameterNotes(same, file));
      return {
        name: `${member.name}${isOptional}`,
        type: callText(signatures.at(-1)),
        about: [about.join(" "), ...details].filter(Boolean).join("<br>"),
      };
    }
    const accessor = member.getSignature;
    const comment = member.comment ?? accessor?.comment ?? signatures[0]?.comment;
    const type = accessor ? returnType(accessor) : typeOf(member);
    return {
      name: `${member.name}${isOptional}`,
      type,
      about: [sentences(comment, file), ...parameterNotes(signatures, file)]
        .filter(Boolean)
        .join("<br>"),
    };
  }

  function parameterNotes(signatures, file) {
    const notes = new Map();
    for (const signature of signatures) {
      for (const parameter of signature.parameters ?? []) {
        const about = sentences(parameter.comment, file);
        if (about !== "") notes.set(parameter.name, `\`${nameOf(parameter)}\`: ${about}`);
      }
      const returns = signature.comment?.getTag("@returns");
      if (returns) notes.set("returns", `Returns ${partsText(returns.content, file)}`);
    }
    return [...notes.values()];
  }

  function callText(signature) {
    const node = sources.of(signature);
    const parameters = (signature.parameters ?? []).map((parameter, i) => {
      const own = node?.parameters?.[i];
      const isOptional = parameter.flags.isOptional || parameter.defaultValue !== undefined;
      return `${nameOf(parameter)}${isOptional ? "?" : ""}: ${typeOf(parameter, own)}`;
    });
    return `(${parameters.join(", ")}) => ${returnType(signature)}`;
  }

  async function aliasText(declaration, file) {
    const { comment } = declaration;
    const node = sources.of(declaration);
    const parts = [sentences(comment, file), exampleOf([comment])];
    const children =
      declaration.type?.type === "reflection" ? declaration.type.declaration.children : undefined;
    if (children?.length > 0 && !ts.isMappedTypeNode(node.type)) {
      return [
        ...parts,
        table(
          "Member",
          children.map((one) => propertyRow(one, file)),
          file,
        ),
      ];
    }
    const source = node
      .getText()
      .replace(/^export /, "")
      .replace(/\{@link (\w+)\}/g, "$1");
    parts.push(block(await formatted(source)));
    const names = [...sources.namesIn(declaration)].filter(
      (name) => exported.has(name) && name !== declaration.name,
    );
    if (names.length > 0) {
      const links = names.map((name) => linked(name, file));
      parts.push(`It uses ${links.join(", ")}.`);
    }
    return parts;
  }

  function variableText(declaration, file) {
    const node = sources.of(declaration);
    return [block(`const ${node.getText()};`), sentences(declaration.comment, file)];
  }

  async function propertyText(declaration, file) {
    const { comment } = declaration;
    const type = typeOf(declaration).replace(/\s+/g, " ");
    return [`Type: ${linked(type, file)}`, sentences(comment, file), exampleOf([comment])];
  }

  /** The index of an entry point. */
  function indexText(module) {
    const own = pages.filter(({ entry }) => entry === module.name);
    const file = `${module.name}/README.md`;
    const parts = [`# ${titleOf(module.name)}`];
    parts.push(`${ABOUT[module.name]}.`);
    for (const section of Object.keys(LAYOUT[module.name])) {
      const rows = own
        .filter((page) => page.section === section)
        .map((page) => [
          `[${page.main || page.of === undefined || page.members.length === 1 ? linkTextOf(page) : page.title}](${relative(file, page.file)})`,
          aboutOf(page, file),
        ]);
      parts.push(`## ${section}`, rawTable(["Name", "About"], rows));
    }
    const others = (module.children ?? []).filter((child) => child.isReference());
    if (others.length > 0) {
      const links = others.map((child) => {
        const target = child.getTargetReflectionDeep();
        const place = places.get(target);
        return place === undefined
          ? `\`${child.name}\``
          : `[\`${child.name}\`](${relative(file, place)})`;
      });
      parts.push("## Also exported", `${links.join(", ")}.`);
    }
    return `${parts.join("\n\n")}\n`;
  }

  function linkTextOf({ title, main }) {
    return main !== undefined || /^[a-z]\w*$|^(?:use|create|Rate)\w+$/.test(title)
      ? `\`${title}\``
      : title;
  }

  function aboutOf(page, file) {
    if (page.main !== undefined) return firstOf(commentOf(page.main), file);
    if (page.members.length === 1) return firstOf(commentOf(page.members[0]), file);
    if (page.members.length > 1) return page.members.map(({ name }) => `\`${name}\``).join(", ");
    return page.about ?? firstOf(commentOf(page.types[0]), file);
  }

  function commentOf(declaration) {
    return declaration.comment ?? signaturesOf(declaration).find(({ comment }) => comment)?.comment;
  }

  function rootText() {
    const rows = Object.keys(ABOUT).map((name) => [
      `[\`${titleOf(name)}\`](${name}/README.md)`,
      ABOUT[name],
    ]);
    return `# Reference\n\n${rawTable(["Entry point", "Has"], rows)}\n`;
  }

  // Texts

  function isExported(name) {
    return exported.has(name);
  }

  /** The summary of a comment, and its default. */
  function sentences(comment, file) {
    if (comment === undefined) return "";
    const fallback = comment.getTag("@default");
    const text = partsText(comment.summary, file);
    if (fallback === undefined) return text;
    const value = partsText(fallback.content, file).replace(/^```\w*\n([\s\S]*)\n```$/, "$1");
    return `${text} **Default:** ${value}`.trim();
  }

  function exampleOf(comments) {
    const tag = comments.map((comment) => comment?.getTag("@example")).find(Boolean);
    if (tag === undefined) return "";
    const text = tag.content.map((part) => part.text).join("");
    return /<\/|\/>/.test(text) ? text.replace(/^```ts$/m, "```tsx") : text;
  }

  function partsText(parts = [], file) {
    return parts
      .map((part) => {
        if (part.kind !== "inline-tag") return part.text;
        const place = typeof part.target === "object" ? places.get(part.target) : undefined;
        const label = `\`${part.text}\``;
        return place === undefined ? label : `[${label}](${relative(file, place)})`;
      })
      .join("")
      .trim();
  }

  /** The first sentence of a comment. */
  function firstOf(comment, file) {
    const text = partsText(comment?.summary, file)
      .split(/\n\n|:\n/)[0]
      .replace(/\s+/g, " ");
    return (/^.*?[.:](?=\s+[A-Z`]|$)/.exec(text)?.[0] ?? text).replace(/:$/, ".");
  }

  /** The type stands above the words, so that both have room on a phone. */
  function table(first, rows, file) {
    const lines = rows.map(({ name, type, about }) => {
      const code = linked(type.replace(/\s+/g, " ").replace(/^\| /, ""), file);
      return [`\`${name}\``, about === "" ? code : `${code}<br>${about}`];
    });
    return rawTable([first, "About"], lines);
  }

  /** A type as code, with links to what it names. */
  function linked(type, file) {
    const names = [...type.matchAll(/(?<!["\w.])[A-Z]\w*/g)].map(([name]) => name);
    const known = new Set(names.filter((name) => places.has(exported.get(name))));
    if (known.size === 0) return `\`${type}\``;
    if (known.has(type)) return `[\`${type}\`](${relative(file, places.get(exported.get(type)))})`;
    const text = type.replace(/(?<!["\w.])[A-Z]\w*|[<>[\]{}*_|&\\]/g, (match) => {
      if (known.has(match)) return `[${match}](${relative(file, places.get(exported.get(match)))})`;
      if (/\w/.test(match) && match !== "_") return match;
      return (
        { "<": "&lt;", ">": "&gt;", "{": "&#123;", "}": "&#125;", "|": "|", "&": "&amp;" }[match] ??
        `\\${match}`
      );
    });
    return `<code>${text}</code>`;
  }
}

function isInherited(member) {
  return member.inheritedFrom !== undefined;
}

function nameOf(parameter) {
  return parameter.name === "__namedParameters" ? "options" : parameter.name;
}

function plain(parts = []) {
  return parts.map(({ text }) => text).join("");
}

function block(code) {
  return `\`\`\`ts\n${code}\n\`\`\``;
}

async function formatted(code) {
  const text = await prettier.format(code, { parser: "typescript", printWidth: 97 });
  return text
    .trim()
    .replace(/^declare function /, "")
    .replace(/;$/, "");
}

function rawTable(heads, rows) {
  if (rows.length === 0) return "";
  const cell = (text) =>
    text
      .replace(/\n{2,}/g, "<br><br>")
      .replace(/\n(?=- )/g, "<br>")
      .replace(/\n/g, " ")
      .replace(/(?<!\\)\|/g, "\\|");
  const line = (cells) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

function relative(from, to) {
  const [file, anchor] = to.split("#");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (file === from && hash !== "") return hash;
  const [folder, name] = file.split("/");
  if (!from.includes("/")) return `${file}${hash}`;
  return `${folder === from.split("/")[0] ? name : `../${file}`}${hash}`;
}
