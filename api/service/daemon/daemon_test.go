package daemon

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/service/access"
)

// logged is a log that may be written to while it is read.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// running starts the service on a directory and returns what it printed first, and how to stop it.
func running(t *testing.T, o Options) (printed *bufio.Reader, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	o.Listen, o.BasePath, o.Out = "127.0.0.1:0", "/api", w
	ended := make(chan error, 1)
	go func() {
		err := Run(ctx, o)
		_ = w.CloseWithError(errors.Join(err, io.EOF))
		ended <- err
	}()
	return bufio.NewReader(r), func() error { cancel(); return <-ended }
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTheKeyOfTheProcessIsPrintedWhileThereIsNoStoredOne: for machines in the one line, for people with a word on
// lasting keys; it is in no log.
func TestTheKeyOfTheProcessIsPrintedWhileThereIsNoStoredOne(t *testing.T) {
	dir, log := t.TempDir(), new(logged)
	out, stop := running(t, Options{Dir: dir, JSON: true, Log: log, Faults: []string{"slow-fill=1ms"}})
	var first reach
	if err := json.Unmarshal([]byte(line(t, out)), &first); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if first.APIKey == "" || filepath.Dir(first.NetworkFile) != dir ||
		!strings.HasPrefix(first.BaseURL, "https://127.0.0.1:") || len(first.Faults) != 1 {
		t.Errorf("%+v", first)
	}
	if text := log.String(); strings.Contains(text, first.APIKey) || !strings.Contains(text, "FAULTS ARE ON") {
		t.Errorf("the log is\n%s", text)
	}

	keys := Keys{Dir: dir}
	text, made, err := keys.Add(t.Context(), access.KeySpec{PublicTest: true})
	if err != nil {
		t.Fatal(err)
	}
	out, stop = running(t, Options{Dir: dir, Log: io.Discard})
	var said strings.Builder
	for range 5 {
		said.WriteString(line(t, out))
	}
	all, err := keys.List(t.Context()) // of the directory that is being served
	if err != nil || len(all) != 1 || all[0].ID != made.ID {
		t.Errorf("%+v, %v", all, err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if s := said.String(); !strings.Contains(s, "api key  the stored ones") || strings.Contains(s, text) ||
		!strings.HasPrefix(s, "serving  https://") {
		t.Errorf("printed\n%s", s)
	}
}

// TestNothingIsMadeOfAWrongOption: it is told before the directory is touched.
func TestNothingIsMadeOfAWrongOption(t *testing.T) {
	for name, o := range map[string]Options{
		"fault":   {Faults: []string{"earthquake"}},
		"metrics": {Metrics: "0.0.0.0:9464"},
	} {
		o.Dir, o.Out, o.Log = filepath.Join(t.TempDir(), "data"), io.Discard, io.Discard
		var wrong *OptionError
		if err := Run(t.Context(), o); !errors.As(err, &wrong) || wrong.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the directory was made: %v", name, err)
		}
	}
}

// TestKeysAreNotMadeForPathsThatNoEndpointHas: such a key would be good for nothing.
func TestKeysAreNotMadeForPathsThatNoEndpointHas(t *testing.T) {
	dir := t.TempDir()
	for path, good := range map[string]bool{
		"/v3/quote/call-quote": true, "/v3/": true, "/explorer": true, "/v3/qoute/call-quote": false, "/v4/": false,
		"/v3": false, "": false,
	} {
		_, _, err := Keys{Dir: dir}.Add(t.Context(), access.KeySpec{Company: "a", Project: "b",
			Endpoints: []string{path}})
		var refused *api.Error
		if isRefused := errors.As(err, &refused) && refused.Name == api.ErrValidation; isRefused == good ||
			good && err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, err := (Keys{Dir: t.TempDir()}).List(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "--data is missing") {
		t.Errorf("a directory without a database: %v", err)
	}
	if _, err := (Keys{Dir: dir}).Revoke(t.Context(), "nobody"); err == nil ||
		!strings.Contains(err.Error(), "serve keys list") {
		t.Errorf("an unknown key: %v", err)
	}
}
