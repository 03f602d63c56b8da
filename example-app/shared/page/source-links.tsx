/** Links to the documentation and the sources. Without an address, shows the paths of the files. */
import { sourceOf } from "./code.js";

export function SourceLinks({
  links,
}: {
  links: readonly (readonly [title: string, path: string])[];
}) {
  const found = links.map(([title, path]) => ({ title, path, address: sourceOf(path) }));
  const known = found.filter(({ address }) => address !== undefined);
  const isKnown = known.length > 0;
  return (
    <ul>
      {!isKnown && <li>Open in your clone:</li>}
      {(isKnown ? known : found).map(({ title, path, address }) => (
        <li key={title}>
          {address === undefined ? <code>{path}</code> : <a href={address}>{title}</a>}
        </li>
      ))}
    </ul>
  );
}
