/** Files of tests that share a document leave it as they found it. */
import { cleanup } from "@testing-library/react";
import { afterAll } from "vitest";

afterAll(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
