package service

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api/service/quotestore"
	"coffer/api/service/store"
)

// TimelineFile is the name of the file beside an operator's database that says which database it is, and how often it
// was opened. A database that was put there from a backup is behind it.
const TimelineFile = "timeline.json"

// CodeBehind is the code of the alert in the log: the records are older than the chains, or may be, and are read from
// the chains again.
const CodeBehind = "STORE_BEHIND"

const bucketTimeline = "timeline"

var keyTimeline = []byte("timeline")

// timeline is what a database and the file beside it say of it. Dir is where the database was opened last, Server what
// its server said of itself (pg.Store.Lineage).
type timeline struct {
	ID     string `json:"id"`
	Opened uint64 `json:"opened"`
	Dir    string `json:"dir,omitzero"`
	Server string `json:"server,omitzero"`
}

// behind says why a database is not what was written last in a directory, "" when nothing says so. A process that
// ended between the two writes left the database ahead.
func (t timeline) behind(file *timeline, dir, server string) string {
	// a database of PostgreSQL that is the one of before is opened from several directories in turn
	same := server != "" && server == t.Server
	switch {
	case t.ID == "" || same && file == nil:
		return ""
	case file == nil:
		return "the database was put into " + dir + " without " + TimelineFile
	case file.ID != t.ID:
		return "the database in " + dir + " is another one than before"
	case file.Opened > t.Opened:
		return fmt.Sprintf("the database in %s is an older copy: it was opened %d times, and %d times before", dir,
			t.Opened, file.Opened)
	case differs(t.Server, server) || t.Server == "" && differs(file.Server, server): // else who came first noticed
		return "the database is on another server or timeline than before, or was made anew: a standby was promoted, " +
			"or a backup restored"
	case t.Dir != dir && !same:
		return "the database was in " + t.Dir + " before, and is now in " + dir + ": it was moved or copied"
	}
	return ""
}

func differs(before, now string) bool { return before != "" && now != "" && before != now }

// follow compares the database of an operator with what was there before, and begins an epoch where it is an older one
// or a copy.
func (s *Service) follow() error {
	o := s.opts
	if !o.Operator || o.Dir == "" {
		return nil
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("service: %w", err)
	}
	path := filepath.Join(dir, TimelineFile)
	file, err := readTimeline(path)
	if err != nil {
		return fmt.Errorf("service: %w", err)
	}
	var now timeline
	why, server := "", ""
	if s, is := o.Store.(interface{ Lineage() string }); is {
		server = s.Lineage()
	}
	err = o.Store.Update(func(tx store.Tx) error {
		b := tx.Bucket(bucketTimeline)
		if raw := b.Get(keyTimeline); raw != nil {
			if err := json.Unmarshal(raw, &now); err != nil {
				return err
			}
		}
		if why = now.behind(file, dir, server); why != "" {
			if err := quotestore.BeginEpoch(tx, o.Clock(), why); err != nil {
				return err
			}
		}
		if now.ID == "" {
			var id [16]byte
			if _, err := io.ReadFull(o.Random, id[:]); err != nil {
				return err
			}
			now.ID = hex.EncodeToString(id[:])
		}
		now.Opened++
		if file != nil && file.ID == now.ID {
			now.Opened = max(now.Opened, file.Opened+1)
		}
		now.Dir, now.Server = dir, server
		raw, err := json.Marshal(now)
		return errors.Join(err, b.Put(keyTimeline, raw))
	})
	if err != nil {
		return fmt.Errorf("service: compare the database with %s: %w", path, err)
	}
	if why != "" {
		o.Log.Error("the records of this service may be older than the chains: every open payment is read from the "+
			"chains before anything is sent for it", "code", CodeBehind, "why", why)
	}
	now.Dir = ""
	raw, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("service: %w", err)
	}
	return writeFile(path, append(raw, '\n'))
}

// readTimeline is nil where there is no file. One that cannot be read is that of no database.
func readTimeline(path string) (*timeline, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t := new(timeline)
	if err := json.Unmarshal(bytes.TrimSpace(raw), t); err != nil {
		return &timeline{}, nil //nolint:nilerr // what it says is of another database then
	}
	return t, nil
}

// incident is how long after the first chain the others may show that the store is behind them: a chain's blocks take
// their time to become final.
const incident = 30 * time.Minute

// behind is told by a lane that the store is behind its chain. What several chains show after an opening is one epoch.
func (s *Service) behind() func(tx store.Tx, why string) error {
	if !s.opts.Operator {
		return nil
	}
	opened := s.opts.Clock()
	return func(tx store.Tx, why string) error {
		since := s.opts.Clock().Add(-incident)
		if since.Before(opened) {
			since = opened
		}
		return quotestore.BeginEpochSince(tx, since, s.opts.Clock(), why)
	}
}
