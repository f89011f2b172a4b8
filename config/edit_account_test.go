package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"coffer/config"
)

func TestL4_RemoveAccountLeavesEverythingElse(t *testing.T) {
	const head = "version = 1\n# mine\n[profiles.mine]\nkind = \"embedded\" # play\nvault = \"file\"\n"
	const evm = "\n# the everyday one\n[[profiles.mine.accounts]]\ntype = \"kernel-v3.1-ecdsa\" # " +
		"EVM\nsigner_address = \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\"\n"
	const solana = "\n[[profiles.\"mine\".accounts]]\ntype = \"solana\"\naccount_address = " +
		"\"GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ\"\n"
	const tail = "\n# the other\n[profiles.other]\nkind = \"embedded\"\nvault = " +
		"\"file\"\n\n[[profiles.other.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\n" +
		"signer_address = \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\"\n"
	path := filepath.Join(t.TempDir(), "config.toml")
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
	put(head + evm + solana + tail)
	if err := config.RemoveAccount(path, "mine", 1); err != nil {
		t.Fatal(err)
	}
	has(head + evm + tail)
	if err := config.RemoveAccount(path, "mine", 0); err != nil {
		t.Fatal(err)
	}
	has(head + "\n# the everyday one\n" + tail)
	const inline = "version = 1\n[profiles.mine]\nkind = \"embedded\"\nvault = \"file\"\naccounts = [{ type = " +
		"\"kernel-v3.1-ecdsa\", signer_address = \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\" }]\n"
	put(inline)
	for _, at := range []int{-1, 0, 1} {
		if err := config.RemoveAccount(path, "mine", at); err == nil {
			t.Errorf("account %d of another form was taken out", at)
		}
	}
	if err := config.RemoveAccount(path, "demo", 0); err == nil {
		t.Error("the demo's account was taken out")
	}
	has(inline)
}

const (
	daily   = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	savings = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
)

func edited(t *testing.T, text string) (path string, has func(want string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

func TestD17_SeveralAccountsAreNamedAndOneIsTheDefault(t *testing.T) {
	const head = "version = 1\n# mine\n[profiles.mine]\nkind = \"embedded\" # play\nvault = \"file\"\n"
	const one = "\n# the everyday one\n[[profiles.mine.accounts]]\ntype = \"kernel-v3.1-ecdsa\" # EVM\n" +
		"signer_address = \"" + daily + "\"\n"
	path, has := edited(t, head+one)
	if err := config.AddAccount(path, "mine", config.Account{Name: "savings", Type: "kernel-v3.1-ecdsa",
		SignerAddress: savings}); err != nil {
		t.Fatal(err)
	}
	two := "\n[[profiles.mine.accounts]]\nname = 'savings'\ntype = 'kernel-v3.1-ecdsa'\nsigner_address = '" + savings +
		"'\n"
	has(head + one + two)
	if p := profileOf(t, path); p.Default() != 0 {
		t.Errorf("account %d is the default", p.Default())
	}
	if err := config.NameAccount(path, "mine", 0, "daily"); err != nil {
		t.Fatal(err)
	}
	has(head + one + "name = \"daily\"\n" + two)
	if err := config.SetDefaultAccount(path, "mine", "savings"); err != nil {
		t.Fatal(err)
	}
	has(head + "default_account = \"savings\"\n" + one + "name = \"daily\"\n" + two)
	if p := profileOf(t, path); p.Default() != 1 {
		t.Errorf("account %d is the default", p.Default())
	}
	for what, err := range map[string]error{
		"a name that is there":    config.NameAccount(path, "mine", 0, "Savings"),
		"a name like an address":  config.NameAccount(path, "mine", 0, "0xabc"),
		"a default without name":  config.SetDefaultAccount(path, "mine", "spare"),
		"an account out of range": config.NameAccount(path, "mine", 2, "spare"),
	} {
		if err == nil {
			t.Errorf("%s was written", what)
		}
	}
	if err := config.NameAccount(path, "mine", 1, "rainy days"); err != nil { // the default follows
		t.Fatal(err)
	}
	two = strings.Replace(two, "'savings'", "\"rainy days\"", 1)
	has(head + "default_account = \"rainy days\"\n" + one + "name = \"daily\"\n" + two)
	if err := config.RemoveAccount(path, "mine", 1); err != nil { // and goes with its account
		t.Fatal(err)
	}
	has(head + one + "name = \"daily\"\n")
}

func profileOf(t *testing.T, path string) config.Profile {
	t.Helper()
	f, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return f.Profiles["mine"]
}

func TestD17_NamesOfAccounts(t *testing.T) {
	for name, good := range map[string]bool{
		"daily": true, "Rainy days": true, "été-2": true, "a": true, "x.y_z": true,
		"": false, " a": false, "a  b": false, "-a": false, "a\nb": false, "0xabc": false, "solana": false,
		"Account 2": false, "kernel-v3.1-ecdsa": false, "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ": false,
		"abcdefghijklmnopqrstuvwxy": false,
		"a\u202eb":                  false, "a/b": false,
	} {
		if err := config.CheckAccountName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
	for text, good := range map[string]bool{
		"default_account = \"Daily\"": true, "default_account = \"sol\"": false, "default_account = \"spare\"": false,
	} {
		_, err := config.Parse("c.toml", []byte("version = 1\n[profiles.mine]\nkind = \"embedded\"\n"+
			"vault = \"file\"\n"+text+
			"\n[[profiles.mine.accounts]]\nname = \"sol\"\ntype = \"solana\"\naccount_address = "+
			"\"GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ\"\n[[profiles.mine.accounts]]\nname = \"daily\"\n"+
			"type = \"kernel-v3.1-ecdsa\"\nsigner_address = \""+daily+"\"\n"))
		if (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzAccounts: for every file, adding, naming, choosing and removing an account changes that and nothing else, or is
// refused and changes nothing.
func FuzzAccounts(f *testing.F) {
	const head = "version = 1\n[profiles.mine]\nkind = \"embedded\"\nvault = \"file\"\n"
	const table = "[[profiles.mine.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\nsigner_address = \"" + daily + "\"\n"
	for _, s := range []string{head, head + table,
		head + "default_account='a' # x\n" + table + "name = \"a\" # mine\n# end\n",
		strings.ReplaceAll(head+table, "\n", "\r\n"), head + "accounts = []\n"} {
		f.Add([]byte(s), "b c")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		step := func(change func() error, meant func(*config.Profile)) {
			before, _ := os.ReadFile(path)
			old, errOld := config.Parse(path, before)
			err := change()
			after, _ := os.ReadFile(path)
			if err != nil {
				if string(after) != string(before) {
					t.Fatalf("refused (%v), and changed: %q", err, after)
				}
				return
			}
			now, errNow := config.Parse(path, after)
			want := old.Profiles["mine"]
			meant(&want)
			if errOld != nil || errNow != nil || !reflect.DeepEqual(now.Profiles["mine"], want) ||
				!reflect.DeepEqual(now.UI, old.UI) || now.Default != old.Default ||
				len(now.Profiles) != len(old.Profiles) {
				t.Fatalf("%q became %q (%v, %v)\n%+v\n%+v", before, after, errOld, errNow, now.Profiles["mine"], want)
			}
		}
		added := config.Account{Type: "kernel-v3.1-ecdsa", SignerAddress: savings}
		step(func() error { return config.AddAccount(path, "mine", added) }, func(p *config.Profile) {
			p.Accounts = append(slices.Clone(p.Accounts), added)
		})
		at := 0
		if c, err := config.Load(path); err == nil {
			at = len(c.Profiles["mine"].Accounts) - 1
		}
		named := func(p *config.Profile) {
			if old := p.Accounts[at].Name; old != "" && strings.EqualFold(old, p.DefaultAccount) {
				p.DefaultAccount = name
			}
			p.Accounts = slices.Clone(p.Accounts)
			p.Accounts[at].Name = name
		}
		step(func() error { return config.NameAccount(path, "mine", at, name) }, named)
		step(func() error { return config.SetDefaultAccount(path, "mine", name) }, func(p *config.Profile) {
			p.DefaultAccount = name
		})
		step(func() error { return config.RemoveAccount(path, "mine", at) }, func(p *config.Profile) {
			if n := p.Accounts[at].Name; n != "" && strings.EqualFold(n, p.DefaultAccount) {
				p.DefaultAccount = ""
			}
			p.Accounts = slices.Delete(slices.Clone(p.Accounts), at, at+1)
			if len(p.Accounts) == 0 {
				p.Accounts = nil
			}
		})
	})
}
