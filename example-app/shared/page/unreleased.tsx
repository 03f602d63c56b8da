/** What to do until npm has the package. It goes away with the first release. */
import "./unreleased.css";

/** Of package.json, where no version has been released yet. */
const NONE = "0.0.0";

/** @param version @default that of package.json when the page was built */
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
