package pg

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/tidwall/btree"

	"coffer/api/service/store"
)

// treeDegree is that of the trees of what a transaction writes.
const treeDegree = 8

type writes = btree.Map[string, []byte] // a nil value is a deletion

// tx is a transaction on one connection. What it writes stays in memory until the commit, where it is one statement.
type tx struct {
	conn   *pgxpool.Conn
	life   context.Context // ends when the store closes or, for a snapshot, when its time is over
	opened bool
	begin  []string // statements before the first
	writes map[string]*writes
	ahead  map[string]map[string][]byte // sealed records that were fetched, by bucket and key, nil for none
	err    error
	done   bool
}

// fail keeps the first error, which is what the transaction returns.
func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Err implements store.Tx.
func (t *tx) Err() error { return t.err }

// Bucket implements store.Tx.
func (t *tx) Bucket(name string) store.Bucket { return bucket{t: t, name: name} }

// ask sends a statement, behind what begins the transaction if nothing was sent yet: both are one way to the server.
func (t *tx) ask(read func(pgx.Rows) error, sql string, args ...any) error {
	if t.done {
		return errors.New("the transaction has ended")
	}
	ctx, cancel := context.WithTimeout(t.life, statementWithin)
	defer cancel()
	if t.opened {
		rows, err := t.conn.Query(ctx, sql, args...)
		if err == nil {
			err = read(rows)
		}
		return explain(err)
	}
	b := &pgx.Batch{}
	for _, s := range t.begin {
		b.Queue(s)
	}
	b.Queue(sql, args...)
	all := t.conn.SendBatch(ctx, b)
	var err error
	for range t.begin {
		if err == nil {
			_, err = all.Exec()
		}
	}
	if err == nil {
		var rows pgx.Rows
		if rows, err = all.Query(); err == nil {
			err = read(rows)
		}
	}
	if closed := all.Close(); err == nil {
		err = closed
	}
	t.opened = err == nil
	return explain(err)
}

// sound reports whether an open transaction can go on, and be committed.
func (t *tx) sound() bool {
	return !t.conn.Conn().IsClosed() && t.conn.Conn().PgConn().TxStatus() == 'T'
}

// end gives the connection back. What was not committed is undone; a connection on which that fails is closed.
func (t *tx) end() {
	if t.done {
		return
	}
	t.done = true
	if !t.conn.Conn().IsClosed() && t.conn.Conn().PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), connectWithin)
		_, _ = t.conn.Exec(ctx, "rollback") // Release closes what is not idle
		cancel()
	}
	t.conn.Release()
}

type bucket struct {
	t      *tx
	name   string
	report func(error)
}

// Reporting implements store.Bucket. A server that cannot be reached ends the transaction all the same.
func (b bucket) Reporting(report func(error)) store.Bucket {
	b.report = report
	return b
}

func (b bucket) damaged(key []byte) {
	err := &store.DamageError{Bucket: b.name, Key: bytes.Clone(key)}
	if b.report != nil {
		b.report(err)
		return
	}
	b.t.fail(err)
}

// Get implements store.Bucket.
func (b bucket) Get(key []byte) []byte {
	if m := b.t.writes[b.name]; m != nil {
		if v, ok := m.Get(string(key)); ok {
			return bytes.Clone(v)
		}
	}
	if b.t.err != nil || len(key) == 0 {
		return nil
	}
	sealed, fetched := b.t.ahead[b.name][string(key)]
	if !fetched {
		err := b.t.ask(func(rows pgx.Rows) error {
			one, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
			if len(one) == 1 {
				sealed = one[0]
			}
			return err
		}, `select value from coffer_record where bucket = $1 and key = $2`, b.name, key)
		if err != nil {
			b.t.fail(err)
			return nil
		}
	}
	sealed = bytes.Clone(sealed) // what was fetched stays, and the value is the caller's
	if sealed == nil {
		return nil
	}
	v, ok := store.Unseal(b.name, key, sealed)
	if !ok {
		b.damaged(key)
		return nil
	}
	if v == nil {
		v = []byte{}
	}
	return v
}

// Fetch implements store.Ahead. The transaction sees one version, or has the lock of writers: what is fetched stays so.
func (t *tx) Fetch(name string, keys [][]byte) {
	if t.err != nil || len(keys) == 0 {
		return
	}
	found := make(map[string][]byte, len(keys))
	for _, k := range keys {
		found[string(k)] = nil
	}
	err := t.ask(func(rows pgx.Rows) error {
		var k, v []byte
		_, err := pgx.ForEachRow(rows, []any{&k, &v}, func() error {
			found[string(k)] = bytes.Clone(v)
			return nil
		})
		return err
	}, `select key, value from coffer_record where bucket = $1 and key = any($2)`, name, keys)
	if err != nil {
		t.fail(err)
		return
	}
	if t.ahead == nil {
		t.ahead = map[string]map[string][]byte{}
	}
	t.ahead[name] = found
}

func (b bucket) write(key, value []byte) error {
	switch {
	case b.t.writes == nil || b.t.done:
		return store.ErrReadOnly
	case b.name == "":
		return store.ErrBucketName
	}
	m := b.t.writes[b.name]
	if m == nil {
		m = btree.NewMap[string, []byte](treeDegree)
		b.t.writes[b.name] = m
	}
	m.Set(string(key), value)
	return nil
}

// Put implements store.Bucket.
func (b bucket) Put(key, value []byte) error {
	if b.t.writes != nil && b.name != "" && (len(key) == 0 || len(key) > store.MaxKey) {
		return store.ErrKey
	}
	return b.write(key, append([]byte{}, value...))
}

// Delete implements store.Bucket.
func (b bucket) Delete(key []byte) error { return b.write(key, nil) }

// Ascend implements store.Bucket.
func (b bucket) Ascend(from []byte, fn func(k, v []byte) bool) { b.scan(from, false, fn) }

// Descend implements store.Bucket.
func (b bucket) Descend(from []byte, fn func(k, v []byte) bool) { b.scan(from, true, fn) }

type entry struct{ k, v []byte } // v is nil for a deletion

// Rows of a page of a scan: few at first, as most scans want one.
const (
	firstPage = 4
	lastPage  = 512
)

// scan merges pages of the table with what this transaction has written.
func (b bucket) scan(from []byte, down bool, fn func(k, v []byte) bool) {
	before := func(x, y []byte) bool { return bytes.Compare(x, y) < 0 != down && !bytes.Equal(x, y) }
	mine := b.written(from, down)
	emit := func(e entry) bool { return e.v == nil || fn(e.k, e.v) }
	for size, inclusive, more := firstPage, true, true; more; size = min(8*size, lastPage) {
		rows, err := b.page(from, inclusive, down, size)
		if err != nil {
			b.t.fail(err)
			return
		}
		more, inclusive = len(rows) == size, false
		for _, e := range rows {
			for len(mine) > 0 && before(mine[0].k, e.k) {
				if !emit(mine[0]) {
					return
				}
				mine = mine[1:]
			}
			from = e.k
			if len(mine) > 0 && bytes.Equal(mine[0].k, e.k) {
				e, mine = mine[0], mine[1:]
			} else if v, ok := store.Unseal(b.name, e.k, e.v); ok {
				e.v = append([]byte{}, v...)
			} else {
				b.damaged(e.k)
				continue
			}
			if !emit(e) {
				return
			}
		}
	}
	for _, e := range mine {
		if !emit(e) {
			return
		}
	}
}

// written are the entries of a scan that this transaction has written.
func (b bucket) written(from []byte, down bool) (mine []entry) {
	m := b.t.writes[b.name]
	if m == nil {
		return nil
	}
	collect := func(k string, v []byte) bool {
		mine = append(mine, entry{[]byte(k), v})
		return true
	}
	switch {
	case down && from == nil:
		m.Reverse(collect)
	case down:
		m.Descend(string(from), collect)
	default:
		m.Ascend(string(from), collect)
	}
	return mine
}

// page reads entries of the table from a key on, or behind it.
func (b bucket) page(from []byte, inclusive, down bool, size int) (out []entry, err error) {
	if b.t.err != nil {
		return nil, b.t.err
	}
	sql, args := `select key, value from coffer_record where bucket = $1`, []any{b.name, size}
	op, order := ">", " order by key asc"
	if down {
		op, order = "<", " order by key desc"
	}
	if inclusive {
		op += "="
	}
	if from != nil {
		sql, args = sql+" and key "+op+" $3", append(args, from)
	}
	err = b.t.ask(func(rows pgx.Rows) (err error) {
		out, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (e entry, err error) {
			err = r.Scan(&e.k, &e.v)
			return e, err
		})
		return err
	}, sql+order+" limit $2", args...)
	return out, err
}

// written is what a transaction puts and deletes, sealed, in columns.
type written struct{ puts, gone columns }

type columns struct {
	b    []string
	k, v [][]byte
}

// written collects what the transaction has written.
func (t *tx) written() *written {
	w := &written{}
	for name, m := range t.writes {
		m.Scan(func(k string, v []byte) bool {
			if v == nil {
				w.gone.b, w.gone.k = append(w.gone.b, name), append(w.gone.k, []byte(k))
				return true
			}
			w.puts.b, w.puts.k = append(w.puts.b, name), append(w.puts.k, []byte(k))
			w.puts.v = append(w.puts.v, store.Seal(name, []byte(k), v))
			return true
		})
	}
	return w
}

// flush sends what was written, as a commit of that number, and returns the number of the table that has it.
func (t *tx) flush(ctx context.Context, c *claim, number int64) (table string, err error) {
	w, b := t.written(), &pgx.Batch{}
	b.Queue(`select 'coffer_record'::regclass::oid::text`).QueryRow(func(r pgx.Row) error { return r.Scan(&table) })
	b.Queue(c.mark(), c.number, number).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != 1 {
			return c.taken()
		}
		return nil
	})
	if c.shared != nil {
		b.Queue(`select pg_notify($1, $2)`, c.channel(), c.word(slices.Collect(maps.Keys(t.writes)))).Exec(ignore)
	}
	if len(w.gone.k) > 0 {
		b.Queue(`delete from coffer_record r using unnest($1::text[], $2::bytea[]) u(b, k) `+
			`where r.bucket = u.b and r.key = u.k`, w.gone.b, w.gone.k).Exec(ignore)
	}
	if len(w.puts.k) > 0 {
		b.Queue(`insert into coffer_record select * from unnest($1::text[], $2::bytea[], $3::bytea[]) `+
			`on conflict (bucket, key) do update set value = excluded.value`, w.puts.b, w.puts.k, w.puts.v).
			Exec(ignore)
	}
	return table, t.conn.SendBatch(ctx, b).Close()
}

// ignore is what is done with the answer to a statement without rows.
func ignore(pgconn.CommandTag) error { return nil }
