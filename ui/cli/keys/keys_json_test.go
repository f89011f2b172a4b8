package keys

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/zalando/go-keyring"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// ring is a keyring in memory.
type ring struct {
	mu sync.Mutex
	of map[string][]byte
}

func (r *ring) Set(service, user string, value []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[service+"|"+user] = bytes.Clone(value)
	return nil
}

func (r *ring) Get(service, user string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.of[service+"|"+user]
	if !ok {
		return nil, keyring.ErrNotFound
	}
	return bytes.Clone(v), nil
}

func (r *ring) Delete(service, user string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, service+"|"+user)
	return nil
}

// desk runs `coffer keys`, `coffer profile` and the commands of this package below `coffer accounts` on a directory,
// with a keyring in memory and no terminal.
type desk struct {
	*testing.T
	dir       string
	ring      *ring
	in        bytes.Buffer
	out, said bytes.Buffer
	typed     string // at the terminal; "": there is none
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, dir: t.TempDir(), ring: &ring{of: map[string][]byte{}}}
	d.write("network.json", descriptor(t), 0o600)
	return d
}

// descriptor is a network that the service made for a golden document, as a team's service would have it.
func descriptor(t *testing.T) []byte {
	t.Helper()
	raw, err := os.ReadFile("../check/testdata/v3-swap-role-based.json")
	if err != nil {
		t.Fatal(err)
	}
	var bundle struct {
		Network network.Descriptor `json:"network"`
	}
	if err := json.Unmarshal(raw, &bundle); err != nil {
		t.Fatal(err)
	}
	bundle.Network.Kind, bundle.Network.Installation = network.Lab, ""
	lab, err := bundle.Network.WithID()
	if err != nil {
		t.Fatal(err)
	}
	out, err := lab.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *desk) write(name string, data []byte, mode os.FileMode) {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), data, mode); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) getenv(name string) string {
	return map[string]string{"HOME": d.dir, "COFFER_CONFIG": d.dir + "/config.toml",
		"COFFER_DATA": d.dir + "/data"}[name]
}

// run runs a command and returns its exit code; its output is in out.
func (d *desk) run(args ...string) int {
	d.Helper()
	d.out.Reset()
	d.said.Reset()
	host := profile.Host{
		Keyring: d.ring,
		Getenv:  d.getenv,
		Ask: func(_ context.Context, question string) (secret.Secret, error) {
			return secret.Secret{}, cli.Unasked(question)
		},
	}
	prompt := cli.Prompt{Out: &d.said}
	if d.typed != "" {
		d.write("typed", []byte(d.typed), 0o600)
		in, err := os.Open(filepath.Join(d.dir, "typed"))
		if err != nil {
			d.Fatal(err)
		}
		defer func() { _ = in.Close() }()
		prompt.In, prompt.Terminal = in, true
	}
	g := &cli.Global{}
	if i := slices.Index(args, "--profile"); i >= 0 { // a flag of the program
		g.Profile, args = args[i+1], slices.Delete(slices.Clone(args), i, i+2)
	}
	root := &cobra.Command{Use: "coffer", SilenceErrors: true, SilenceUsage: true}
	accounts := &cobra.Command{Use: "accounts"}
	accounts.AddCommand(Profiles{Host: host, Prompt: prompt, Out: &d.out}.Accounts(g)...)
	root.AddCommand(Commands{Host: host, Prompt: prompt, Out: &d.out, Random: &counter{}}.Command(g),
		Profiles{Host: host, Prompt: prompt, Out: &d.out}.Command(g), accounts,
		Contacts{Host: host, Prompt: prompt, In: &d.in, Out: &d.out}.Command(g))
	root.SetArgs(args)
	root.SetOut(&d.out)
	root.SetErr(&d.said)
	err := root.ExecuteContext(d.Context())
	if err != nil {
		cli.Report(&d.said, err)
	}
	return cli.Code(err)
}

// TestWithoutATerminalNothingIsConfirmedAndEverythingCanBeRead, as `coffer balances` does it: the dashboard opens, and
// what it says names the command.
func TestWithoutATerminalNothingIsConfirmedAndEverythingCanBeRead(t *testing.T) {
	d := newDesk(t)
	d.write("config.toml", []byte("version = 1\ndefault = \"team\"\n[profiles.team]\nkind = \"lab\"\nvault = "+
		"\"memory\"\nbase_url = \"https://wallet.invalid/api\"\nnetwork_file = \""+d.dir+"/network.json\"\n"), 0o600)
	o, err := profile.Host{Getenv: d.getenv}.OpenKeys(t.Context(), "team")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	var said bytes.Buffer
	if err := (Confirm{cli.Prompt{Out: &said}}).Ask(t.Context(), o); err != nil || o.Change() == nil ||
		!strings.Contains(said.String(), "coffer profile confirm --profile team") {
		t.Errorf("%v, %+v, said %s", err, o.Change(), &said)
	}
	if code := d.run("profile", "confirm"); code != cli.ExitUsage ||
		!strings.Contains(d.said.String(), "--fingerprint") ||
		!strings.Contains(d.said.String(), "have not been confirmed") {
		t.Errorf("code %d, said %s", code, &d.said)
	}
}

func fixed() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

// counter is a source of bytes without randomness: 1, 2, 3 and so on.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		c.n++
		p[i] = c.n
	}
	return len(p), nil
}

// TestJSON pins every --json output of this package, in the order of a first set-up. The clock is that of the bubble.
func TestJSON(t *testing.T) {
	d := newDesk(t)
	n, err := network.Decode(descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	d.write("key", []byte(keyText), 0o600)
	d.write("people.csv", []byte("name,address\nBert,"+solanaHere+"\n"), 0o600)
	for _, step := range []struct {
		name string
		args []string
	}{
		{"profile_fingerprint", []string{"profile", "fingerprint", d.dir + "/network.json", "--json"}},
		{"profile_add", []string{
			"profile", "add", "team", "--kind", "lab", "--url", "https://wallet.invalid:8443/api", "--network-file",
			d.dir + "/network.json", "--fingerprint", n.Fingerprint(),
			"--ca-file", d.dir + "/ca.pem", "--policy-file", d.dir + "/policy.toml", "--vault", "keyring-only",
			"--lock-after", "10m", "--json",
		}},
		{"profile_list", []string{"profile", "list", "--json"}},
		{"keys_init", []string{"keys", "init", "--json"}},
		{"keys_probe", []string{"keys", "probe", "--json"}},
		{"keys_list_none", []string{"keys", "list", "--json"}},
		{"keys_new", []string{"keys", "new", "--label", "main", "--json"}},
		{"keys_import", []string{"keys", "import", "--file", d.dir + "/key", "--json"}},
		{"keys_list", []string{"keys", "list", "--json"}},
		{"accounts_list_none", []string{"accounts", "list", "--json"}},
		{"accounts_add", []string{"accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer",
			"0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", "--json"}},
		{"accounts_list", []string{"accounts", "list", "--json"}},
		{"accounts_add_solana", []string{"accounts", "add", "--type", "solana", "--address", seed58, "--json"}},
		{"accounts_list_both", []string{"accounts", "list", "--json"}},
		{"accounts_remove", []string{"accounts", "remove", "solana", "--yes", "--json"}},
		{"contacts_list_none", []string{"contacts", "list", "--json"}},
		{"contacts_add", []string{"contacts", "add", "Anna", anna, "--json"}},
		{"contacts_rename", []string{"contacts", "rename", "anna", "Anna K.", "--json"}},
		{"contacts_import", []string{"contacts", "import", d.dir + "/people.csv", "--json"}},
		{"contacts_list", []string{"contacts", "list", "--json"}},
		{"contacts_remove", []string{"contacts", "remove", "Bert", "--json"}},
		{"profile_add_memory", []string{
			"profile", "add", "roles", "--kind", "lab", "--url", "https://wallet.invalid:8443/api", "--network-file",
			d.dir + "/network.json", "--fingerprint", n.Fingerprint(), "--vault", "memory", "--json",
		}},
		{"accounts_add_roles", []string{
			"accounts", "add", "--type", "role-based", "--session", "0x5e00000000000000000000000000000000000000",
			"--admin", "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", "--json", "--profile", "roles",
		}},
		{"accounts_list_roles", []string{"accounts", "list", "--json", "--profile", "roles"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d.T = t
				if code := d.run(step.args...); code != 0 {
					t.Fatalf("exit code %d\n%s", code, d.said.String())
				}
				golden.RequireEqual(t, []byte(strings.ReplaceAll(d.out.String(), d.dir, "/home/alice")))
			})
		})
	}
}

// TestJSONOfWhatWasRestored: the keys of a backup are printed like those of an import.
func TestJSONOfWhatWasRestored(t *testing.T) {
	var out bytes.Buffer
	items := []vault.Item{{Kind: vault.EVM, Address: "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23",
		Network: "0x" + strings.Repeat("12", 32), Label: "main", Created: fixed()}}
	if err := (Commands{Out: &out}).added(items, true); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, out.Bytes())
}

// TestJSONOfAComparison: differing addresses are printed and refused.
func TestJSONOfAComparison(t *testing.T) {
	a := api.Account{Type: api.AccountKernelV31, SignerAddress: "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
		AccountAddress: common.Address{0xaa}.Hex()}
	own := api.Account{Type: api.AccountSolana, AccountAddress: seed58}
	for name, c := range map[string]struct {
		code int
		said common.Address
	}{"equal": {0, common.Address{0xaa}}, "differs": {cli.ExitRefused, common.Address{0xbb}}} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			hold := func(a api.Account) profile.Holding {
				return profile.Holding{Account: a, Signer: a.AccountAddress, State: profile.KeyMissing}
			}
			p := Profiles{Out: &out, Prompt: cli.Prompt{Out: io.Discard}}
			err := p.compared([]profile.Compared{{Account: a, Said: c.said}, {Account: own, Own: true}}, hold, true)
			if cli.Code(err) != c.code {
				t.Errorf("%v", err)
			}
			golden.RequireEqual(t, out.Bytes())
			out.Reset()
			if err := p.compared([]profile.Compared{{Account: a, Said: c.said}}, hold,
				false); cli.Code(err) != c.code || (out.Len() == 0) != (c.code != 0) {
				t.Errorf("%v, %s", err, out.String())
			}
		})
	}
}

// TestL10_ARefusalTellsNoFingerprintToCopy keeps a person comparing: what the operator tells comes from the operator.
func TestL10_ARefusalTellsNoFingerprintToCopy(t *testing.T) {
	d := newDesk(t)
	n, err := network.Decode(descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	code := d.run("profile", "add", "team", "--kind", "lab", "--url", "https://wallet.invalid/api", "--network-file",
		d.dir+"/network.json", "--vault", "file", "--fingerprint", "0000")
	if said := d.said.String(); code != cli.ExitUsage ||
		!strings.Contains(said, "begins with "+n.Fingerprint()[:4]+":") ||
		strings.Contains(said, n.Fingerprint()[:6]) || strings.Contains(said, n.ID[2:10]) {
		t.Errorf("exit code %d, said %s", code, said)
	}
}

// TestL10_LineEndsAndTheMarkStay adds a profile to a file of an editor that begins with a byte-order mark and ends
// lines with CR and LF.
func TestL10_LineEndsAndTheMarkStay(t *testing.T) {
	for _, old := range []string{"\ufeffversion = 1\r\n# mine\r\n", "version = 1\r\n", "\ufeffversion = 1\n",
		"\ufeffdefault = \"demo\"\r\nversion = 1\r\n", "version = 1\n# mine"} {
		d := newDesk(t)
		path := filepath.Join(d.dir, "config.toml")
		if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"add", "x", "--kind", "embedded", "--vault", "memory"},
			{"add", "y", "--kind", "embedded", "--vault", "memory", "--default"}} {
			if code := d.run(append([]string{"profile"}, args...)...); code != 0 {
				t.Fatalf("%q: exit code %d, said %s", old, code, d.said.String())
			}
		}
		b, err := os.ReadFile(path)
		got := string(b)
		lines, marked := strings.Count(got, "\n"), strings.Count(got, "\r\n")
		if err != nil || strings.HasPrefix(old, "\ufeff") != strings.HasPrefix(got, "\ufeff") ||
			strings.Count(got, "\ufeff") > 1 || strings.Contains(old, "\r\n") && marked != lines ||
			!strings.Contains(old, "\r\n") && marked > 0 || !strings.Contains(got, "[profiles.y]") ||
			!strings.Contains(got, "default = \"y\"") || strings.Count(got, "default") > 1 {
			t.Errorf("%q became\n%q, %v", old, got, err)
		}
	}
}

// TestNothingIsAskedWithoutATerminal: a missing input is an error with a hint, before anything is written, and data is
// never printed half.
func TestNothingIsAskedWithoutATerminal(t *testing.T) {
	d := newDesk(t)
	n, err := network.Decode(descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	add := []string{"profile", "add", "team", "--kind", "lab", "--url", "https://wallet.invalid/api", "--network-file",
		d.dir + "/network.json", "--vault", "file"}
	for _, c := range []struct {
		code int
		hint string
		args []string
	}{
		{cli.ExitUsage, "--fingerprint", add},
		{cli.ExitUsage, "not theirs", append(add, "--fingerprint", "0000")},
		{0, "", append(add, "--fingerprint", n.Fingerprint())},
		{0, "", []string{"profile", "confirm", "--fingerprint", "0000"}}, // it was typed a moment ago
		{cli.ExitUsage, "run it where you can type", []string{"keys", "init", "--json"}},
		{cli.ExitUsage, "coffer keys init", []string{"keys", "list", "--json"}},
		{cli.ExitUsage, "keys probe --help", []string{"keys", "probe", "--wrong"}},
		{cli.ExitUsage, "no such file", []string{"profile", "fingerprint", "none.json", "--json"}},
		{cli.ExitUsage, "keys import --help", []string{"keys", "import", "x"}},
		{cli.ExitUsage, "`coffer profile` needs one of", []string{"profile"}},
	} {
		if code := d.run(c.args...); code != c.code || !strings.Contains(d.said.String(), c.hint) ||
			code != 0 && d.out.Len() > 0 {
			t.Errorf("%v: exit code %d, printed %q, said %s", c.args, code, d.out.String(), d.said.String())
		}
	}
	v, err := vault.OpenFile(vault.Options{Profile: "team", NetworkID: n.ID,
		Dir: filepath.Join(d.dir, "data", "data", "team", "keys"), Clock: fixed, Random: &counter{}, WorkFactor: 1})
	if err == nil {
		err = errors.Join(v.Create(t.Context(), secret.New([]byte(pass))), v.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"list", "new", "api-key set", "api-key remove", "backup x.age",
		"remove 0x2c7536e3605d9c16a7a3d7b1898e529396a65c23"} {
		if code := d.run(append([]string{"keys"}, strings.Fields(command)...)...); code != cli.ExitAccess ||
			!strings.Contains(d.said.String(), "--passphrase-fd") || d.out.Len() > 0 {
			t.Errorf("%s: exit code %d, said %s", command, code, d.said.String())
		}
	}
}
