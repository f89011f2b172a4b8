-- Where the process that serves can be reached by those that wait for their turn; '' when it does not tell.
alter table coffer_holder add column address text not null default '';
