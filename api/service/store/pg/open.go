package pg

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"coffer/api/service/store"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations are applied in the order of their names, each once, in one transaction. They are never changed.
var migrations fs.FS = embedded

// oldest is the least version of the server: pg_xact_status and xid8 are there.
const oldest = 130000

// openWithin bounds the checks and migrations of Open.
const openWithin = time.Minute

// Open opens the database of an address for this process alone, and makes its tables when there are none. While another
// process serves from it the error is a *BusyError.
func Open(ctx context.Context, a *Address, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin+o.Wait)
	defer cancel()
	session, err := pgx.ConnectConfig(ctx, a.config.ConnConfig.Copy())
	if err != nil {
		return nil, explain(err)
	}
	c := &claim{config: a.config.ConnConfig, log: o.Log, money: o.Money,
		look: cmp.Or(o.Look, time.Minute)}
	if o.Shared {
		c.shared = newSharing()
	}
	c.lost, c.lose = context.WithCancelCause(context.Background())
	if err := prepare(ctx, session, o, c); err != nil {
		return nil, errors.Join(err, session.Close(ctx))
	}
	config := a.config.Copy()
	config.MaxConns = maxConnections
	if o.Shared {
		config.MaxConns += maxLocks
		config.ConnConfig.RuntimeParams["application_name"] += c.tag(c.number)
	}
	config.MaxConnLifetimeJitter = time.Minute
	config.AfterConnect = c.follows
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, errors.Join(explain(err), session.Close(ctx))
	}
	s := &Store{pool: pool, claim: c, log: o.Log, snapshots: make(chan struct{}, maxSnapshots),
		further: make(chan struct{}, maxFurther), locks: make(chan struct{}, maxLocks)}
	s.life, s.end = context.WithCancel(context.Background())
	c.tell = func(err error) {
		if err == nil {
			s.trouble.Store(nil)
			return
		}
		_ = s.note(err)
	}
	c.hold(session)
	return s, nil
}

// prepare checks the server, brings its tables to this version and makes the claim.
func prepare(ctx context.Context, session *pgx.Conn, o Options, c *claim) error {
	err := checkServer(ctx, session)
	if err == nil {
		err = checkClock(ctx, session, o.Clock)
	}
	if err == nil && o.Money {
		err = checkStandbys(ctx, session)
	}
	if err != nil {
		return err
	}
	err = session.QueryRow(ctx, `select oid from pg_namespace where nspname = current_schema()`).Scan(&c.schema)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%w: it has no schema to keep tables in: `create schema NAME authorization ROLE`, and "+
			"?search_path=NAME in the address", ErrRole)
	}
	if err != nil {
		return explain(err)
	}
	turn := c.alone
	if o.Shared {
		turn = c.begin
	}
	if err := c.wait(ctx, session, o.Wait, turn); err != nil {
		return err
	}
	if err := c.take(ctx, session, o); err != nil {
		return err
	}
	c.lineage, err = lineageOf(ctx, session)
	return err
}

// alone becomes the only process that serves, and then brings the tables to this version.
func (c *claim) alone(ctx context.Context, session *pgx.Conn) (mine bool, err error) {
	if mine, err = c.lock(ctx, session); mine {
		err = migrate(ctx, session, c)
	}
	return mine, err
}

// checkServer refuses a server that cannot keep the promise of a store.
func checkServer(ctx context.Context, session *pgx.Conn) error {
	var version, fsync, commits, encoding string
	var number int
	var pid uint32
	var standby bool
	err := session.QueryRow(ctx, `select version(), current_setting('server_version_num')::int, pg_backend_pid(),
		pg_is_in_recovery(), current_setting('fsync'), current_setting('synchronous_commit'),
		current_setting('server_encoding')`).Scan(&version, &number, &pid, &standby, &fsync, &commits, &encoding)
	switch {
	case err != nil:
		return explain(err)
	case !strings.HasPrefix(version, "PostgreSQL "):
		return fmt.Errorf("%w: it is no PostgreSQL (%.60q)", ErrServer, version)
	case number < oldest:
		return fmt.Errorf("%w: it is PostgreSQL %d, and 13 or later is needed", ErrServer, number/10000)
	case pid != session.PgConn().PID():
		return fmt.Errorf("%w: %w", ErrServer, errPooler)
	case standby:
		return fmt.Errorf("%w: it is a standby, which only reads: name the primary server", ErrServer)
	case fsync != "on":
		return fmt.Errorf("%w: fsync is off there, so it loses commits when its machine stops: "+
			"alter system set fsync = on", ErrServer)
	case commits == "off":
		return fmt.Errorf("%w: synchronous_commit is off there, so it forgets commits that it has confirmed: "+
			"alter system set synchronous_commit = on", ErrServer)
	case encoding != "UTF8":
		return fmt.Errorf("%w: the encoding of the database is %s: createdb --encoding UTF8 --template template0",
			ErrServer, encoding)
	}
	return nil
}

// checkClock refuses to work with a clock that is not the server's. A process that takes the place of one whose clock
// was ahead waits until its own has come there.
func checkClock(ctx context.Context, session *pgx.Conn, clock func() time.Time) error {
	var server time.Time
	before := clock()
	if err := session.QueryRow(ctx, `select clock_timestamp()`).Scan(&server); err != nil {
		return explain(err)
	}
	off, side := before.Sub(server), "ahead of"
	if after := clock(); server.After(after) {
		off, side = server.Sub(after), "behind"
	}
	if off <= store.ClocksWithin {
		return nil
	}
	return fmt.Errorf("the clock of this machine is %s %s that of the database server: set the one that is wrong, "+
		"or let both follow a time server", off.Round(time.Second), side)
}

// checkStandbys refuses a server with a standby that does not have every commit that was confirmed: after a fail-over
// to it they would be gone.
func checkStandbys(ctx context.Context, session *pgx.Conn) error {
	var standbys int
	var names, commits string
	err := session.QueryRow(ctx, `select (select count(*) from pg_stat_replication), `+
		`current_setting('synchronous_standby_names'), current_setting('synchronous_commit')`).
		Scan(&standbys, &names, &commits)
	switch {
	case err != nil:
		return explain(err)
	case standbys == 0:
		return nil
	case names == "":
		return fmt.Errorf("%w: it confirms commits that its standby may not have, and a fail-over would lose them: "+
			"alter system set synchronous_standby_names = '*'", ErrServer)
	case commits != "on" && commits != "remote_apply":
		return fmt.Errorf("%w: it confirms commits before its standby has them on disk, and a fail-over may lose "+
			"them: alter system set synchronous_commit = on", ErrServer)
	}
	return nil
}

// migrate makes the tables of this version. A database of a later one is left alone.
func migrate(ctx context.Context, session *pgx.Conn, c *claim) error {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return err
	}
	return explainOpen(pgx.BeginFunc(ctx, session, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, c.writeLock()); err != nil {
			return err
		}
		has, _, err := versions(ctx, t.Conn())
		if err == nil && has == 0 {
			_, err = t.Exec(ctx, `create table if not exists coffer_schema (version int primary key, `+
				`applied timestamptz not null default now())`)
		}
		if err != nil {
			return err
		}
		for i, f := range slices.All(files[has:]) {
			sql, err := fs.ReadFile(migrations, "migrations/"+f.Name())
			if err != nil {
				return err
			}
			if _, err := t.Exec(ctx, string(sql)); err != nil {
				return err
			}
			if _, err := t.Exec(ctx, `insert into coffer_schema (version) values ($1)`, has+i+1); err != nil {
				return err
			}
		}
		if has < len(files) { // processes of an older version must not write to them
			_, err = t.Exec(ctx, `delete from coffer_process`)
		}
		return err
	}))
}

// versions are those of the tables, 0 where there are none, and of this program. Those of a later one are an error.
func versions(ctx context.Context, session *pgx.Conn) (has, knows int, err error) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return 0, 0, err
	}
	var there bool
	err = session.QueryRow(ctx, `select to_regclass('coffer_schema') is not null`).Scan(&there)
	if err == nil && there {
		err = session.QueryRow(ctx, `select coalesce(max(version), 0) from coffer_schema`).Scan(&has)
	}
	if err == nil && has > len(files) {
		return has, len(files), fmt.Errorf("%w (tables of version %d, this one knows %d): run that version, or "+
			"restore a backup from before it", store.ErrNewer, has, len(files))
	}
	return has, len(files), err
}

// explainOpen is explain for what may be an error of this program already.
func explainOpen(err error) error {
	if errors.Is(err, store.ErrNewer) {
		return err
	}
	return explain(err)
}
