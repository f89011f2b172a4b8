// Package config reads what the user has set up: profiles, and where things are kept. Without a file everything runs
// on the embedded demo profile. Files are strict TOML: an unknown key, a wrong type or a broken rule is an error that
// names the line. No setting holds a secret.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/files"
	"coffer/api/network"
	"coffer/api/pattern"
)

// SchemaVersion is the version of the configuration file that this program reads.
const SchemaVersion = 1

// DemoProfile is the name of the profile that exists without any configuration.
const DemoProfile = "demo"

// Vault backends of a profile. The choice is explicit; nothing falls back. VaultKeyring keeps secrets in the keyring of
// the operating system, encrypted with a passphrase; VaultKeyringOnly relies on that keyring alone; VaultFile keeps an
// encrypted file; VaultMemory keeps nothing.
const (
	VaultMemory      = "memory"
	VaultKeyring     = "keyring"
	VaultKeyringOnly = "keyring-only"
	VaultFile        = "file"
)

// DefaultLockAfter is how long an unlocked vault may stay idle when a profile does not set it.
const DefaultLockAfter = 5 * time.Minute

// File is the configuration file.
type File struct {
	Version  int                `toml:"version"`
	Default  string             `toml:"default,omitempty"`
	Profiles map[string]Profile `toml:"profiles,omitempty"`
	UI       UI                 `toml:"ui,omitzero"`
}

// Profile names the service to use, the network, the accounts, and where the keys are.
type Profile struct {
	Name        string       `toml:"-"`
	Kind        network.Kind `toml:"kind"`
	NetworkID   string       `toml:"network_id,omitempty"`
	NetworkFile string       `toml:"network_file,omitempty"`
	BaseURL     string       `toml:"base_url,omitempty"`
	CAFile      string       `toml:"ca_file,omitempty"`
	// Networks is the networks.toml of a profile on own nodes: its service runs inside this program and asks these.
	Networks string `toml:"networks,omitempty"`
	// Nodes are read-only nodes of the person's choice, "CHAIN=URL" each, with which the wallet compares what the
	// service says (docs/networks.md); no answer of a service ever adds one.
	Nodes []string `toml:"nodes,omitempty"`

	Vault    string    `toml:"vault"`
	Accounts []Account `toml:"accounts,omitempty"`
	// DefaultAccount is the name of the EVM account that is used without --account; "" is the first one.
	DefaultAccount string `toml:"default_account,omitempty"`

	// LockAfter is a duration such as "5m"; "" is DefaultLockAfter.
	LockAfter string `toml:"lock_after,omitempty"`
	// QuoteLifetime is how long a quote of the service inside this program may be accepted, such as "120s"; "" leaves
	// it to the service. Only a profile whose service is inside has it.
	QuoteLifetime string `toml:"quote_lifetime,omitempty"`
	// RPC is where the chains of the service inside this program answer JSON-RPC while the dashboard runs, such as
	// "127.0.0.1:8545"; "" for nowhere. Only an embedded profile has it.
	RPC string `toml:"rpc,omitempty"`
	// PolicyFile limits what may be signed (docs/policy.md); it is read again at every start.
	PolicyFile string `toml:"policy_file,omitempty"`
	// SignerCommand is a program with its arguments that signs instead of the vault (docs/keys.md).
	SignerCommand []string `toml:"signer_command,omitempty"`
}

// Account is one account of a profile, in the words of the interface. Name is the person's own word for it.
type Account struct {
	Name           string `toml:"name,omitempty"`
	Type           string `toml:"type"`
	AccountAddress string `toml:"account_address,omitempty"`
	SignerAddress  string `toml:"signer_address,omitempty"`
	SessionAddress string `toml:"session_address,omitempty"`
	AdminAddress   string `toml:"admin_address,omitempty"`
	DeploymentType string `toml:"deployment_type,omitempty"`
	// FirstSessionAddress is the session key that a role-based account was made with; it is set when session_address
	// was replaced since.
	FirstSessionAddress string `toml:"first_session_address,omitempty"`
}

// Wire returns the account as the interface writes it.
func (a Account) Wire() api.Account {
	return api.Account{
		Type: a.Type, AccountAddress: a.AccountAddress, SignerAddress: a.SignerAddress,
		SessionAddress: a.SessionAddress, AdminAddress: a.AdminAddress, DeploymentType: a.DeploymentType,
	}
}

// Embedded reports whether the profile's chains are inside this program, and its service with them.
func (p Profile) Embedded() bool { return p.Kind == network.Embedded }

// OwnNodes reports whether the profile's service runs inside this program, on chains behind the person's own nodes.
func (p Profile) OwnNodes() bool { return p.Networks != "" }

// Local reports whether the profile's service runs inside this program.
func (p Profile) Local() bool { return p.Embedded() || p.OwnNodes() }

// An Error is a fault of the configuration file.
type Error = files.Fault

// Load reads and checks the file at path. A missing file is not an error: the result is then the demo profile alone.
// Load refuses a file or directory that other users may write (TH-C3).
func Load(path string) (File, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return File{}, fmt.Errorf("read configuration: %w", err)
	}
	if err := CheckMode(path); err != nil {
		return File{}, err
	}
	return Parse(path, data)
}

// Find reads the configuration in its place.
func Find(getenv func(string) string) (Paths, File, error) {
	paths, err := PathsFrom(getenv)
	if err != nil {
		return paths, File{}, err
	}
	file, err := Load(paths.Config)
	return paths, file, err
}

// Default returns the configuration that holds without a file: the embedded demo profile.
func Default() File {
	return File{Version: SchemaVersion, Default: DemoProfile, Profiles: map[string]Profile{DemoProfile: demo()}}
}

func demo() Profile {
	return Profile{Name: DemoProfile, Kind: network.Embedded, Vault: VaultMemory}
}

// Parse reads and checks the bytes of a configuration file; path only appears in errors. Its error joins an *Error for
// each fault.
func Parse(path string, data []byte) (File, error) {
	data = unmarked(data)
	f, faults, whole := decode(path, data)
	if f.Version != 0 && f.Version != SchemaVersion { // other faults may be right in that version
		return File{}, at(path, data, "version", fmt.Sprintf(
			"unknown version %d, this program knows version %d: a newer Coffer may have written the file", f.Version,
			SchemaVersion))
	}
	if !whole {
		return File{}, errors.Join(faults...)
	}
	say := func(key, problem string) { faults = append(faults, at(path, data, key, problem)) }
	if f.Version == 0 {
		say("version", fmt.Sprintf("the line `version = %d` is missing", SchemaVersion))
	}
	if f.Profiles == nil {
		f.Profiles = map[string]Profile{}
	}
	if _, own := f.Profiles[DemoProfile]; !own {
		f.Profiles[DemoProfile] = demo()
	}
	if f.Default == "" {
		f.Default = DemoProfile
	}
	if _, ok := f.Profiles[f.Default]; !ok {
		say("default", f.missing(f.Default))
	}
	for _, name := range f.names() {
		p := f.Profiles[name]
		p.Name = name
		p.check(func(key, problem string) { say("profiles."+name+"."+key, problem) })
		f.Profiles[name] = p
	}
	f.UI.check(func(key []string, problem string) { faults = append(faults, atUI(path, data, key, problem)) })
	if len(faults) > 0 {
		return File{}, errors.Join(faults...)
	}
	return f, nil
}

// unmarked is a text without the byte-order mark that some editors begin it with.
func unmarked(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// maxFaults bounds what decode reports.
const maxFaults = 20

// decode reads a file. It goes on without a line that cannot be read, to find further faults; whole is false then.
func decode(path string, data []byte) (f File, faults []error, whole bool) {
	lines := bytes.Split(data, []byte("\n"))
	for len(faults) < maxFaults {
		f, data = File{}, bytes.Join(lines, []byte("\n"))
		err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&f)
		if err == nil {
			return f, faults, len(faults) == 0
		}
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) {
			whole = len(faults) == 0
			for _, d := range strict.Errors {
				line, col := d.Position()
				faults = append(faults, &Error{Path: path, Line: line, Column: col, Key: strings.Join(d.Key(), "."),
					Problem: "there is no such setting"})
			}
			break
		}
		fault := tomlError(path, data, err)
		faults = append(faults, fault)
		if fault.Line < 1 {
			break
		}
		line := &lines[fault.Line-1]
		// Below a header that cannot be read every key would seem wrong.
		if text := bytes.TrimSpace(*line); len(text) == 0 || text[0] == '[' {
			break
		}
		*line = nil
	}
	return f, faults, whole
}

// names returns the profile names in order.
func (f File) names() []string { return slices.Sorted(maps.Keys(f.Profiles)) }

// missing says that there is no such profile.
func (f File) missing(name string) string {
	return fmt.Sprintf("there is no profile %q; profiles: %s", name, strings.Join(f.names(), ", "))
}

// Profile returns the named profile, or the default one when name is empty.
func (f File) Profile(name string) (Profile, error) {
	if name == "" {
		name = f.Default
	}
	p, ok := f.Profiles[name]
	if !ok {
		return Profile{}, errors.New(f.missing(name))
	}
	return p, nil
}

var (
	reName      = pattern.New(`^[a-z0-9][a-z0-9_-]{0,31}$`)
	reNetworkID = pattern.New(`^0x[0-9a-f]{64}$`)
)

// nameRule says which names reName takes.
const nameRule = "a profile name has 1 to 32 lower-case letters, digits, - and _, and begins with a letter or a digit"

// check says the key and the problem of each broken rule.
func (p Profile) check(say func(key, problem string)) {
	if !reName.MatchString(p.Name) {
		say("", nameRule)
	}
	if p.Name == serviceData {
		say("", "this name is taken: it holds the data of `coffer serve`")
	}
	switch p.Kind {
	case network.Embedded, network.Lab, network.Test, network.Real:
		if key, problem := p.checkService(); problem != "" {
			say(key, problem)
		}
	default:
		say("kind", `expected "embedded", "lab", "test" or "real"`)
	}
	switch p.Vault {
	case VaultMemory, VaultKeyring, VaultKeyringOnly, VaultFile:
	default:
		say("vault", `expected "keyring", "keyring-only", "file" or "memory"`)
	}
	p.checkSigning(say)
	p.checkQuotes(say)
	p.checkRPC(say)
	p.checkNodes(say)
	p.checkAccounts(say)
}

// lockBounds are the shortest and longest idle time that a profile may set for an unlocked vault.
const (
	shortestLock = 10 * time.Second
	longestLock  = 24 * time.Hour
)

// The shortest and the longest life of a quote that a profile may set; no quote outlives the window of its operations.
const (
	shortestQuote = 30 * time.Second
	longestQuote  = 10 * time.Minute
)

func (p Profile) checkQuotes(say func(key, problem string)) {
	if p.QuoteLifetime == "" {
		return
	}
	if !p.Local() {
		say("quote_lifetime", "only a profile with its service inside has it: the operator of another sets it there "+
			"(coffer serve --lifetime)")
	} else if d := p.QuoteTime(); d < shortestQuote || d > longestQuote {
		say("quote_lifetime", `expected a time from "30s" to "10m", such as "120s"`)
	}
}

// checkRPC allows a loopback address with a port that stays.
func (p Profile) checkRPC(say func(key, problem string)) {
	if p.RPC == "" {
		return
	}
	if !p.Embedded() {
		say("rpc", "only an embedded profile has it: the operator of another service sets it there "+
			"(coffer serve --rpc)")
		return
	}
	at, err := netip.ParseAddrPort(p.RPC)
	if err != nil || !at.Addr().IsLoopback() || at.Port() == 0 {
		say("rpc", `expected a loopback address and a port, such as "127.0.0.1:8545"`)
	}
}

// QuoteTime is how long a quote of the service inside this program may be accepted; 0: as long as the service says.
func (p Profile) QuoteTime() time.Duration {
	d, _ := time.ParseDuration(p.QuoteLifetime)
	return d
}

func (p Profile) checkSigning(say func(key, problem string)) {
	if p.LockAfter != "" {
		if d, err := time.ParseDuration(p.LockAfter); err != nil || d < shortestLock || d > longestLock {
			say("lock_after", `expected a time from "10s" to "24h", such as "5m"`)
		}
	}
	for _, s := range p.SignerCommand {
		if s == "" || strings.ContainsRune(s, 0) {
			say("signer_command",
				`expected a program and its arguments, such as ["/usr/local/bin/signer", "--slot", "1"]`)
			return
		}
	}
}

// LockTime is how long an unlocked vault of the profile may stay idle.
func (p Profile) LockTime() time.Duration {
	if d, err := time.ParseDuration(p.LockAfter); err == nil {
		return d
	}
	return DefaultLockAfter
}

func (p Profile) checkService() (key, problem string) {
	if p.Embedded() {
		if p.BaseURL != "" || p.CAFile != "" || p.NetworkFile != "" {
			return "kind",
				"an embedded profile has no base_url, ca_file or network_file: its service is inside this program"
		}
		if p.OwnNodes() {
			return "kind", `a profile with networks is of kind "real", "test" or "lab", as the file says`
		}
		return "", ""
	}
	if p.OwnNodes() {
		return p.checkOwnNodes()
	}
	u, err := url.Parse(p.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https":
		return "base_url", "expected an https address such as https://host:8443/api"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "base_url", "an address without user name, query or fragment"
	case p.Vault == VaultMemory && p.Kind == network.Real:
		return "vault", `"memory" keeps nothing and is for the demo; choose "keyring" or "file"`
	case p.NetworkID == "" && p.NetworkFile == "":
		return "network_id", "name the network: network_id, or network_file written by the service"
	case p.NetworkID == "" && (p.Vault != VaultMemory || len(p.SignerCommand) > 0):
		return "network_id", "a profile that signs is tied to its network by id, which `coffer profile add` writes down"
	case p.NetworkID != "" && !reNetworkID.MatchString(p.NetworkID):
		return "network_id", "expected 0x and 64 hex digits"
	}
	return "", ""
}

// checkOwnNodes: the service on own nodes is inside this program, and its network is the one that a person confirmed.
func (p Profile) checkOwnNodes() (key, problem string) {
	switch {
	case p.BaseURL != "" || p.CAFile != "" || p.NetworkFile != "":
		return "networks", "a profile on own nodes has no base_url, ca_file or network_file: its service is inside " +
			"this program"
	case !filepath.IsAbs(p.Networks):
		return "networks", "expected the absolute path of a networks.toml"
	case p.Vault == VaultMemory:
		return "vault", `"memory" keeps nothing and is for the demo; choose "keyring" or "file"`
	case !reNetworkID.MatchString(p.NetworkID):
		return "network_id", "a profile on own nodes is tied to its network by id (0x and 64 hex digits), which " +
			"`coffer profile add` writes down"
	}
	return "", ""
}

func (a Account) check() string {
	switch a.Type {
	case api.AccountRoleBased:
		if !isAddress(a.SessionAddress) || !isAddress(a.AdminAddress) {
			return "a role-based account needs session_address and admin_address (0x and 40 hex digits, correct " +
				"letter case)"
		}
		if strings.EqualFold(a.SessionAddress, a.AdminAddress) {
			return "session_address and admin_address must differ"
		}
		if a.FirstSessionAddress != "" && (!isAddress(a.FirstSessionAddress) || a.AccountAddress == "") {
			return "first_session_address: 0x and 40 hex digits, correct letter case, together with account_address"
		}
	case api.AccountKernelV31, api.AccountKernelV33:
		if !isAddress(a.SignerAddress) {
			return "signer_address: expected 0x and 40 hex digits, correct letter case"
		}
	case api.AccountSolana:
		if _, err := caip.ParseSolanaKey(a.AccountAddress); err != nil {
			return "a solana account needs account_address: base58 of 32 bytes"
		}
		if a.SignerAddress+a.SessionAddress+a.AdminAddress+a.DeploymentType+a.FirstSessionAddress != "" {
			return "a solana account has account_address only"
		}
		return ""
	default:
		return "type: expected role-based, kernel-v3.1-ecdsa, kernel-v3.3-ecdsa or solana"
	}
	if problem := a.checkForm(); problem != "" {
		return problem
	}
	if a.AccountAddress != "" && !isAddress(a.AccountAddress) {
		return "account_address: expected 0x and 40 hex digits, correct letter case"
	}
	return ""
}

// checkForm checks what the type of an EVM account does not fix: the form of deployment, and addresses that belong to
// another type.
func (a Account) checkForm() string {
	switch a.Type {
	case api.AccountKernelV33:
		if a.DeploymentType != api.DeploymentEIP7702 {
			return `a kernel-v3.3-ecdsa account needs deployment_type = "EIP7702"`
		}
		if a.AccountAddress != "" && !strings.EqualFold(a.AccountAddress, a.SignerAddress) {
			return "account_address of a kernel-v3.3-ecdsa account is its signer_address"
		}
	default:
		if a.DeploymentType != "" && a.DeploymentType != api.DeploymentERC4337 {
			return `deployment_type: expected "ERC4337" or nothing`
		}
	}
	roles := a.Type == api.AccountRoleBased
	if roles == (a.SignerAddress != "") || !roles && a.SessionAddress+a.AdminAddress+a.FirstSessionAddress != "" {
		return "signer_address is for kernel accounts; session_address, admin_address and first_session_address are " +
			"for role-based ones"
	}
	return ""
}

func isAddress(s string) bool {
	_, err := caip.ParseAddress(s)
	return err == nil && caip.CheckEIP55(s) == nil
}

// at makes an Error and looks for the line that sets the key: it searches for the last part of the key below the
// header of its table.
func at(path string, data []byte, key, problem string) *Error {
	e := &Error{Path: path, Key: strings.TrimSuffix(key, "."), Problem: problem}
	parts := strings.Split(e.Key, ".")
	table, name := strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
	name, _, isList := strings.Cut(name, "[")
	current := ""
	for i, line := range strings.Split(string(data), "\n") {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "[") {
			current = strings.Trim(strings.SplitN(t, "#", 2)[0], "[] \t")
			if current == e.Key || current == table || (isList && current == table+"."+name) {
				e.Line, e.Column = i+1, 1
			}
		}
		k, _, ok := strings.Cut(t, "=")
		if ok && current == table && strings.TrimSpace(k) == name {
			e.Line, e.Column = i+1, strings.Index(line, name)+1
			return e
		}
	}
	return e
}
