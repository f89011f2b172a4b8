-- Records of every bucket. A value is sealed: packed, and followed by the checksum of bucket, key and value.
create table coffer_record (
  bucket text collate "C" not null,
  key    bytea not null,
  value  bytea not null,
  primary key (bucket, key)
) with (fillfactor = 85);
alter table coffer_record alter column value set storage external;

-- The one process that serves from this database. Every commit compares the claim: who was replaced writes nothing.
create table coffer_holder (
  one    boolean primary key default true check (one),
  claim  bigint not null default 0,
  name   text not null default '',
  since  timestamptz not null default now()
);
insert into coffer_holder default values;
