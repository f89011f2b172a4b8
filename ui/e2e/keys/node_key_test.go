//go:build unix

package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/ui/e2e/rig"
)

const (
	nodeKey   = "K7q2-Zf0sentinel+of/a=node9"
	payingKey = "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
)

// gate is a node that answers only who has the key in the path, and repeats what it was asked with.
type gate struct {
	*httptest.Server
	let, refused atomic.Int64
	fails        atomic.Bool
}

func newGate(t *testing.T, node string) *gate {
	t.Helper()
	at, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL = at
	}}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := strings.TrimPrefix(r.URL.Path, "/v2/"); key != nodeKey || g.fails.Load() {
			g.refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"key%s? (%s, %s)"}}`, key,
				r.URL.Path, r.RequestURI)
			return
		}
		g.let.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

// TestANodeKeyReachesTheNodeThatAsksForItAndNothingElse: a network whose node demands a key is deployed with the key
// typed, opened and checked with the key of the vault; a file that moves the key to another host is refused with both
// hosts; and the key is in no output and in no file.
func TestANodeKeyReachesTheNodeThatAsksForItAndNothingElse(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	_, line := rig.Devnet(t, env)
	var devnet struct {
		Endpoints []struct{ Chain, HTTP string }
	}
	if err := json.Unmarshal([]byte(line), &devnet, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	node := ""
	for _, e := range devnet.Endpoints {
		if e.Chain == "eip155:8453" {
			node = e.HTTP
		}
	}
	g, other := newGate(t, node), newGate(t, node)
	printed := new(strings.Builder)
	file := filepath.Join(dir, "networks.toml")
	open := rig.Script{T: t, Env: env}
	runs := func(s rig.Script, code int, args ...string) string {
		t.Helper()
		out, errs := s.Runs(code, args...)
		printed.WriteString(out + errs)
		return out + errs
	}
	runs(open, 0, "network", "init", "--kind", "lab", "--tokens", "all", "--out", file,
		"--chain", "base="+g.URL+"/v2/${vault:main}")
	untyped := runs(open, 3, "network", "check", "--file", file)
	if !strings.Contains(untyped, g.URL+` asks for the key "main"`) {
		t.Error(untyped)
	}
	if all := runs(open, 2, "network", "check", "--file", file, "--profile", "demo"); !strings.Contains(all, g.URL) {
		t.Error(all)
	}
	question := "Key main, which is sent to " + g.URL + " (not shown)"
	screen, err := rig.Asks(t, env, []string{"network", "deploy", "--file", file}, question, nodeKey,
		"Key that pays for gas (not shown)", payingKey, "Type deploy", "deploy")
	if err != nil || g.let.Load() == 0 {
		t.Fatalf("%v\n%s", err, screen)
	}
	printed.WriteString(screen)
	screen, _ = rig.Asks(t, env, []string{"network", "check", "--file", file}, question, "another-key-of-a-node")
	if printed.WriteString(screen); strings.Contains(screen, "another-key-of-a-node") || g.refused.Load() == 0 {
		t.Error(screen)
	}

	runs(open, 0, "profile", "add", "own", "--networks", file, "--vault", "file")
	screen, err = rig.Asks(t, env, []string{"keys", "init"}, "New passphrase of profile own", rig.Passphrase,
		"The same once more", rig.Passphrase)
	if err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	locked := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	runs(locked, 0, "keys", "new")
	if all := runs(locked, 3, "balances"); !strings.Contains(all, "coffer keys node-key set main --profile own") {
		t.Error(all)
	}
	screen, err = rig.Asks(t, env, []string{"keys", "node-key", "set", "main"}, "Passphrase of profile own",
		rig.Passphrase, question, nodeKey)
	if err != nil || !strings.Contains(screen, "it is sent to "+g.URL+" alone") {
		t.Fatalf("%v\n%s", err, screen)
	}
	printed.WriteString(screen)
	listed := runs(locked, 0, "keys", "node-key", "list")
	if !strings.Contains(listed, "main") || !strings.Contains(listed, g.URL) {
		t.Error(listed)
	}
	asJSON := runs(locked, 0, "keys", "node-key", "list", "--json")
	key := regexp.MustCompile(`^\[\{"name":"main","host":"` + g.URL + `","created":"20[0-9T:-]+Z"\}\]\n$`)
	if !key.MatchString(asJSON) {
		t.Error(asJSON)
	}
	runs(locked, 0, "accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer",
		"0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	if all := runs(open, 0, "__complete", "keys", "node-key", "remove", ""); !strings.Contains(all, "main\t"+g.URL) {
		t.Error(all)
	}
	before := g.let.Load()
	runs(locked, 0, "balances")
	runs(locked, 0, "network", "check", "--file", file, "--profile", "own")
	if g.let.Load() == before {
		t.Error("the node was not asked")
	}

	p := rig.At(t, rig.Start(t, env, 120, 40, "--record", filepath.Join(dir, "record")))
	p.Sees("Passphrase of profile own")
	p.Types(rig.Passphrase + "\r")
	p.Sees("own", "Balances by asset")
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Error(err)
	}
	printed.Write(p.Term.Raw())
	if recorded, err := os.ReadDir(filepath.Join(dir, "record")); err != nil || len(recorded) == 0 {
		t.Error(recorded, err)
	}
	g.fails.Store(true)
	if all := runs(locked, 0, "balances"); !strings.Contains(all, "unknown") || !strings.Contains(all, g.URL) {
		t.Error(all)
	}
	if all := runs(locked, 1, "network", "check", "--file", file, "--profile", "own"); !strings.Contains(all, g.URL) {
		t.Error(all)
	}
	g.fails.Store(false)

	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := `"` + g.URL + `/v2/${vault:main}"`
	both := strings.ReplaceAll(string(raw), endpoint, endpoint+`, "`+other.URL+`/${vault:main}"`)
	if err := os.WriteFile(file, []byte(both), 0o600); err != nil || both == string(raw) {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"keys", "node-key", "set", "main"}, {"balances"}} {
		if all := runs(locked, 2, args...); !strings.Contains(all, g.URL) || !strings.Contains(all, other.URL) {
			t.Error(args, all)
		}
	}
	moved := strings.ReplaceAll(string(raw), g.URL, other.URL)
	if err := os.WriteFile(file, []byte(moved), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"balances"}, {"network", "check", "--file", file, "--profile", "own"},
		{"network", "deploy", "--dry-run", "--file", file, "--profile", "own"}} {
		if all := runs(locked, 2, args...); !strings.Contains(all, "was stored for "+g.URL) ||
			!strings.Contains(all, "not sent to "+other.URL) {
			t.Error(args, all)
		}
	}
	if other.let.Load()+other.refused.Load() != 0 {
		t.Error("the other host was asked")
	}
	setsByPipe(t, env)
	runs(locked, 0, "balances")
	if other.let.Load() == 0 {
		t.Error("the other host was not asked once the key was stored for it")
	}
	runs(locked, 0, "keys", "node-key", "remove", "main")
	runs(locked, 2, "keys", "node-key", "remove", "main")
	runs(locked, 3, "balances")
	showsNowhere(t, dir, printed.String())
}

// setsByPipe stores the key from standard input.
func setsByPipe(t *testing.T, env []string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err == nil {
		_, err = w.WriteString(rig.Passphrase + "\n")
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	cmd := exec.CommandContext(t.Context(), rig.Program(), "keys", "node-key", "set", "main", "--file", "-",
		"--passphrase-fd", "3")
	cmd.Env, cmd.Stdin, cmd.ExtraFiles = env, strings.NewReader(nodeKey+"\n"), []*os.File{r}
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), nodeKey) {
		t.Fatalf("%v: %s", err, out)
	}
}

// showsNowhere demands that no text and no file of a home has the key, in the clear or escaped.
func showsNowhere(t *testing.T, dir, printed string) {
	t.Helper()
	shows := func(text string) bool {
		return strings.Contains(text, nodeKey) || strings.Contains(text, url.PathEscape(nodeKey)) ||
			strings.Contains(text, url.QueryEscape(nodeKey)) || strings.Contains(text, "sentinel")
	}
	if printed == "" || shows(printed) {
		t.Error("a command showed the key", printed)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if files++; shows(string(raw)) {
			t.Errorf("%s has the key", path)
		}
		return err
	})
	if err != nil || files < 4 {
		t.Error(files, err)
	}
}
