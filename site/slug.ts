/** The anchor that GitHub gives to a heading, so that the same link works on GitHub and on the site. */
export function slugOf(heading: string): string {
  const plain = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "");
  return plain.trim().replace(/\s/g, "-");
}
