-- Processes that serve from this database at the same time, each with a number that no other one gets. Who is not here
-- writes nothing.
create table coffer_process (
  number  bigint generated always as identity primary key,
  name    text not null,
  address text not null,
  since   timestamptz not null default now(),
  last    bigint not null default 0
) with (fillfactor = 50);
-- When each was last at work. A commit of it has the row above until a standby confirms.
create table coffer_seen (
  number  bigint primary key references coffer_process on delete cascade,
  at      timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
-- The number of the last commit of a process: one whose answer was lost is found by it.
alter table coffer_holder add column last bigint not null default 0;
