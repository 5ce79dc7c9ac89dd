import { version } from "#host";

/** The version of this installation. */
export function outdialVersion(): string {
  return version;
}
