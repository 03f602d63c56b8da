import { Part } from "./part.js";

export default function Playground() {
  return (
    <Part title="Playground" lead="">
      <p>Soon.</p>
    </Part>
  );
}
