/** Says how to install the package before its first release. Shows nothing from the first release on. */
import "./unreleased.css";

/** The version in package.json before the first release. */
const NONE = "0.0.0";

/** @param version @default the version in package.json when the page was built */
export function Unreleased({ version = String(import.meta.env["VITE_VERSION"]) }) {
  if (version !== NONE) return null;
  return (
    <p className="unreleased">
      <span>Not on npm yet. Today: clone the repository, run </span>
      <code>npm ci && npm pack</code>
      <span> there, and install the file that it makes.</span>
    </p>
  );
}
