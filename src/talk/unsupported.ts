import type { ConversationPlan } from "./plan.ts";

/**
 * Why the conversation cannot be held without a language model, in one sentence; undefined when it can. A script or
 * an opening is enough for the embedded dialog, a prompt alone is not.
 */
export function unsupportedReason(
  plan: Pick<ConversationPlan, "settings">,
  available: { readonly dialogModel: boolean } = { dialogModel: false },
): string | undefined {
  const { opening, script, name } = plan.settings;
  if (script !== undefined || opening !== undefined || available.dialogModel) return undefined;
  return `playbook "${name}" has only a prompt, which needs a language model, and none is configured; add a script or an opening`;
}
