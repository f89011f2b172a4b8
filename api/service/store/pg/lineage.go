package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"coffer/api/service/store"
)

// ErrOlder says that the address leads to another server, timeline or copy of the records than when the database was
// opened. Commits may be lost, and what this process has in memory is out of date.
var ErrOlder error = lostError("the database is not the one that was opened: a standby was promoted, or a backup " +
	"restored, and what was written last may be missing. This process writes nothing more: end it and start it again")

// lineageQuery names the server, the timeline of its log, the database and its table of records. A promoted standby,
// and a server that was brought back to a moment, write another timeline; a dump makes another table. A standby has
// none.
const lineageQuery = `select case when not pg_is_in_recovery() then
	(select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
	|| '/' || (select oid from pg_database where datname = current_database()) || '/' ||
	'coffer_record'::regclass::oid end`

func lineageOf(ctx context.Context, c *pgx.Conn) (string, error) {
	var at *string
	if err := c.QueryRow(ctx, lineageQuery).Scan(&at); err != nil {
		return "", explain(err)
	}
	if at == nil {
		return "", fmt.Errorf("%w: it is a standby, which only reads", store.ErrAway)
	}
	return *at, nil
}

// follows demands that a new connection leads to what was opened.
func (c *claim) follows(ctx context.Context, conn *pgx.Conn) error {
	at, err := lineageOf(ctx, conn)
	if err == nil && at != c.lineage {
		c.give(ErrOlder)
		err = ErrOlder
	}
	return err
}

// Lineage names the server, its timeline and the table that the records are in: it differs once they are those of a
// promoted standby or of a restored backup, which may lack commits.
func (s *Store) Lineage() string { return s.claim.lineage }
