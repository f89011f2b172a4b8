//go:build linux

package sshci

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
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

	"coffer/api/network"
)

// A passphrase and a throw-away key of these tests, with its address.
const (
	passphrase = "correct horse battery"
	keyText    = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	keyAddress = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"
)

// The paths that the tests ask about.
const (
	pathExecute = "/v3/quote/execute-quote"
	pathCall    = "/v3/quote/call-quote"
)

// between stands between a wallet and a real service in another process. It notes which requests reached the service,
// and can hold the answer of one back.
type between struct {
	server *httptest.Server

	mu      sync.Mutex
	seen    []string
	holding string        // path whose answers are held back
	held    chan struct{} // closed when one is
	release chan struct{}
}

// newBetween starts `coffer serve` with more flags, and stands in front of it.
func newBetween(t testing.TB, dir string, more ...string) (b *between, apiKey, networkFile string) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--data",
		filepath.Join(dir, "service"), "--json"}, more...)...)
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	var logs bytes.Buffer
	cmd.Stderr = &logs
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	must(t, err)
	var at struct{ BaseURL, CAFile, APIKey, NetworkFile string }
	must(t, json.Unmarshal(line, &at))
	ca, err := os.ReadFile(at.CAFile)
	must(t, err)
	base, err := url.Parse(at.BaseURL)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	service := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots,
		MinVersion: tls.VersionTLS12}}}
	b = &between{}
	b.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		b.serve(w, r, base, service)
	}))
	t.Cleanup(func() { b.goesOn(); b.server.Close() })
	return b, at.APIKey, at.NetworkFile
}

func (b *between) serve(w http.ResponseWriter, r *http.Request, base *url.URL, service *http.Client) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	// Without the request's context: what the wallet sent arrives, also when the wallet is gone by then.
	out, err := http.NewRequest(r.Method, base.Scheme+"://"+base.Host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for _, name := range []string{"Content-Type", "Accept", "X-Api-Key"} {
		out.Header.Set(name, r.Header.Get(name))
	}
	path := strings.TrimPrefix(r.URL.Path, "/api")
	answer, err := service.Do(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	text, err := io.ReadAll(answer.Body)
	if errors.Join(err, answer.Body.Close()) != nil {
		panic(http.ErrAbortHandler)
	}
	b.mu.Lock()
	b.seen = append(b.seen, path)
	release := b.release
	if b.holding == path {
		close(b.held)
		b.holding = ""
	} else {
		release = nil
	}
	b.mu.Unlock()
	if release != nil {
		<-release
	}
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text)
}

// holds keeps the next answer to a path back until goesOn. The channel is closed once the service has answered.
func (b *between) holds(path string) (held <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holding, b.held, b.release = path, make(chan struct{}), make(chan struct{})
	return b.held
}

func (b *between) goesOn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.release != nil {
		close(b.release)
		b.release = nil
	}
}

// reached says how many requests to a path the service has answered.
func (b *between) reached(path string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.seen {
		if p == path {
			n++
		}
	}
	return n
}

// team sets up the profile "team" over SSH: its keys in an encrypted file, its service behind between.
func (h *host) team(serve ...string) (b *between, apiKey string) {
	h.Helper()
	b, apiKey, networkFile := newBetween(h, h.root, serve...)
	raw, err := os.ReadFile(networkFile)
	must(h, err)
	d, err := network.Decode(raw)
	must(h, err)
	ca := filepath.Join(h.home, "between.pem")
	must(h, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw}),
		0o600))
	own := filepath.Join(h.home, "network.json")
	must(h, os.WriteFile(own, raw, 0o600))
	h.configures(fmt.Sprintf("version = 1\ndefault = \"team\"\n[profiles.team]\nkind = \"lab\"\nbase_url = "+
		"%q\nca_file = %q\nnetwork_file = %q\nnetwork_id = %q\nvault = \"file\"\n"+
		"[[profiles.team.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\nsigner_address = %q\n", b.server.URL+"/api", ca, own,
		d.ID, keyAddress))
	if _, errs, code := h.runs("", "coffer", "profile", "confirm", "--fingerprint",
		strings.ReplaceAll(d.Fingerprint(), " ", "")); code != 0 {
		h.Fatalf("the network: code %d, %s", code, errs)
	}
	h.setsUp("Passphrase of profile team")
	if p := h.opens(at{Cols: 160, Rows: 40}, "coffer", "keys", "api-key",
		"set"); p.answers("Passphrase of profile team", passphrase, "API key", apiKey) != nil {
		h.Fatalf("the API key:\n%s", p.term.Screen())
	}
	return b, apiKey
}

// configures writes the configuration.
func (h *host) configures(text string) {
	h.Helper()
	path := filepath.Join(h.home, "config", "coffer", "config.toml")
	must(h, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
}

// setsUp makes the vault and brings a key, each typed on a terminal and never shown.
func (h *host) setsUp(question string) {
	h.Helper()
	for _, c := range []struct{ command, answers []string }{
		{[]string{"coffer", "keys", "init"}, []string{"New passphrase", passphrase, "once more", passphrase}},
		{[]string{"coffer", "keys", "import", "--label", "main"},
			[]string{question, passphrase, "Key or mnemonic (not shown)", keyText}},
	} {
		p := h.opens(at{Cols: 160, Rows: 40}, c.command...)
		if err := p.answers(c.answers...); err != nil {
			h.Fatalf("%v: %v\n%s", c.command, err, p.term.Screen())
		}
		p.shows(false, passphrase, keyText)
	}
}

// shows says whether secrets may be among what the terminal got.
func (p person) shows(may bool, secrets ...string) {
	p.Helper()
	for _, s := range secrets {
		if bytes.Contains(p.term.Raw(), []byte(s)) != may {
			p.Errorf("%.6s… was shown", s)
		}
	}
}

// unlocks opens the dashboard of the team's profile.
func (h *host) unlocks(a at, command ...string) person {
	h.Helper()
	if len(command) == 0 {
		command = []string{"coffer"}
	}
	p := h.opens(a, command...)
	p.sees("Passphrase of profile team")
	p.types(passphrase + "\r")
	p.sees("LAB", "Balances", "$")
	return p
}

// keepsNo looks for secrets in the clear in every file of the home.
func (h *host) keepsNo(secrets ...string) {
	h.Helper()
	n := 0
	must(h, filepath.WalkDir(h.home, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		n++
		for _, s := range secrets {
			raw := make([]byte, len(s)/2)
			if _, bad := fmt.Sscanf(s, "%x", &raw); bad != nil {
				raw = []byte(s)
			}
			if bytes.Contains(bytes.ToLower(content), bytes.ToLower([]byte(s))) || bytes.Contains(content, raw) {
				h.Errorf("%s holds %.6s… in the clear", path, s)
			}
		}
		if info, errInfo := e.Info(); errInfo == nil && info.Mode().Perm()&0o077 != 0 {
			h.Errorf("%s is for others too: %v", path, info.Mode())
		}
		return err
	}))
	if n == 0 {
		h.Error("no file was looked at")
	}
}
