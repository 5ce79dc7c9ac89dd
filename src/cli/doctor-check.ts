/** What one check found. */
export interface Check {
  readonly check: string;
  /** `failed`: calls cannot work, or secrets are exposed. `warning`: something does less than it could. */
  readonly state: "ok" | "warning" | "failed" | "skipped";
  readonly finding: string;
  readonly fix?: string;
}

/** A file or directory that only its owner may read has no bits for group and others. */
export function isPrivate(mode: number): boolean {
  return (mode & 0o077) === 0;
}

/** `700`. */
export function modeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, "0");
}
