/** The places of declarations, and the links to them. */
import { dirname, relative } from "node:path/posix";
import { Simplifier } from "./simplifier.js";

export class Reference {
  /** The page of each declaration, with an anchor if the page does not begin with it. */
  #places = new Map();

  /** @param exported the declarations of the package, by name. */
  constructor(exported, pages, sources) {
    Object.assign(this, { exported, pages, sources });
    this.simplifier = new Simplifier((name) => exported.has(name));
    for (const page of pages) {
      for (const one of [...page.members, ...page.types]) {
        this.#places.set(one, `${page.file}#${anchorOf(one, page)}`);
      }
      page.lead = leadOf(page);
      if (page.lead !== undefined) this.#places.set(page.lead, page.file);
    }
  }

  /** The anchor of a declaration; `undefined` for the declaration with which a page begins. */
  anchorOf(declaration) {
    return this.#places.get(declaration)?.split("#")[1];
  }

  /**
   * A link to the first of these declarations that is on a page. {@link resolveLinks} makes it relative.
   */
  link(label, ...declarations) {
    const place = declarations.map((one) => this.#places.get(one)).find(Boolean);
    return place === undefined ? label : linkTo(label, place);
  }

  /** The title of a page, as code if it is a name of the package. */
  linkPage({ title, lead, file }) {
    return linkTo(lead === undefined ? title : `\`${title}\``, file);
  }

  /** A name as code, with a link if the package exports it. */
  linkName(name) {
    return this.link(`\`${name}\``, this.exported.get(name));
  }

  /** A type as code, with links to the types that it names. */
  linkType(type) {
    const line = type.replace(/\s+/g, " ");
    if (/^\w+$/.test(line)) return this.linkName(line);
    const text = line.replace(/(?<!["\w.])[A-Z]\w*|[<>[\]{}*_|&\\]/g, (match) =>
      /^[A-Z]/.test(match)
        ? this.link(match, this.exported.get(match))
        : (ENTITIES[match] ?? `\\${match}`),
    );
    return text.includes("](@/") ? `<code>${text}</code>` : `\`${line}\``;
  }
}

const ENTITIES = { "<": "&lt;", ">": "&gt;", "{": "&#123;", "}": "&#125;", "|": "|", "&": "&amp;" };

export function linkTo(label, place) {
  return `[${label}](@/${place})`;
}

/** Makes the links of a page relative to it. */
export function resolveLinks(text, file) {
  return text.replace(/\]\(@\/([^)#]*)(#[^)]*)?\)/g, (_link, to, anchor = "") => {
    const path = to === file && anchor !== "" ? "" : relative(dirname(file), to);
    return `](${path}${anchor})`;
  });
}

/** The declaration with which a page begins, if the page begins with a declaration. */
function leadOf({ main, title, about, members, types }) {
  if (main !== undefined) return main;
  if (members.length > 0) return members.find(({ name }) => name === title);
  return about === undefined ? types[0] : undefined;
}

/**
 * The anchor of a declaration. A type with the same name as another heading of the page gets `type-` in
 * front.
 */
function anchorOf(declaration, { title, members, types }) {
  const anchor = declaration.name.toLowerCase();
  const headings = [title, ...[...members, ...types].map(({ name }) => name)];
  const same = headings.filter((one) => one.toLowerCase() === anchor);
  return types.includes(declaration) && same.length > 1 ? `type-${anchor}` : anchor;
}
