/** The lockfile of an application before it installs the package. */

export interface Case {
  /** What it has, in words. */
  title: string;
  /** A program of this folder, or of those of `test/scaffolds`. */
  program: string;
  packages: string[];
  /** What npm may move, because the older version cannot work. */
  moves?: string[];
  /** The program gets the URL of one. */
  database?: "postgresql";
  /** The client of Prisma is generated first. */
  generates?: boolean;
  /** It overrides the peers as `init` says. */
  overrides?: boolean;
  /** Also by day. */
  isDaily?: boolean;
}

const NODE = "@types/node@20";
const EVENTS = [NODE, "eventsource@4.1.1"];
const trpc = (version: string, ...others: string[]) =>
  ["server", "client", ...others].map((name) => `@trpc/${name}@${version}`);
const react = (version: string, types = version) => [
  `react@${version}`,
  `react-dom@${version}`,
  `@types/react@${types}`,
];
const PG = ["pg@8.23.1", "@types/pg@8"];

export const CASES: Case[] = [
  {
    title: "a T3 application of March 2025, whose @trpc/react-query pins its peers",
    program: "trpc-over-http",
    packages: [
      ...EVENTS,
      ...trpc("11.0.0", "react-query"),
      ...react("19.0.0"),
      "@tanstack/react-query@5.69.0",
      "@prisma/client@6.6.0",
      "prisma@6.6.0",
      "typescript@5.8.2",
      // 3.24 has no `zod/v4`.
      "zod@3.24.2",
      "--ignore-scripts",
    ],
    moves: ["zod"],
    isDaily: true,
  },
  ...["11.4.0", "11.19.0", "11.25.2"].map((version) => ({
    title: `tRPC ${version}`,
    program: "trpc-over-http",
    packages: [...EVENTS, ...trpc(version), "zod@4.0.0"],
  })),
  {
    title: "the oldest React, TanStack Query, tRPC and Zod",
    program: "react",
    packages: [
      ...react("18.0.0", "18.0"),
      ...trpc("11.0.0"),
      "@tanstack/react-query@5.0.0",
      "zod@3.25.1",
    ],
  },
  {
    title: "tRPC 10, whose packages the peers do not allow",
    program: "pg",
    packages: [
      NODE,
      ...PG,
      ...react("18.3.1", "18"),
      ...trpc("10.45.4", "react-query"),
      "@tanstack/react-query@4.36.1",
      "zod@3.22.4",
    ],
    database: "postgresql",
    overrides: true,
  },
  {
    title: "React 19",
    program: "react",
    packages: [...react("19.0.0"), ...trpc("11.25.2"), "@tanstack/react-query@5.62.0"],
  },
  {
    title: "the newest React, TanStack Query, tRPC and Zod",
    program: "react",
    packages: [
      ...react("19.3.1", "19.3"),
      ...trpc("11.25.2"),
      "@tanstack/react-query@5.108.4",
      "zod@4.6.7",
    ],
  },
  {
    title: "the oldest uPlot",
    program: "admin",
    packages: [
      NODE,
      ...react("18.0.0", "18.0"),
      "@types/react-dom@18.0",
      ...trpc("11.0.0"),
      "uplot@1.6.32",
    ],
    isDaily: true,
  },
  ...["0.28.0", "0.29.9"].map((version) => ({
    title: `Kysely ${version}`,
    program: "kysely",
    packages: [NODE, ...PG, `kysely@${version}`],
    database: "postgresql" as const,
  })),
  ...["0.38.0", "0.45.4"].map((version) => ({
    title: `Drizzle ${version}`,
    program: "drizzle",
    packages: [NODE, `drizzle-orm@${version}`, "postgres@3.4.9"],
    database: "postgresql" as const,
  })),
  ...["6.6.0", "6.12.0"].map((version) => ({
    title: `Prisma ${version}, its Rust engine as WebAssembly`,
    program: "prisma",
    packages: [
      NODE,
      ...PG,
      "--ignore-scripts",
      ...["prisma", "@prisma/client", "@prisma/adapter-pg"].map((name) => `${name}@${version}`),
    ],
    database: "postgresql" as const,
    generates: true,
  })),
  ...["4.0.0", "4.13.19"].map((version) => ({
    title: `Hono ${version}`,
    program: "hono",
    packages: [`hono@${version}`],
  })),
  ...["1.3.0", "1.10.0"].map((version) => ({
    title: `OpenTelemetry ${version}`,
    program: "otel",
    packages: [`@opentelemetry/api@${version}`],
  })),
];
