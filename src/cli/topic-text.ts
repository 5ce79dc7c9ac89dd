/** A piece of help: prose, a table of terms, or lines to be shown as they are. */
export type TopicPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "terms"; readonly terms: readonly (readonly [term: string, meaning: string])[] }
  | { readonly type: "code"; readonly lines: readonly string[] };

export type TopicText = readonly TopicPart[];

export function text(words: string): TopicPart {
  return { type: "text", text: words };
}

export function terms(...list: readonly (readonly [term: string, meaning: string])[]): TopicPart {
  return { type: "terms", terms: list };
}

export function code(...lines: readonly string[]): TopicPart {
  return { type: "code", lines };
}
