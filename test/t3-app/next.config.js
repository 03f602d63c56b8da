import "./src/env.js";

/** @type {import("next").NextConfig} */
const config = {
  // The folders above have a package-lock.json, too.
  outputFileTracingRoot: import.meta.dirname,
};

export default config;
