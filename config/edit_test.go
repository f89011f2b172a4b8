package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
)

const someNetwork = "0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func team() Profile {
	return Profile{Name: "team", Kind: network.Lab, BaseURL: "https://127.0.0.1:8443/api", NetworkID: someNetwork,
		Vault: VaultFile}
}

// wrong returns the first fault of a profile.
func wrong(p Profile) (key, problem string) {
	p.check(func(k, what string) {
		if problem == "" {
			key, problem = k, what
		}
	})
	return key, problem
}

func TestAddedProfilesAndAccountsAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coffer", "config.toml")
	if err := AddProfile(path, team(), true); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, a := range []Account{
		{Type: "kernel-v3.1-ecdsa", SignerAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"},
		{Type: "solana", AccountAddress: "11111111111111111111111111111111"},
	} {
		if err := AddAccount(path, "team", a); err != nil {
			t.Fatal(err)
		}
	}
	second := team()
	second.Name, second.Kind, second.BaseURL, second.NetworkID = "mine", network.Embedded, "", ""
	if err := AddProfile(path, second, true); err != nil {
		t.Fatalf("a second profile: %v", err)
	}
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Profile("mine"); err != nil {
		t.Error(err)
	}
	p, err := f.Profile("")
	if err != nil || p.Name != "team" || p.Vault != VaultFile || len(p.Accounts) != 2 ||
		p.Accounts[1].Type != "solana" {
		t.Fatalf("read back %+v, %v", p, err)
	}
}

func TestAddingKeepsWhatStandsInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	before := "# mine\nversion = 1 # keep\n\n[profiles.a] # first\nkind = \"embedded\"\nvault = \"memory\""
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := AddProfile(path, team(), true); err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile(path)
	if !strings.HasPrefix(string(after), before) {
		t.Errorf("the file became\n%s", after)
	}
	if f, err := Load(path); err != nil || f.Default != DemoProfile {
		t.Errorf("default %q, %v", f.Default, err)
	}
}

func TestAddingRefusesWhatReadingWouldRefuseAndChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := AddProfile(path, team(), false); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	unsafe := team()
	unsafe.Name, unsafe.BaseURL = "other", "http://example.org"
	evm := Account{Type: "kernel-v3.1-ecdsa", SignerAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}
	for name, err := range map[string]error{
		"twice":            AddProfile(path, team(), false),
		"no https":         AddProfile(path, unsafe, false),
		"no such profile":  AddAccount(path, "nobody", evm),
		"built-in profile": AddAccount(path, DemoProfile, evm),
		"broken account":   AddAccount(path, "team", Account{Type: "kernel-v3.1-ecdsa"}),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if err := AddAccount(path, "team", evm); err != nil {
		t.Fatal(err)
	}
	if err := AddAccount(path, "team", evm); err == nil {
		t.Error("the same account was accepted twice")
	}
	after, _ := os.ReadFile(path)
	if !strings.HasPrefix(string(after), string(before)) {
		t.Error("the file was changed")
	}
}

func TestAccountsObeyTheCombinationRules(t *testing.T) {
	const signer, admin = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	sol := Account{Type: "solana", AccountAddress: "11111111111111111111111111111111"}
	kernel := Account{Type: "kernel-v3.1-ecdsa", SignerAddress: signer}
	eoa := Account{Type: "kernel-v3.3-ecdsa", SignerAddress: signer, DeploymentType: "EIP7702"}
	roles := Account{Type: "role-based", SessionAddress: signer, AdminAddress: admin}
	for name, c := range map[string]struct {
		accounts []Account
		good     bool
	}{
		"kernel beside solana":     {[]Account{kernel, sol}, true},
		"eoa beside solana":        {[]Account{sol, eoa}, true},
		"role-based beside solana": {[]Account{roles, sol}, true},
		"two EVM accounts":         {[]Account{kernel, sol, eoa}, true},
		"the same account twice": {[]Account{kernel, {Type: kernel.Type, SignerAddress: signer,
			DeploymentType: "ERC4337", Name: "again"}}, false},
		"one account by its address twice": {[]Account{
			{Type: kernel.Type, SignerAddress: signer, AccountAddress: admin},
			{Type: kernel.Type, SignerAddress: admin, AccountAddress: admin}}, false},
		"one key for two accounts": {[]Account{kernel, {Type: kernel.Type, SignerAddress: admin}}, true},
		"two solana accounts":      {[]Account{sol, sol}, false},
		"solana with a signer": {[]Account{{Type: "solana", AccountAddress: sol.AccountAddress,
			SignerAddress: signer}}, false},
		"solana without a key": {[]Account{{Type: "solana", AccountAddress: "abc"}}, false},
		"eoa without EIP7702":  {[]Account{{Type: eoa.Type, SignerAddress: signer}}, false},
		"eoa at another address": {[]Account{{Type: eoa.Type, SignerAddress: signer, DeploymentType: "EIP7702",
			AccountAddress: admin}}, false},
		"kernel with EIP7702": {[]Account{{Type: kernel.Type, SignerAddress: signer,
			DeploymentType: "EIP7702"}}, false},
		"kernel with a session": {[]Account{{Type: kernel.Type, SignerAddress: signer, SessionAddress: admin}},
			false},
		"role-based with a signer": {[]Account{{Type: roles.Type, SessionAddress: signer, AdminAddress: admin,
			SignerAddress: signer}}, false},
		"session is admin": {[]Account{{Type: roles.Type, SessionAddress: signer, AdminAddress: signer}},
			false},
		"first session without account": {[]Account{{Type: roles.Type, SessionAddress: signer, AdminAddress: admin,
			FirstSessionAddress: admin}}, false},
	} {
		p := team()
		p.Accounts = c.accounts
		if _, problem := wrong(p); (problem == "") != c.good {
			t.Errorf("%s: %q", name, problem)
		}
	}
}

func TestFirstSessionKeepsTheAddress(t *testing.T) {
	const first, now, admin = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
		"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	before := Account{Type: "role-based", SessionAddress: first, AdminAddress: admin}
	after := Account{Type: "role-based", SessionAddress: now, AdminAddress: admin, FirstSessionAddress: first}
	if a, b := before.follows(network.Pins{}), after.follows(network.Pins{}); a != b {
		t.Errorf("the address moved from %s to %s", a, b)
	}
	after.AccountAddress = before.follows(network.Pins{})
	p := Profile{Accounts: []Account{after}}
	if got := p.FirstSessions()[common.HexToAddress(after.AccountAddress)]; got != common.HexToAddress(first) {
		t.Errorf("first session %s", got)
	}
}

func TestSigningSettingsAreChecked(t *testing.T) {
	for _, c := range []struct {
		change func(*Profile)
		good   bool
	}{
		{func(p *Profile) { p.LockAfter = "90s" }, true},
		{func(p *Profile) { p.LockAfter = "1s" }, false},
		{func(p *Profile) { p.LockAfter = "48h" }, false},
		{func(p *Profile) { p.LockAfter = "soon" }, false},
		{func(p *Profile) { p.SignerCommand = []string{"/bin/signer", "--slot"} }, true},
		{func(p *Profile) { p.SignerCommand = []string{""} }, false},
		{func(p *Profile) { p.Vault = VaultKeyringOnly }, true},
		{func(p *Profile) { p.Vault = "plain" }, false},
	} {
		p := team()
		c.change(&p)
		if _, problem := wrong(p); (problem == "") != c.good {
			t.Errorf("%+v: %q", p, problem)
		}
	}
	if d := (Profile{LockAfter: "90s"}).LockTime(); d.Seconds() != 90 {
		t.Errorf("lock after %s", d)
	}
	if d := (Profile{}).LockTime(); d != DefaultLockAfter {
		t.Errorf("lock after %s", d)
	}
}

func TestAFileBehindASymbolicLinkIsEditedWhereItLies(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.toml"), filepath.Join(dir, "config.toml")
	if err := os.WriteFile(real, []byte("version = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := AddProfile(link, team(), false); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
	if f, err := Load(real); err != nil || f.Profiles["team"].Kind != network.Lab {
		t.Errorf("%+v, %v", f, err)
	}
}

// A profile that signs names its network by id, so that another network file in the same place cannot redirect it.
func TestAProfileThatSignsNamesItsNetworkByID(t *testing.T) {
	p := team()
	p.NetworkID, p.NetworkFile = "", "/n.json"
	if key, problem := wrong(p); key != "network_id" || problem == "" {
		t.Errorf("%s: %q", key, problem)
	}
	p.Vault = VaultMemory
	if _, problem := wrong(p); problem != "" {
		t.Error(problem)
	}
	p.SignerCommand = []string{"/bin/signer"}
	if _, problem := wrong(p); problem == "" {
		t.Error("a profile with a signer command passed without network_id")
	}
}

func TestTheServicesOwnDirectoryIsNoProfile(t *testing.T) {
	p := Profile{Name: "serve", Kind: network.Embedded, Vault: VaultMemory}
	if _, problem := wrong(p); problem == "" {
		t.Error("a profile named serve would use the data of coffer serve")
	}
}
