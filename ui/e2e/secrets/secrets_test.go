//go:build unix

package secrets

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/assets"
	"coffer/config"
	"coffer/config/harden/secretscan"
	"coffer/ui/cli"
	"coffer/ui/e2e/rig"
	"coffer/ui/termtest"
)

// scene is a home directory in which a person uses the program with secrets that nobody else knows, and all that comes
// out meanwhile.
type scene struct {
	*testing.T
	dir    string // the home
	keys   string // the key files, outside of the home
	cwd    string // where the program runs, inside of it
	env    []string
	scan   secretscan.Scanner
	output map[string][]byte // by where it was seen
}

// step is one use of the program. Without talk and walk it runs without a terminal; with one of them it runs in one. A
// new command with a secret is one more row of the table below.
type step struct {
	name string
	args []string
	env  []string // beside the scene's
	// waits for a text, then types, line by line; the program ends by itself after the last one
	talk  []line
	walk  func(p rig.Person) // what a list of lines cannot say; it ends the program
	code  int
	crash bool // the runtime ends the program, and tells of its stacks
	then  func()
}

type line struct{ sees, types string }

func newScene(t *testing.T) *scene {
	t.Helper()
	dir, env := rig.Home(t)
	s := &scene{T: t, dir: dir, env: env, keys: t.TempDir(), cwd: filepath.Join(dir, "cwd"),
		output: map[string][]byte{}}
	if err := os.Mkdir(s.cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// secret makes the scan look for text and returns it.
func (s *scene) secret(name, text string) string {
	s.Helper()
	if err := s.scan.Add(name, []byte(text)); err != nil {
		s.Fatal(err)
	}
	return text
}

// file puts a secret into a file of its own and returns its path.
func (s *scene) file(name, text string, mode os.FileMode) string {
	s.Helper()
	path := filepath.Join(s.keys, strings.ReplaceAll(name, " ", "-"))
	if err := os.WriteFile(path, []byte(s.secret(name, text)+"\n"), mode); err != nil {
		s.Fatal(err)
	}
	return path
}

// run does one step and keeps what came out.
func (s *scene) run(st step) {
	s.Helper()
	cmd := exec.Command(rig.Program(), st.args...)
	cmd.Env, cmd.Dir = slices.Concat(s.env, st.env), s.cwd
	var err error
	if st.talk == nil && st.walk == nil {
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
		s.output[st.name+": standard output"], s.output[st.name+": standard error"] = out.Bytes(), errs.Bytes()
	} else {
		err = s.atTerminal(st, cmd)
	}
	s.output[st.name+": arguments"] = []byte(strings.Join(cmd.Args, "\x00"))
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Fatalf("%s: %v", st.name, err)
	}
	code := 0
	if exit != nil {
		code = exit.ExitCode()
		if exit.Sys().(syscall.WaitStatus).CoreDump() {
			s.Errorf("%s: the system wrote a core file", st.name)
		}
	}
	// The runtime prints the stacks of a program that is made to crash while its other threads still run, and may fail
	// over one that moves: then the system ends it.
	if fell := st.crash && exit != nil && exit.Sys().(syscall.WaitStatus).Signaled(); code != st.code && !fell {
		s.Errorf("%s: exit code %d, expected %d\n%s%s%s", st.name, code, st.code,
			s.output[st.name+": standard output"], s.output[st.name+": standard error"],
			s.output[st.name+": transcript"])
	}
}

// atTerminal does a step in a terminal and keeps its transcript, and what other programs see of the process at each
// line.
func (s *scene) atTerminal(st step, cmd *exec.Cmd) error {
	s.Helper()
	term, err := termtest.Start(cmd, 120, 40)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(term.Close)
	p := rig.At(s, term)
	asked := map[string]int{}
	for i, l := range st.talk {
		asked[l.sees]++ // what stands there from an earlier question is no question
		p.Waits(l.sees, func(screen string) bool { return strings.Count(screen, l.sees) >= asked[l.sees] })
		s.watch(fmt.Sprintf("%s, line %d", st.name, i), term.Process().Pid)
		p.Types(l.types)
	}
	if st.walk != nil {
		st.walk(p)
	}
	err = p.Ends()
	s.output[st.name+": transcript"] = term.Raw()
	return err
}

// watch keeps the arguments and the environment of a running process as /proc shows them. A system that shows no
// environment is as good as one whose environment has no secret (TH-K3).
func (s *scene) watch(name string, pid int) {
	for _, part := range []string{"cmdline", "environ"} {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, part)); err == nil {
			s.output[name+": /proc "+part] = b
		}
	}
}

// nothingLeft searches everything. Files in allowed may hold the secret that is named there.
func (s *scene) nothingLeft(allowed map[string]string) {
	s.Helper()
	for _, where := range slices.Sorted(maps.Keys(s.output)) {
		for _, h := range s.scan.Find(s.output[where]) {
			s.Errorf("%s: %s", where, h)
		}
	}
	hits, files, err := s.scan.Tree(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	if files < 5 {
		s.Errorf("only %d files were searched", files)
	}
	for path, found := range hits {
		for _, h := range found {
			if allowed[path] != h.Secret {
				s.Errorf("%s: %s", path, h)
			}
		}
	}
	for path, name := range allowed {
		if !slices.ContainsFunc(hits[path], func(h secretscan.Hit) bool { return h.Secret == name }) {
			s.Errorf("%s does not hold the %s: the search would not find it elsewhere either", path, name)
		}
	}
	if hits, _, err := s.scan.Tree(s.keys); err != nil || len(hits) == 0 {
		s.Errorf("the search does not find the keys where they are: %v", err)
	}
	if cores, err := filepath.Glob(filepath.Join(s.cwd, "*")); err != nil || len(cores) > 0 {
		s.Errorf("where it ran there is %v, %v", cores, err)
	}
}

// serviceSecrets makes the scan look for what the service whose data lies in dir keeps to itself: the seed, and the
// keys that follow from it and are never stored. It returns the name of the seed.
func (s *scene) serviceSecrets(dir string) string {
	s.Helper()
	in, closeStore := rig.OpenStore(s.T, dir)
	defer closeStore()
	name := filepath.Base(dir) + "'s seed"
	var seed []byte
	err := in.Store.View(func(tx store.Tx) error {
		seed = bytes.Clone(tx.Bucket("installation").Get([]byte("seed")))
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	s.secret(name, string(seed))
	below := new(big.Int).Sub(crypto.S256().Params().N, big.NewInt(1))
	for label, k := range map[string]interface{ Address() common.Address }{
		"operator": in.Operator, "attester": in.Attester, "co-signer": in.CoSigner, "tamper-proof": in.TamperProof,
		"treasury": in.Treasury, "faucet": in.Faucet,
	} {
		raw, err := signers.Secret(seed, "coffer/key/"+label+"/1", 48)
		if err != nil {
			s.Fatal(err)
		}
		d := new(big.Int).SetBytes(raw)
		key, err := crypto.ToECDSA(d.Mod(d, below).Add(d, big.NewInt(1)).FillBytes(make([]byte, 32)))
		if err != nil || crypto.PubkeyToAddress(key.PublicKey) != k.Address() {
			s.Fatalf("the %s's key: %v", label, err)
		}
		s.secret(filepath.Base(dir)+"'s "+label, string(crypto.FromECDSA(key)))
	}
	for label, k := range map[string]signers.Solana{
		"sponsor": in.Sponsor, "vault": in.Vault, "treasury": in.SolanaTreasury, "solver": in.SolanaSolver,
		"faucet": in.SolanaFaucet,
	} {
		raw, err := signers.Secret(seed, "coffer/key/solana-"+label+"/1", ed25519.SeedSize)
		at := k.Key()
		if err != nil || !bytes.Equal(ed25519.NewKeyFromSeed(raw).Public().(ed25519.PublicKey), at[:]) {
			s.Fatalf("the Solana %s's key: %v", label, err)
		}
		s.secret(filepath.Base(dir)+"'s Solana "+label, string(raw))
	}
	return name
}

// sentinel is a private key in hex that only the label's owner knows, and its address.
func sentinel(t *testing.T, label string) (key, address string) {
	t.Helper()
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte("sentinel " + label)))
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(crypto.FromECDSA(k)), crypto.PubkeyToAddress(k.PublicKey).Hex()
}

// profiles writes a configuration with a role-based account of the admin, and a service in another process at which the
// demo's signer has an account.
func (s *scene) profiles(admin string, at rig.Serving, signer string) {
	s.Helper()
	path := filepath.Join(s.dir, "config", "coffer", "config.toml")
	text := fmt.Sprintf("version = 1\n[profiles.mine]\nkind = \"embedded\"\nvault = "+
		"\"memory\"\n[[profiles.mine.accounts]]\ntype = \"role-based\"\n"+
		"session_address = \"0x5e00000000000000000000000000000000000000\"\nadmin_address = %q\n"+
		"[profiles.team]\nkind = \"lab\"\nbase_url = %q\nca_file = %q\nnetwork_file = %q\nvault = \"memory\"\n"+
		"[[profiles.team.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\nsigner_address = %q\n", admin, at.BaseURL, at.CAFile,
		at.NetworkFile, signer)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		s.Fatal(err)
	}
	n, err := config.Profile{Kind: network.Lab, NetworkFile: at.NetworkFile}.Network()
	if err != nil {
		s.Fatal(err)
	}
	if _, errs, code := rig.Run(s.T, s.env, "profile", "confirm", "--profile", "team", "--fingerprint",
		n.Fingerprint()); code != 0 {
		s.Fatalf("code %d, %s", code, errs)
	}
}

// TestTH_K1_NoSecretIsLeftAnywhere uses the program with each sort of secret that it takes, rightly and wrongly, and
// kills it while it holds one. Then it searches all output, what a terminal was sent, arguments, environments, and
// every file below the home, the service's too, for each secret in each of its forms. A seed of an embedded service is
// in that service's database, as docs/security.md says, and nowhere else. What `serve keys add` prints once is not
// searched: to tell the key is what it is for.
func TestTH_K1_NoSecretIsLeftAnywhere(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	data := filepath.Join(s.dir, "service")
	var given cli.GivenKey
	rig.KeysOf(t, s.env, &given, "add", "--data", data, "--company", "a", "--project", "b")
	apiKey := given.Text
	s.secret("API key", apiKey[17:]) // what comes before is the key's id, which is no secret
	server, _, printed, logs := rig.Serve(t, s.env, "--data", data, "--log-level", "debug")
	var at rig.Serving
	if err := json.Unmarshal([]byte(printed), &at); err != nil || at.APIKey != "" {
		t.Fatalf("%s, %v", printed, err)
	}
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	s.secret("demo key", demo.PrivateKey)
	adminKey, admin := sentinel(t, "admin")
	otherKey, _ := sentinel(t, "another admin")
	s.profiles(admin, at, demo.Signer)

	mine := func(args ...string) []string { return append([]string{"--profile", "mine", "accounts"}, args...) }
	out, errs, code := rig.Run(t, s.env, mine("show", "--chain", "eip155:8453", "--json")...)
	var shown []cli.AccountRoles
	if err := json.Unmarshal([]byte(out), &shown); err != nil || code != 0 || len(shown) != 1 {
		t.Fatalf("code %d, %s, %s, %v", code, out, errs, err)
	}
	confirm := shown[0].Account[len(shown[0].Account)-4:]
	exit := func(action string, more ...string) []string {
		return mine(append([]string{"exit", action, "--chain", "eip155:8453"}, more...)...)
	}
	fromFile := func(path string) []string { return []string{"--admin-key-file", path, "--confirm", confirm} }
	wrongKey := s.secret("API key that is wrong", "sentinel that is no key 61f3c9a0")
	noKey := s.secret("admin key with a wrong letter", "x"+adminKey[1:40]+"5e5e5e5e5e5e5e5e5e5e5e5e")
	leave := func(see ...string) func(rig.Person) {
		return func(p rig.Person) { p.Sees(see...); s.watch(see[0], p.Term.Process().Pid); p.Types("q") }
	}
	crash := func(sig syscall.Signal) func(rig.Person) {
		return func(p rig.Person) {
			p.Sees("API key for profile team")
			p.Types(apiKey + "\r")
			p.Sees("LAB", "team", "USDC")
			s.watch("crash", p.Term.Process().Pid)
			if err := p.Term.Process().Signal(sig); err != nil {
				p.Fatal(err)
			}
		}
	}

	for _, st := range append(s.vaultSteps(at), []step{
		{name: "API key at the prompt", args: []string{"--profile", "team"}, walk: func(p rig.Person) {
			p.Sees("API key for profile team")
			p.Types(apiKey + "\r")
			leave("LAB", "team", "USDC")(p)
		}},
		{name: "API key at the prompt of a command", args: []string{"--profile", "team", "balances"},
			talk: []line{{"API key for profile team", apiKey + "\r"}}},
		{name: "API key that is pasted", args: []string{"--profile", "team", "balances"}, walk: func(p rig.Person) {
			p.Sees("API key for profile team")
			if err := p.Term.Paste(apiKey); err != nil {
				p.Fatal(err)
			}
			p.Types("\r")
		}},
		{name: "wrong API key", args: []string{"--profile", "team", "balances"},
			talk: []line{{"API key for profile team", wrongKey + "\r"}}, code: cli.ExitAccess},
		{name: "list of API keys", args: []string{"serve", "keys", "list", "--data", data}},
		{name: "admin key from a file", args: exit("announce", fromFile(s.file("admin key", adminKey, 0o600))...)},
		{name: "admin key at the prompt", args: exit("cancel"), talk: []line{
			{"Type the last four characters", confirm + "\r"}, {"Admin key (not shown):", "0x" + adminKey + "\r"},
		}},
		{name: "another admin's key", args: exit("announce",
			fromFile(s.file("another admin's key", otherKey, 0o600))...), code: cli.ExitAccess},
		{name: "admin key in a file for everybody", args: exit("announce",
			fromFile(s.file("admin key for everybody", adminKey, 0o644))...), code: cli.ExitUsage},
		{name: "admin key with a wrong letter", args: exit("announce",
			fromFile(s.file("mistyped admin key", noKey, 0o600))...), code: cli.ExitUsage},
		{name: "admin key with a wrong letter at the prompt", args: exit("announce"), talk: []line{
			{"Type the last four characters", confirm + "\r"}, {"Admin key (not shown):", noKey + "\r"},
		}, code: cli.ExitFailed},
		{name: "dashboard, a call from start to end", env: []string{"TEA_TRACE=" + filepath.Join(s.dir, "trace"),
			"TEA_DEBUG=1"}, walk: func(p rig.Person) {
			_, pay := p.WalksToReview2("EMBEDDED")
			p.Confirms(pay)
			p.Sees("COMPLETED")
			p.Types("3")
			leave("COMPLETED")(p)
		}},
		{name: "abort", args: []string{"--profile", "team"}, env: []string{"GOTRACEBACK=crash"},
			walk: crash(syscall.SIGABRT), code: 2, crash: true},
		{name: "quit", args: []string{"--profile", "team"}, env: []string{"GOTRACEBACK=system"},
			walk: crash(syscall.SIGQUIT), code: 2, crash: true},
	}...) {
		s.run(st)
		if st.then != nil {
			st.then()
		}
	}
	s.watch("service", server.Process.Pid)
	rig.Interrupt(t, server)
	s.output["service: log"] = []byte(logs.String())
	allowed := map[string]string{}
	for _, dir := range []string{data, rig.DataOf(s.dir), filepath.Join(s.dir, "data", "coffer", "mine"),
		filepath.Join(s.dir, "data", "coffer", "kept")} {
		allowed[filepath.Join(dir, service.DatabaseFile)] = s.serviceSecrets(dir)
	}
	s.nothingLeft(allowed)
}
