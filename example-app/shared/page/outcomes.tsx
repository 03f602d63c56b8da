/** The meaning of the dots of a race: see outcomes.css. */
import "./outcomes.css";

const MEANINGS = [
  ["granted", "granted"],
  ["over", "granted beyond the limit"],
  ["denied", "denied"],
] as const;

/** Hidden from screen readers, since each picture of dots has its own words for them. */
export function OutcomeLegend() {
  return (
    <ul className="outcomes" aria-hidden="true">
      {MEANINGS.map(([outcome, meaning]) => (
        <li key={outcome}>
          <i data-outcome={outcome} />
          <span>{meaning}</span>
        </li>
      ))}
    </ul>
  );
}
