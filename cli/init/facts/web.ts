/**
 * Reads the web applications, each of them once: the links of its client of tRPC, the client, the hooks,
 * and the provider.
 */
import type { JSXAttribute, JSXElement, Node } from "@babel/types";
import type { Code } from "../code/code.js";
import { importedFrom } from "../code/imports.js";
import { callsOf, findAll, nameOf } from "../code/syntax.js";
import {
  type Client,
  clientOf,
  isHooked,
  type Links,
  linksOf,
  type List,
  listIn,
} from "./links.js";
import { type Live, liveOf } from "./live.js";
import { findInCode, type Member, sourceWith } from "./member.js";
import type { Example } from "./mutations.js";
import type { Project } from "./project.js";

export interface Web {
  member: Member;
  isNative: boolean;
  /** The file that has the hooks of this package already. */
  present: string | undefined;
  /** `undefined` where no list of links has a known form. */
  links: Links | undefined;
  client: Client | undefined;
  live: Live;
  /** The file that makes the hooks of tRPC, or else the file of the links. */
  hooks: string | undefined;
  router: RouterType | undefined;
  /** The path of a mutation of the router, for examples. */
  mutation: string;
  /** The file with the provider of tRPC, or else of queries, and the client that the provider gets. */
  provider: { file: string; client: string | undefined } | undefined;
}

/** The type of the router, and the module from which `file` imports the type. */
export interface RouterType {
  name: string;
  file: string;
  from: string | undefined;
}

export const isNative = ({ packages }: Member): boolean =>
  packages.has("react-native") || packages.has("expo");

/** The applications with a client of tRPC that runs in a browser or on a phone. */
export function readWebs(project: Project, example: Example | undefined): Web[] {
  const { users, api, members: all, trpcFile } = project;
  if (trpcFile === undefined) return [];
  const mutation = example?.path ?? "post.create";
  const readWeb = (member: Member): Web => ({ ...readPackage(member), mutation });
  const members = [...new Set([...users, api])];
  const webs = members
    .filter(({ packages }) => packages.has("@trpc/client"))
    .map((member) => readWeb(member));
  const owners = webs.filter(({ links }) => links !== undefined).map(({ member }) => member.name);
  // An application of its own has a client somewhere, even where nothing shows it.
  if (webs.length === 0 && all.length === 1) return [readWeb(api)];
  return webs.filter(
    ({ links, member }) =>
      links !== undefined ||
      // A page may use the client of another package.
      (users.includes(member) &&
        member.packages.has("react") &&
        !owners.some((name) => member.packages.has(name))),
  );
}

function readPackage(member: Member): Omit<Web, "mutation"> {
  const best = bestList(member);
  const made = findInCode(member, /\bcreateTRPC(Context|React)\b/, routerTypeIn);
  const links = best && linksOf(best.code, best.list);
  // The hooks of createTRPCNext have no provider in the code.
  const withTRPC = sourceWith(member, /\.withTRPC\(/);
  return {
    member,
    isNative: isNative(member),
    present: sourceWith(member, /\bcreateRateLimitReact\b/),
    links,
    client: best && clientOf(best.list),
    live: best ? liveOf(best.code, best.list, isNative(member)) : { mode: "stream" },
    hooks: made?.file ?? links?.file,
    router: (best && routerTypeIn(best.code)) ?? made?.found,
    provider:
      providerOf(member, links?.file) ??
      (withTRPC === undefined ? undefined : { file: withTRPC, client: undefined }),
  };
}

/** The list of the client that hooks use, or else the first list. */
function bestList(member: Member): { code: Code; list: List } | undefined {
  let first: { code: Code; list: List } | undefined;
  const hooked = findInCode(member, /links\b/i, (code) => {
    // No page has such a client.
    const list = /["']server-only["']/.test(code.text) ? undefined : listIn(code);
    if (list === undefined) return undefined;
    first ??= { code, list };
    return isHooked(code, list) ? { code, list } : undefined;
  });
  return hooked?.found ?? first;
}

/** Calls with the type of the router. */
const TYPED = ["Client", "ProxyClient", "React", "Context", "Next", "OptionsProxy"];

/** The type of the router that the calls of tRPC in a file have. */
function routerTypeIn(code: Code): RouterType | undefined {
  for (const { node } of callsOf(code.program, ...TYPED.map((name) => `createTRPC${name}`))) {
    const type = node.typeParameters?.params[0];
    const name = type?.type === "TSTypeReference" ? nameOf(type.typeName) : undefined;
    if (name !== undefined) return { name, file: code.file, from: importedFrom(code, name) };
  }
  return undefined;
}

/** The provider in the file of the links, or else the first. */
function providerOf(member: Member, links: string | undefined): Web["provider"] {
  const texts = [...member.sources];
  const sources = new Map([...texts.filter(([file]) => file === links), ...texts]);
  return findInCode({ ...member, sources }, /Provider\b/, (code) => {
    const found = providerIn(code);
    const value = found?.client?.value;
    const isCode = value?.type === "JSXExpressionContainer";
    return found && { file: code.file, client: isCode ? code.textOf(value.expression) : undefined };
  })?.found;
}

/**
 * The provider around the provider of the limits: the inner one of the providers of tRPC and of queries.
 * `client` is the attribute with the client of tRPC.
 */
export function providerIn({ program }: Code) {
  const find = (root: Node, tag: RegExp, attribute?: string) =>
    findAll(root, "JSXElement").find(
      ({ node }) =>
        tag.test(nameOf(node.openingElement.name) ?? "") &&
        (attribute === undefined || attributeOf(node, attribute)),
    )?.node;
  const ofTrpc =
    find(program, /^TRPCProvider$/, "trpcClient") ?? find(program, /^Provider$/, "queryClient");
  const element = find(ofTrpc ?? program, /^(?:Persist)?QueryClientProvider$/) ?? ofTrpc;
  const client = ofTrpc && (attributeOf(ofTrpc, "trpcClient") ?? attributeOf(ofTrpc, "client"));
  return element && { element, client };
}

const attributeOf = ({ openingElement }: JSXElement, name: string) =>
  openingElement.attributes.find(
    (each): each is JSXAttribute => each.type === "JSXAttribute" && each.name.name === name,
  );
