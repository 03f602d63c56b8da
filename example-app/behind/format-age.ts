/** How long ago something was, in its largest unit: "5 s ago", and from two days on "3 d ago". */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours === 0) return `${minutes} min ago`;
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}
