/** Cleans up after each file of tests that share a document. */
import { cleanup } from "@testing-library/react";
import { afterAll } from "vitest";

afterAll(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
