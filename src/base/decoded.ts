/** Input from outside, read: either the value, or where it is wrong and what would be accepted. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

export interface Problem {
  /** Path into the input, e.g. `contacts[17].phone`; empty for the whole. */
  readonly where: string;
  /** One sentence: what is wrong and what would be accepted. */
  readonly message: string;
  /** 1-based position in a text file, when there is one. */
  readonly line?: number;
  readonly column?: number;
}

export function accept<T>(value: T): Decoded<T> {
  return { ok: true, value };
}

export function reject(
  where: string,
  message: string,
  position: { line?: number; column?: number } = {},
): Decoded<never> {
  return { ok: false, problem: { where, message, ...position } };
}
