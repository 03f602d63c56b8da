import { Part } from "./part.js";

export default function Behind() {
  return (
    <Part title="Behind it" lead="">
      <p>Soon.</p>
    </Part>
  );
}
