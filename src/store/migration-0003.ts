/** What was on the wire in each attempt, without secrets: written once, at its end. */
export const migration0003: readonly string[] = [
  `create table sip_traces (
    call_id text not null references calls (id),
    n integer not null,
    seq integer not null,
    at bigint not null,
    direction text not null,
    transport text not null,
    local text not null,
    remote text not null,
    message text not null,
    size_bytes integer not null,
    primary key (call_id, n, seq)
  )`,
];
