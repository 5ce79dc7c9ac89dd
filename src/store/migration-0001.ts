/** The first schema. Published: never changed, only followed by another migration. */
export const migration0001: readonly string[] = [
  `create table accounts (
    id text primary key,
    name text not null unique,
    timezone text not null,
    created_at bigint not null
  )`,
  `create table tokens (
    id text primary key,
    account_id text not null references accounts (id),
    name text not null,
    prefix text not null unique,
    secret_hash text not null,
    created_at bigint not null,
    expires_at bigint not null,
    unique (account_id, name)
  )`,
  `create table playbooks (
    id text primary key,
    account_id text not null references accounts (id),
    name text not null,
    settings text not null,
    source text not null,
    production_version_id text,
    created_at bigint not null,
    updated_at bigint not null,
    unique (account_id, name)
  )`,
  `create table versions (
    id text primary key,
    playbook_id text not null references playbooks (id),
    message text not null,
    settings text not null,
    source text not null,
    created_at bigint not null
  )`,
  `create index versions_of_playbook on versions (playbook_id, created_at, id)`,
  `create table trunks (
    id text primary key,
    account_id text not null references accounts (id),
    name text not null,
    kind text not null,
    host text not null,
    port integer not null,
    username text,
    password_ref text,
    caller_id text not null,
    codecs text not null,
    max_calls integer not null,
    calls_per_second double precision not null,
    is_default integer not null,
    created_at bigint not null,
    unique (account_id, name)
  )`,
  `create table contacts (
    id text primary key,
    account_id text not null references accounts (id),
    phone text not null,
    fields text not null,
    custom_fields text not null,
    created_at bigint not null,
    updated_at bigint not null,
    unique (account_id, phone)
  )`,
  `create table suppressions (
    account_id text not null references accounts (id),
    phone text not null,
    reason text not null,
    created_at bigint not null,
    primary key (account_id, phone)
  )`,
  `create table idempotency (
    account_id text not null references accounts (id),
    key text not null,
    body_hash text not null,
    status integer not null,
    answer text not null,
    campaign_id text not null,
    created_at bigint not null,
    primary key (account_id, key)
  )`,
  `create index idempotency_by_age on idempotency (created_at)`,
  `create table campaigns (
    id text primary key,
    account_id text not null references accounts (id),
    playbook_id text not null references playbooks (id),
    version_id text,
    name text not null,
    launch_at bigint not null,
    recall_min text not null,
    max_concurrent integer,
    trunk_id text,
    status text not null,
    total integer not null,
    created_at bigint not null
  )`,
  `create index campaigns_of_account on campaigns (account_id, created_at, id)`,
  `create index campaigns_by_status on campaigns (status)`,
  `create table lanes (
    id integer primary key,
    account_id text not null references accounts (id),
    campaign_id text not null,
    trunk_id text not null,
    unique (campaign_id, account_id, trunk_id)
  )`,
  `create table calls (
    id text primary key,
    account_id text not null references accounts (id),
    playbook_id text not null references playbooks (id),
    version_id text,
    campaign_id text references campaigns (id),
    contact_id text,
    trunk_id text,
    lane_id integer not null,
    to_number text not null,
    from_number text not null,
    state text not null,
    outcome text,
    params text not null,
    options text not null,
    recall_min text not null,
    timezone text,
    recall_from bigint not null,
    due_at bigint,
    attempts integer not null,
    duration_s integer not null,
    success integer not null,
    summary text not null,
    output text not null,
    turns text not null,
    recording text,
    created_at bigint not null
  )`,
  // One queue a lane, so that pausing a campaign rewrites no call. The number is in it for "one call per number".
  `create index calls_due on calls (lane_id, due_at, id, to_number) where due_at is not null`,
  `create index calls_of_account on calls (account_id, created_at, id)`,
  `create index calls_by_state on calls (account_id, state, created_at, id)`,
  `create index calls_of_playbook on calls (account_id, playbook_id, created_at, id)`,
  `create index calls_of_campaign on calls (campaign_id, created_at, id)`,
  `create index calls_by_number on calls (account_id, to_number, created_at, id)`,
  `create table attempts (
    call_id text not null references calls (id),
    n integer not null,
    state text not null,
    owner text not null,
    sip_call_id text,
    dialog text,
    started_at bigint not null,
    ringing_at bigint,
    answered_at bigint,
    ended_at bigint,
    outcome text,
    recording text,
    evidence text not null,
    primary key (call_id, n)
  )`,
  `create index attempts_open on attempts (call_id) where ended_at is null`,
  // How many calls are in which state, for each campaign and (campaign_id '') for single calls: nothing ever counts rows.
  `create table call_counts (
    campaign_id text not null,
    state text not null,
    n integer not null,
    primary key (campaign_id, state)
  ) without rowid`,
  `create trigger count_new_call after insert on calls begin
    insert into call_counts (campaign_id, state, n) values (coalesce(new.campaign_id, ''), new.state, 1)
      on conflict (campaign_id, state) do update set n = n + 1;
  end`,
  `create trigger count_call_step after update of state on calls when old.state <> new.state begin
    update call_counts set n = n - 1 where campaign_id = coalesce(old.campaign_id, '') and state = old.state;
    insert into call_counts (campaign_id, state, n) values (coalesce(new.campaign_id, ''), new.state, 1)
      on conflict (campaign_id, state) do update set n = n + 1;
  end`,
  `create trigger count_gone_call after delete on calls begin
    update call_counts set n = n - 1 where campaign_id = coalesce(old.campaign_id, '') and state = old.state;
  end`,
];
