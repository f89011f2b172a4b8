package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"coffer/api/service/store"
)

// ErrNotEmpty says that a database has records already, which an import would mix with its own.
var ErrNotEmpty = errors.New("the database has records already: name an empty one")

// Import copies records into an empty database, all in one commit. Each hands every one of them to its function, which
// must not keep them.
func Import(ctx context.Context, a *Address, o Options,
	each func(func(bucket string, key, value []byte) error) error) error {
	s, err := Open(ctx, a, o)
	if err != nil {
		return err
	}
	err = s.load(ctx, each)
	return errors.Join(err, s.Close())
}

// load streams records into the table.
func (s *Store) load(ctx context.Context, each func(func(bucket string, key, value []byte) error) error) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return explain(err)
	}
	defer c.Release()
	if _, err := c.Exec(ctx, "set statement_timeout = 0"); err != nil { // a copy may take long
		return explain(err)
	}
	defer func() { _, _ = c.Exec(ctx, "reset statement_timeout") }()
	var read error
	err = pgx.BeginFunc(ctx, c, func(t pgx.Tx) error {
		var some bool
		if _, err := t.Exec(ctx, s.claim.writeLock()); err != nil {
			return err
		}
		if err := t.QueryRow(ctx, `select exists (select from coffer_record)`).Scan(&some); err != nil {
			return err
		}
		if some {
			read = ErrNotEmpty
			return read
		}
		rows := newRows(each)
		_, err := t.CopyFrom(ctx, pgx.Identifier{"coffer_record"}, []string{"bucket", "key", "value"}, rows)
		read = rows.stop()
		return errors.Join(read, err)
	})
	if read != nil {
		return read
	}
	return explain(err)
}

// rows hands records from a function that calls to one that asks.
type rows struct {
	next func() ([]any, bool)
	end  func()
	now  []any
	err  error
}

var errStopped = errors.New("nobody reads on")

func newRows(each func(func(bucket string, key, value []byte) error) error) *rows {
	r := &rows{}
	r.next, r.end = iter.Pull(func(yield func([]any) bool) {
		r.err = each(func(bucket string, key, value []byte) error {
			if !yield([]any{bucket, bytes.Clone(key), store.Seal(bucket, key, value)}) {
				return errStopped
			}
			return nil
		})
	})
	return r
}

// Next implements pgx.CopyFromSource.
func (r *rows) Next() (more bool) {
	r.now, more = r.next()
	return more
}

// Values implements pgx.CopyFromSource.
func (r *rows) Values() ([]any, error) { return r.now, nil }

// Err implements pgx.CopyFromSource: a reader that failed ends the copy.
func (r *rows) Err() error { return r.err }

// stop ends the reader and returns its error.
func (r *rows) stop() error {
	r.end()
	if errors.Is(r.err, errStopped) {
		return nil
	}
	return r.err
}

// Export hands every record of a database to fn as they are at one moment, in the order of their buckets and keys. A
// service that runs there goes on meanwhile. A damaged record ends it.
func Export(ctx context.Context, a *Address, fn func(bucket string, key, value []byte) error) error {
	config := a.config.ConnConfig.Copy()
	config.RuntimeParams["statement_timeout"] = "0"
	session, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return explain(err)
	}
	defer func() { _ = session.Close(context.WithoutCancel(ctx)) }()
	var version *int
	err = session.QueryRow(ctx, `select case when to_regclass('coffer_schema') is null then null else 1 end`).
		Scan(&version)
	if err != nil {
		return explain(err)
	}
	if version == nil {
		return fmt.Errorf("%w: it has no records of a service", ErrServer)
	}
	rows, err := session.Query(ctx, `select bucket, key, value from coffer_record order by bucket, key`)
	if err != nil {
		return explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var bucket string
		var key, sealed []byte
		if err := rows.Scan(&bucket, &key, &sealed); err != nil {
			return explain(err)
		}
		value, ok := store.Unseal(bucket, key, sealed)
		if !ok {
			return &store.DamageError{Bucket: bucket, Key: key}
		}
		if err := fn(bucket, key, value); err != nil {
			return err
		}
	}
	return explain(rows.Err())
}

// Size is the size of the records in bytes, as the server keeps them.
func (s *Store) Size() (bytes int64, err error) {
	ctx, cancel := context.WithTimeout(s.life, connectWithin)
	defer cancel()
	err = s.pool.QueryRow(ctx, `select pg_total_relation_size('coffer_record')`).Scan(&bytes)
	return bytes, explain(err)
}
