import { Type, type Static } from "typebox";

export const providerView = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  address: Type.String({ description: "Base URL, or host" }),
  key: Type.Union([Type.String(), Type.Null()], {
    description: "Where its key is kept; null: it wants none",
  }),
  roles: Type.Array(Type.String(), { description: "As human.brain or fast.fallback.ears" }),
});
export type ProviderView = Static<typeof providerView>;

export const providerCheck = Type.Object({
  role: Type.String(),
  model: Type.String(),
  ok: Type.Boolean(),
  first_ms: Type.Union([Type.Number(), Type.Null()], {
    description: "To the first token, the first audio or the final text",
  }),
  total_ms: Type.Union([Type.Number(), Type.Null()]),
  problem: Type.Optional(Type.String()),
});
export type ProviderCheck = Static<typeof providerCheck>;
