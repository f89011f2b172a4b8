package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"coffer/api"
	"coffer/api/networks"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/attest/attesthttp"
	"coffer/api/service/metrics"
	"coffer/api/service/remotenet"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// AttestOptions say what an attester runs with. Dir is its data directory, absolute: the file of its keys (Keys, ""
// for the usual one there), what its API keys are compared with, and its certificate authority. Networks is its file.
// Credential asks for what an endpoint names as ${vault:NAME} and the file of keys does not have. Plain listens without
// TLS, on this machine alone. Work is that of a new passphrase, 0 for the usual; PollKeys is how old what is known of
// API keys may be, 0 for the usual.
type AttestOptions struct {
	Dir, Keys   string
	Networks    string
	Credential  networks.Credential
	Passphrase  Passphrase
	Listen      string
	Hosts       []string
	Connections int
	Plain       bool
	Metrics     string
	JSON        bool
	LogJSON     bool
	LogLevel    slog.Level
	Out, Log    io.Writer
	Work        int
	PollKeys    time.Duration
}

// AttesterKeys is the usual name of the file with an attester's keys.
const AttesterKeys = "attester.keys"

// attests is what is printed of an attester that listens.
type attests struct {
	BaseURL    string   `json:"baseUrl"`
	Attester   string   `json:"attester"`
	Network    string   `json:"network"`
	Escrow     string   `json:"escrow"`
	Chains     []string `json:"chains"`
	CAFile     string   `json:"caFile,omitzero"`
	APIKey     string   `json:"apiKey,omitzero"`
	MetricsURL string   `json:"metricsUrl,omitzero"`
}

// Attest runs an attester until ctx ends, and returns nil after an orderly end. It makes its keys where there are none;
// while the file's list of attesters does not have it, the error says under which address it attests.
func Attest(ctx context.Context, o AttestOptions) (err error) {
	log := NewLog(Options{LogJSON: o.LogJSON, LogLevel: o.LogLevel, Log: o.Log})
	if o.Plain {
		if err := service.CheckLocal(ctx, o.Listen, false); err != nil {
			return &OptionError{Problem: "--plain-http: " + err.Error(),
				Hint: "leave it out: others are answered over TLS"}
		}
	}
	figures, err := newFigures(o.Metrics)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	w, done, err := o.witness(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return o.serve(ctx, w, figures, log)
}

// witness opens the keys and the chains. done closes both.
func (o AttestOptions) witness(ctx context.Context, log *slog.Logger) (*remotenet.Witness, func() error, error) {
	path := o.Keys
	if path == "" {
		path = filepath.Join(o.Dir, AttesterKeys)
	}
	keys, err := openKeyFile(ctx, path, o.Networks, o.Credential, o.Passphrase, o.Work, log)
	if err != nil {
		return nil, nil, err
	}
	derived, err := signers.Derive(keys.Seed())
	if err != nil {
		keys.Close()
		return nil, nil, err
	}
	w, err := remotenet.OpenWitness(ctx, remotenet.Options{File: o.Networks, Clock: time.Now, Log: log,
		Credential: credentials(keys, o.Credential)}, derived.Attester)
	if err != nil {
		keys.Close()
		return nil, nil, err
	}
	return w, func() error {
		keys.Close()
		return w.Close()
	}, nil
}

func (o AttestOptions) serve(ctx context.Context, w *remotenet.Witness, f *figures, log *slog.Logger) error {
	auth := &storedKeys{dir: o.Dir, every: o.PollKeys, log: log}
	if auth.every == 0 {
		auth.every = pollKeys
	}
	said := attests{Attester: w.Attester.Address().Hex(), Network: w.ID, Escrow: w.Pins.Escrow.Hex(),
		Chains: w.Descriptor.Chains}
	admits := access.Authenticator(auth)
	if auth.usable() == 0 {
		var key [32]byte
		if _, err := rand.Read(key[:]); err != nil {
			return err
		}
		said.APIKey = hex.EncodeToString(key[:])
		admits = access.Either(access.NewOneKey(said.APIKey), auth)
	}
	server := attesthttp.Server{Attester: w.Attester, Auth: admits, Clock: time.Now, Log: log,
		Info: attesthttp.Info{Attester: w.Attester.Address(), Network: w.ID, Filler: w.Pins.Solver,
			Escrow: w.Pins.Escrow, Chains: said.Chains}}
	if f != nil {
		server.Observe = func(path, permission string, status int, took time.Duration) {
			f.Request(orOther(path), permission, status, took)
		}
		f.Watch(metrics.Gauges{})
		scraped, err := f.Listen(ctx, f.address, log)
		if err != nil {
			return err
		}
		said.MetricsURL = scraped.URL
	}
	running, err := service.ServeHandler(ctx, service.ServeOptions{Listen: o.Listen, Dir: o.Dir, Host: o.Hosts,
		Connections: o.Connections, Plain: o.Plain}, server.Handler(), time.Now, rand.Reader, log)
	if err != nil {
		return taken(o.Listen, err)
	}
	said.BaseURL, said.CAFile = running.BaseURL, running.CAFile
	if o.Plain {
		log.Warn("PLAIN HTTP: whoever can read this machine's loopback sees the API key")
	}
	if err := said.announce(o.Out, o.JSON); err != nil {
		return err
	}
	return running.Wait()
}

func orOther(path string) string {
	if path == "" {
		return "other"
	}
	return path
}

// announce tells it in one line of JSON, or in lines for people.
func (a attests) announce(out io.Writer, asJSON bool) error {
	if asJSON {
		line, err := api.Encode(a)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", line.Raw())
		return err
	}
	lines := []string{"serving  " + a.BaseURL, "attests  as " + a.Attester, "network  " + a.Network,
		"escrow   " + a.Escrow + " on " + strings.Join(a.Chains, ", ")}
	if a.CAFile != "" {
		lines = append(lines, "ca file  "+a.CAFile)
	}
	if a.APIKey != "" {
		lines = append(lines, "api key  "+a.APIKey+
			" (good while this process runs; `coffer serve keys add` makes lasting ones)")
	} else {
		lines = append(lines, "api key  the stored ones (`coffer serve keys list`)")
	}
	if a.MetricsURL != "" {
		lines = append(lines, "metrics  "+a.MetricsURL)
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// pollKeys is how old what an attester knows of its API keys may be: `coffer serve keys` changes them beside it.
const pollKeys = 5 * time.Second

// storedKeys admits who holds an API key of a data directory. The database is open for moments only, so that
// `coffer serve keys` can change it meanwhile.
type storedKeys struct {
	dir   string
	every time.Duration
	log   *slog.Logger

	mu     sync.Mutex
	keys   *access.Keys
	looked time.Time
	seen   fs.FileInfo
}

// Admit implements access.Authenticator.
func (s *storedKeys) Admit(ctx context.Context, a access.Attempt) (access.Grant, error) {
	keys := s.current()
	if keys == nil {
		return access.Grant{}, access.Unauthorized()
	}
	return keys.Admit(ctx, a)
}

func (s *storedKeys) usable() int {
	if keys := s.current(); keys != nil {
		return keys.Usable()
	}
	return 0
}

// current are the keys as they were stored of late. While they cannot be read, those before stay, as do their windows.
func (s *storedKeys) current() *access.Keys {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.looked.IsZero() && now.Sub(s.looked) < s.every {
		return s.keys
	}
	s.looked = now
	path := filepath.Join(s.dir, service.DatabaseFile)
	info, err := os.Stat(path)
	if err != nil || s.seen != nil && info.ModTime().Equal(s.seen.ModTime()) && info.Size() == s.seen.Size() {
		return s.keys
	}
	db, err := store.OpenBolt(path, store.BoltOptions{Wait: time.Second, Holder: "coffer attest"})
	if err != nil {
		s.log.Warn("the stored API keys cannot be read", "error", err)
		return s.keys
	}
	keys, err := access.OpenKeys(db, access.KeysOptions{Clock: time.Now, Random: rand.Reader})
	if err = errors.Join(err, db.Close()); err != nil {
		s.log.Warn("the stored API keys cannot be read", "error", err)
		return s.keys
	}
	if info, err = os.Stat(path); err == nil { // opening may have touched it
		s.seen = info
	}
	s.keys = keys
	return keys
}
