//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/termtest"
	"coffer/wallet/vault"
)

// between stands between a wallet and a real service: it passes requests on and answers back, notes what it saw, and may change an answer or cut the
// connection. To the wallet it is the service.
type between struct {
	server  *httptest.Server
	at      serving
	client  *http.Client
	service *exec.Cmd

	mu     sync.Mutex
	seen   []request
	change func(r request, status int, answer []byte) (int, []byte)
	recast func(r request) []byte // what is passed on instead of the request's body
	cut    func(r request) bool   // the request is passed on, the connection ends before the answer
	refuse func(r request) bool   // the connection ends before the request is passed on
	hijack func(r request) string // what is said in place of an answer, below the rules of HTTP; then nothing, and the connection stays open
	lie    func(r request) []byte // what is answered in place of the service, which never hears of the request; nil passes it on
	held   []func() (int, error)  // requests that were answered so, to be passed on after all
}

type request struct {
	method, path string
	body         []byte
	query        url.Values
}

func newBetween(t *testing.T, at serving, roots *x509.CertPool) *between {
	t.Helper()
	b := &between{at: at, client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}}
	b.server = httptest.NewTLSServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.server.Close)
	return b
}

func (b *between) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	q := request{method: r.Method, path: strings.TrimPrefix(r.URL.Path, "/api"), body: body, query: r.URL.Query()}
	refused := false
	var lie []byte
	b.with(func() {
		b.seen = append(b.seen, q)
		refused = b.refuse != nil && b.refuse(q)
		if b.lie == nil {
			return
		}
		if lie = b.lie(q); lie != nil && executes(q) {
			later := r.Clone(context.Background())
			b.held = append(b.held, func() (int, error) { status, _, _, err := b.forward(later, body); return status, err })
		}
	})
	if lie != nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(lie)
		return
	}
	if refused {
		panic(http.ErrAbortHandler)
	}
	if b.lies(w, q) {
		return
	}
	b.with(func() {
		if b.recast != nil {
			body = b.recast(q)
		}
	})
	status, header, answer, err := b.forward(r, body)
	lost := err != nil
	b.with(func() {
		if lost = lost || b.cut != nil && b.cut(q); !lost && b.change != nil {
			status, answer = b.change(q, status, answer)
		}
	})
	if lost {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", header.Get("Content-Type"))
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// lies takes the connection over when the test has something to say in place of an answer, and holds it until the wallet lets go.
func (b *between) lies(w http.ResponseWriter, q request) bool {
	lie := ""
	b.with(func() {
		if b.hijack != nil {
			lie = b.hijack(q)
		}
	})
	if lie == "" {
		return false
	}
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, lie); err == nil {
		_, _ = io.Copy(io.Discard, c)
	}
	return true
}

// with runs f while no other request is looked at. What change, cut and refuse share with a test is read and written in it.
func (b *between) with(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *between) forward(r *http.Request, body []byte) (int, http.Header, []byte, error) {
	base, err := url.Parse(b.at.BaseURL)
	if err != nil {
		return 0, nil, nil, err
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, base.Scheme+"://"+base.Host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	for _, name := range []string{"Content-Type", "Accept", "X-Api-Key"} {
		out.Header.Set(name, r.Header.Get(name))
	}
	answer, err := b.client.Do(out)
	if err != nil {
		return 0, nil, nil, err
	}
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, text, errors.Join(err, answer.Body.Close())
}

// behaves sets what happens to the next answers; nil: nothing.
func (b *between) behaves(change func(request, int, []byte) (int, []byte)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change = change
}

func (b *between) cuts(cut, refuse func(request) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut, b.refuse = cut, refuse
}

// holds holds back what is executed from now on and says that it was accepted, and then that it ended so.
func (b *between) holds(status string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := map[string]bool{}
	b.lie = func(r request) []byte {
		switch id := r.query.Get("quoteId"); {
		case executes(r):
			var q struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(r.body, &q, json.RejectUnknownMembers(false)) == nil {
				held[q.ID] = true
			}
			return []byte(`{"success":true}`)
		case r.path == pathStatus && held[id]:
			return []byte(fmt.Sprintf(`{"quoteId":%q,"status":%q}`, id, status))
		}
		return nil
	}
}

// honest ends the lies; what was held stays held until it is released.
func (b *between) honest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lie = nil
}

// releases passes on what was held, and says with which status it was answered last.
func (b *between) releases(t *testing.T) int {
	t.Helper()
	b.mu.Lock()
	held := b.held
	b.held = nil
	b.mu.Unlock()
	last := 0
	for _, pass := range held {
		status, err := pass()
		if err != nil {
			t.Fatal(err)
		}
		last = status
	}
	return last
}

// saw returns the requests so far to a path.
func (b *between) saw(path string) (out []request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.seen {
		if r.path == path {
			out = append(out, r)
		}
	}
	return out
}

// team is a home with the profile "team", whose service is reached through between, with a key in an encrypted file and one account.
func team(t *testing.T, serve ...string) (env []string, b *between) {
	t.Helper()
	dir, env := home(t)
	cmd, _, line, _ := served(t, env, serve...)
	at, roots := where(t, line)
	b = newBetween(t, at, roots)
	b.service = cmd
	ca := filepath.Join(dir, "between.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw})
	configured := filepath.Join(dir, "config", "coffer", "config.toml")
	raw, err := os.ReadFile(at.NetworkFile)
	if err != nil {
		t.Fatal(err)
	}
	var descriptor network.Descriptor
	if err := json.Unmarshal(raw, &descriptor); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("version = 1\ndefault = \"team\"\n[profiles.team]\nkind = \"lab\"\nbase_url = %q\nca_file = %q\nnetwork_file = %q\nnetwork_id = %q\nvault = \"file\"\n"+
		"[[profiles.team.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\nsigner_address = %q\n", b.server.URL+"/api", ca, at.NetworkFile, descriptor.ID, crypto.PubkeyToAddress(mustKey(t).PublicKey).Hex())
	err = errors.Join(os.WriteFile(ca, block, 0o600), os.MkdirAll(filepath.Dir(configured), 0o700), os.WriteFile(configured, []byte(text), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	keepsKey(t, dir, descriptor.ID)
	if screen, err := asks(t, env, []string{"keys", "api-key", "set"}, "Passphrase of profile team", passphrase, "API key", at.APIKey); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	return env, b
}

// keepsKey makes the vault of the profile "team" with one key. Its passphrase takes little work to try, so that the many commands of a test do not spend their time on it;
// what the program makes itself is in TestKeysAreSetUpWhereTheProfileSaysAndNeverInTheClear.
func keepsKey(t *testing.T, dir, networkID string) {
	t.Helper()
	v, err := vault.OpenFile(vault.Options{
		Profile: "team", NetworkID: networkID, Dir: config.Paths{Data: filepath.Join(dir, "data", "coffer")}.ProfileKeys("team"), Clock: time.Now, Random: rand.Reader, WorkFactor: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	err = v.Create(t.Context(), secret.New([]byte(passphrase)))
	if err == nil {
		_, err = v.Add(t.Context(), vault.EVM, secret.New(common.FromHex(adminKeyText)), "main")
	}
	if err := errors.Join(err, v.Close()); err != nil {
		t.Fatal(err)
	}
}

// opens starts the dashboard of the team's profile.
func opens(t *testing.T, env []string, cols, rows int, args ...string) person {
	t.Helper()
	return unlocks(t, start(t, env, cols, rows, args...))
}

// unlocks waits for the dashboard of the team's profile in a terminal where it was started.
func unlocks(t *testing.T, term *termtest.Terminal) person {
	t.Helper()
	p := person{t, term}
	p.sees("Passphrase of profile team")
	p.types(passphrase + "\r")
	p.sees("LAB", "Balances", "$")
	return p
}

// builds makes the ready-made call and asks for review 1.
func (p person) builds() {
	p.Helper()
	p.fillsIn()
	p.types("r")
}
