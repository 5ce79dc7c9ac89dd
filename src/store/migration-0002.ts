/** How each trunk wants to be spoken to, as JSON. What a row does not say is as `plainTrunkSip` has it. */
export const migration0002: readonly string[] = [
  `alter table trunks add column sip text not null default '{}'`,
];
