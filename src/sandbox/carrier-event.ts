/** What the carrier saw, in its own words: one line of its log. */
export type CarrierEvent =
  | { readonly type: "invited"; readonly sipCallId: string; readonly number: string; readonly from: string }
  | { readonly type: "answered"; readonly sipCallId: string; readonly number: string }
  | { readonly type: "over"; readonly sipCallId: string; readonly number: string; readonly how: string };
