package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/service/access"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
)

// adminPath begins every path of the local socket that the open port does not have.
const adminPath = "/admin/"

// keysPath is where the local socket answers for the stored keys. The open port has no such path, and it is not below
// the base path, so that who administers need not know that.
const keysPath = adminPath + "keys"

// maxAdminBody bounds what the administration of keys reads.
const maxAdminBody = 256 << 10

// KeyAdmin makes, lists, rotates and revokes the stored keys of a data directory. What is said at the methods of
// access.Keys holds.
type KeyAdmin interface {
	Add(context.Context, access.KeySpec) (key string, info access.KeyInfo, err error)
	List(context.Context) ([]access.KeyInfo, error)
	Rotate(ctx context.Context, id string, grace time.Duration) (key string, info access.KeyInfo, err error)
	Revoke(ctx context.Context, id string) (access.KeyInfo, error)
}

// AdministerKeys calls fn with the keys of a data directory: through the local socket when a process runs the service
// there, else by opening the database itself for the time that fn takes. It tries for 3 seconds at most. A directory
// without a database is ErrNoDatabase, unless create says that one may be made; the service that starts there later has
// the keys.
func AdministerKeys(ctx context.Context, dir string, create bool, fn func(KeyAdmin) error) error {
	d, err := databaseOf(dir)
	if err = errors.Join(checkDir(dir), err); err == nil {
		err = d.check()
	}
	if err != nil {
		return err
	}
	if !d.exists() && !create {
		return fmt.Errorf("%w in %s", ErrNoDatabase, dir)
	}
	return reachStore(ctx, dir, attachWait,
		func() error {
			s, err := d.open(ctx, pg.Options{Holder: "coffer serve keys"})
			if err != nil {
				return err
			}
			return errors.Join(administer(s, fn), s.Close())
		},
		func(way *http.Transport) (bool, error) {
			keys := socketKeys{way}
			if _, unreached := keys.List(ctx); unreached != nil {
				return false, unreached
			}
			return true, fn(keys)
		})
}

// reachStore calls own, which opens the database of a data directory, or, when that is store.ErrInUse, other with the
// way to the process that holds it; other reports whether that process answered. It tries for so long at most.
func reachStore(ctx context.Context, dir string, wait time.Duration, own func() error,
	other func(*http.Transport) (bool, error)) error {
	deadline := time.Now().Add(wait)
	for {
		busy := own()
		if !errors.Is(busy, store.ErrInUse) {
			return busy
		}
		reached, err := other(socketTransport(filepath.Join(dir, SocketFile)))
		if reached || err == nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w, and it cannot be reached: %w", busy, err)
		}
		if err := pause(ctx, attachPause); err != nil {
			return err
		}
	}
}

// ErrNoDatabase says that no service ever ran in a data directory.
var ErrNoDatabase = errors.New("there is no database")

func administer(s store.Store, fn func(KeyAdmin) error) error {
	keys, err := access.OpenKeys(s, access.KeysOptions{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return err
	}
	defer keys.Close()
	return fn(ownKeys{keys})
}

// ownKeys are the keys of a store that this process has open.
type ownKeys struct{ keys *access.Keys }

func (o ownKeys) Add(_ context.Context, s access.KeySpec) (string, access.KeyInfo, error) {
	return o.keys.Add(s)
}

func (o ownKeys) List(context.Context) ([]access.KeyInfo, error) { return o.keys.List(), nil }

func (o ownKeys) Rotate(_ context.Context, id string, grace time.Duration) (string, access.KeyInfo, error) {
	return o.keys.Rotate(id, grace)
}

func (o ownKeys) Revoke(_ context.Context, id string) (access.KeyInfo, error) {
	return o.keys.Revoke(id)
}

// keyAnswer is what the socket answers about one key. Key is its text, once.
type keyAnswer struct {
	Key  string         `json:"key,omitzero"`
	Info access.KeyInfo `json:"info"`
}

// keyList is what the socket answers about all.
type keyList struct {
	Keys []access.KeyInfo `json:"keys"`
}

// change names the key to rotate or to revoke. Grace is in nanoseconds.
type change struct {
	ID    string `json:"id"`
	Grace int64  `json:"grace,omitzero"`
}

// withAdmin adds the administration of keys, backups, and what a service says of its network (more, by method and
// path), to the handler of the local socket.
func withAdmin(keys *access.Keys, s store.Store, log *slog.Logger, more map[string]http.HandlerFunc,
	next http.Handler) http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range more {
		mux.HandleFunc(pattern, answer)
	}
	mux.HandleFunc("GET "+backupPath, sendBackup(s, log))
	mux.HandleFunc("GET "+keysPath, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, keyList{keys.List()}, nil)
	})
	changed := func(path string, status int, did string, do func(*http.Request) (keyAnswer, error)) {
		mux.HandleFunc("POST "+keysPath+path, func(w http.ResponseWriter, r *http.Request) {
			a, err := do(r)
			if err == nil {
				log.Info(did, "key", a.Info.ID, "caller", "local socket")
			}
			reply(w, status, a, err)
		})
	}
	changed("", http.StatusCreated, "key added", func(r *http.Request) (a keyAnswer, err error) {
		spec, err := bodyOf[access.KeySpec](r)
		if err == nil {
			a.Key, a.Info, err = keys.Add(spec)
		}
		return a, err
	})
	changed("/rotate", http.StatusOK, "key rotated", func(r *http.Request) (a keyAnswer, err error) {
		ask, err := bodyOf[change](r)
		if err == nil {
			a.Key, a.Info, err = keys.Rotate(ask.ID, time.Duration(ask.Grace))
		}
		return a, err
	})
	changed("/revoke", http.StatusOK, "key revoked", func(r *http.Request) (a keyAnswer, err error) {
		ask, err := bodyOf[change](r)
		if err == nil {
			a.Info, err = keys.Revoke(ask.ID)
		}
		return a, err
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, adminPath) {
			mux.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func bodyOf[T any](r *http.Request) (v T, err error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxAdminBody+1))
	if err != nil {
		return v, err
	}
	if len(raw) > maxAdminBody {
		return v, api.Invalid("", fmt.Sprintf("a body of at most %d bytes", maxAdminBody), "a larger one")
	}
	if err := json.Unmarshal(raw, &v, json.RejectUnknownMembers(true)); err != nil {
		return v, api.NewDecodeError(err)
	}
	return v, nil
}

func reply(w http.ResponseWriter, status int, answer any, err error) {
	if err != nil {
		e := api.NewError(api.ErrInternal, "It cannot be done: %v", err) // the socket's user is the operator
		_ = errors.As(err, &e)
		status, answer = e.StatusCode, e
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		status, raw = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(raw) //nolint:gosec // JSON, which no browser shows as a page; the peer may be gone
}

// socketKeys are the keys of the process behind the local socket.
type socketKeys struct{ way *http.Transport }

func (s socketKeys) Add(ctx context.Context, spec access.KeySpec) (string, access.KeyInfo, error) {
	var a keyAnswer
	err := s.ask(ctx, http.MethodPost, "", spec, &a)
	return a.Key, a.Info, err
}

func (s socketKeys) List(ctx context.Context) ([]access.KeyInfo, error) {
	var l keyList
	err := s.ask(ctx, http.MethodGet, "", nil, &l)
	return l.Keys, err
}

func (s socketKeys) Rotate(ctx context.Context, id string, grace time.Duration) (string, access.KeyInfo, error) {
	var a keyAnswer
	err := s.ask(ctx, http.MethodPost, "/rotate", change{id, int64(grace)}, &a)
	return a.Key, a.Info, err
}

func (s socketKeys) Revoke(ctx context.Context, id string) (access.KeyInfo, error) {
	var a keyAnswer
	err := s.ask(ctx, http.MethodPost, "/revoke", change{ID: id}, &a)
	return a.Info, err
}

// maxAdminAnswer bounds what is read of an answer: a list of access.MaxKeys keys fits.
const maxAdminAnswer = 64 << 20

func (s socketKeys) ask(ctx context.Context, method, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, attachWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+localHost+keysPath+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	res, err := s.way.RoundTrip(req)
	if err != nil {
		return err
	}
	raw, err = io.ReadAll(io.LimitReader(res.Body, maxAdminAnswer))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return api.ParseError(res.StatusCode, raw)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the other process gave an answer that cannot be read: %w", err)
	}
	return nil
}
