package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/config"
)

func now() time.Time { return time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC) }

// service gives the answers that the test sets.
type service struct {
	err      error
	chains   []string
	coSigner common.Address
	predErr  error
	balErr   error
	skew     time.Duration
	proxy    string
	pins     network.Pins
}

func (s service) Chains(context.Context) ([]api.SupportedChain, error) {
	var out []api.SupportedChain
	for _, c := range s.chains {
		out = append(out, api.SupportedChain{Chain: api.ChainRef{Chain: c}})
	}
	return out, s.err
}

func (s service) PredictAddress(_ context.Context, r api.PredictRequest) (api.PredictResponse, error) {
	init := op.InitDataRoleBased(s.pins.RoleBasedValidator, common.HexToAddress(r.SessionAddress),
		common.HexToAddress(r.AdminAddress), s.coSigner)
	return api.PredictResponse{PredictedAddress: op.PredictAddress(s.pins.Factory, s.pins.KernelV31, init,
		new(big.Int)).Hex()}, s.predErr
}

func (s service) Balances(context.Context, client.BalanceQuery) (api.AggregatedBalance, error) {
	return api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{
		{AggregatedAssetID: "ob:usdc", Balance: "5"}, {AggregatedAssetID: "ob:eth", Balance: "0"}}}, s.balErr
}

func (s service) Skew() time.Duration { return s.skew }
func (s service) Proxy() string       { return s.proxy }

func lab() (service, Deps) {
	pins := network.Pins{Factory: common.Address{1}, KernelV31: common.Address{2},
		RoleBasedValidator: common.Address{3}, CoSigner: common.Address{4}}
	s := service{chains: []string{"eip155:1", "eip155:10"}, coSigner: pins.CoSigner, pins: pins}
	return s, Deps{
		Clock: now,
		Profile: config.Profile{Name: "team", Kind: network.Lab, BaseURL: "https://lab.invalid:8443/api",
			Vault: config.VaultFile},
		Network: network.Descriptor{ID: "0x" + strings.Repeat("3fa94c01", 8), Kind: network.Lab,
			Chains: []string{"eip155:1", "eip155:10"}, Pins: pins},
		Query: client.BalanceQuery{Accounts: []string{"eip155:1:0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"}},
		TLS: func(context.Context) (tls.ConnectionState, error) {
			leaf := &x509.Certificate{Issuer: pkix.Name{CommonName: "Coffer\x1b[31m lab"},
				NotAfter: now().Add(90 * 24 * time.Hour)}
			return tls.ConnectionState{Version: tls.VersionTLS13, PeerCertificates: []*x509.Certificate{leaf}}, nil
		},
	}
}

// by finds a finding by its name.
func by(t *testing.T, found []Finding, name string) Finding {
	t.Helper()
	for _, f := range found {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no finding %q in %+v", name, found)
	return Finding{}
}

func TestAGoodServiceIsGood(t *testing.T) {
	s, d := lab()
	d.Service = s
	found := Reach(t.Context(), d)
	for _, f := range found {
		if f.Level != Good || f.Todo != "" {
			t.Errorf("%+v", f)
		}
	}
	if len(found) != 7 || !Well(found) {
		t.Errorf("%d findings", len(found))
	}
	if f := by(t, found, "TLS"); !strings.Contains(f.Text, "TLS 1.3") || strings.Contains(f.Text, "\x1b") {
		t.Errorf("%+v", f)
	}
}

func TestTheAPIKeyIsToldApart(t *testing.T) {
	for name, want := range map[string]struct {
		level Level
		text  string
	}{
		api.ErrUnauthorized: {Bad, "401"}, api.ErrForbidden: {Bad, "403"}, api.ErrTooManyRequests: {Warn, "429"},
		api.ErrInternal: {Unknown, "failed"},
	} {
		s, d := lab()
		s.err = api.NewError(name, "x")
		d.Service = s
		found := Reach(t.Context(), d)
		if f := by(t, found, "API key"); f.Level != want.level || !strings.Contains(f.Text, want.text) || f.Todo == "" {
			t.Errorf("%s: %+v", name, f)
		}
		if by(t, found, "reached").Level != Good || by(t, found, "balances").Level != Unknown ||
			by(t, found, "network").Level != Unknown {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestAServiceThatIsNotReachedSaysWhatToDo(t *testing.T) {
	for err, todo := range map[error]string{
		error(x509.UnknownAuthorityError{}):                                    "get ca.pem from",
		error(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}): "another name",
		error(x509.CertificateInvalidError{Reason: x509.Expired, Cert: &x509.Certificate{
			NotAfter: now().Add(-time.Hour)}}): "expired on 2026-11-21: check this machine's clock",
		error(x509.CertificateInvalidError{Reason: x509.Expired, Cert: &x509.Certificate{
			NotBefore: now().Add(48 * time.Hour)}}): "is valid from 2026-11-23",
		errors.New("connection refused"): "that the service runs",
	} {
		s, d := lab()
		s.err = &client.Error{Op: "list chains", Kind: client.KindNetwork, Err: err}
		d.Service = s
		found := Reach(t.Context(), d)
		if f := by(t, found, "reached"); f.Level != Bad || !strings.Contains(f.Todo, todo) || Well(found) {
			t.Errorf("%v: %+v", err, f)
		}
		if by(t, found, "API key").Level != Unknown {
			t.Error("the key of a service that was not reached is known")
		}
		if n := strings.Count(Text(found, "", func(s string) string { return s }), "list chains"); n != 1 { // L5
			t.Errorf("the error is said %d times: %+v", n, found)
		}
	}
	_, d := lab()
	d.Broken = errors.New("ca_file: others may write here")
	if f := Reach(t.Context(), d); len(f) != 1 || f[0].Level != Bad {
		t.Errorf("%+v", f)
	}
}

// Two installations have the same fixed addresses and different co-signers: the doctor does not take the service of
// one for the other's.
func TestAnotherNetworkIsNoticedWithoutBeingTold(t *testing.T) {
	s, d := lab()
	s.coSigner = common.Address{9}
	d.Service = s
	if f := by(t, Reach(t.Context(), d), "network"); f.Level != Bad || !strings.Contains(f.Text, "another network") {
		t.Errorf("%+v", f)
	}
	s.predErr = api.NewError(api.ErrForbidden, "no")
	d.Service = s
	if f := by(t, Reach(t.Context(), d), "network"); f.Level != Unknown {
		t.Errorf("%+v", f)
	}
}

func TestChainsClockAndBalancesAreJudged(t *testing.T) {
	for _, c := range []struct {
		change func(*service)
		name   string
		level  Level
		part   string
	}{
		{func(s *service) { s.chains = s.chains[:1] }, "chains", Warn, "eip155:10"},
		{func(s *service) { s.chains = append(s.chains, "eip155:66\x1b") }, "chains", Warn, "eip155:66"},
		{func(s *service) { s.skew = 7 * time.Second }, "clock", Warn, "7s ahead"},
		{func(s *service) { s.skew = -time.Minute }, "clock", Bad, "1m0s behind"},
		{func(s *service) { s.skew = 2 * time.Second }, "clock", Good, "2s ahead"},
		{func(s *service) { s.balErr = errors.New("none today") }, "balances", Bad, "none today"},
		{func(s *service) { s.proxy = "proxy:3128" }, "TLS", Unknown, "proxy:3128"},
	} {
		s, d := lab()
		c.change(&s)
		d.Service = s
		if f := by(t, Reach(t.Context(), d), c.name); f.Level != c.level || !strings.Contains(f.Text, c.part) ||
			strings.Contains(f.Text, "\x1b") {
			t.Errorf("%+v", f)
		}
	}
}

func TestAChainThatThisProgramDoesNotKnowIsSaid(t *testing.T) {
	s, d := lab()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	d.Service, d.Catalog = s, cat
	if f := by(t, Reach(t.Context(), d), "chains"); f.Level != Good {
		t.Errorf("%+v", f)
	}
	s.chains = append(s.chains, "eip155:424242")
	d.Service, d.Network.Chains = s, s.chains
	if f := by(t, Reach(t.Context(), d), "chains"); f.Level != Warn ||
		!strings.Contains(f.Text, "does not know eip155:424242") {
		t.Errorf("%+v", f)
	}
}

func TestFilesThatOthersMayWriteAreBad(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	_, d := lab()
	d.Paths = config.Paths{Config: filepath.Join(dir, "none.toml"), State: dir}
	d.Profile.NetworkFile, d.Profile.CAFile, d.Profile.PolicyFile = write("network.json", 0o622),
		filepath.Join(dir, "gone.pem"), write("policy.toml", 0o600)
	d.Policy = func() error { return errors.New("policy.toml:1:1: broken") }
	if err := os.Mkdir(filepath.Join(dir, "team"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "team"), 0o777); err != nil {
		t.Fatal(err)
	}
	found := d.files()
	for name, level := range map[string]Level{"configuration": Good, "network file": Bad, "certificate authority": Bad,
		"policy": Bad, "journal": Bad} {
		if f := by(t, found, name); f.Level != level {
			t.Errorf("%+v", f)
		}
	}
}

func TestK7_AnOlderJournalIsFound(t *testing.T) {
	_, d := lab()
	d.Paths = config.Paths{Config: filepath.Join(t.TempDir(), "none.toml"), State: t.TempDir()}
	if f := by(t, d.files(), "journal"); f.Level != Good {
		t.Errorf("%+v", f)
	}
	d.Journal = func() error { return errors.New("this journal is older than what was signed") }
	if f := by(t, d.files(), "journal"); f.Level != Bad || !strings.Contains(f.Text, "older") ||
		!strings.Contains(f.Todo, "coffer activity adopt") {
		t.Errorf("%+v", f)
	}
}

func TestTheKeysAreJudged(t *testing.T) {
	for _, c := range []struct {
		keys  Keys
		level Level
		part  string
	}{
		{Keys{Where: "a file", Setup: true, Locked: true}, Good, "locked"}, {Keys{Where: "a file"}, Warn, "not set up"},
		{Keys{Where: "the keyring", Err: errors.New("no D-Bus session")}, Bad, "no D-Bus session"},
		{Keys{None: true}, Good, "no keys are stored"}, {Keys{Command: true}, Unknown, "another program"},
	} {
		_, d := lab()
		d.Keys = func(context.Context) Keys { return c.keys }
		if f := d.keys(t.Context())[0]; f.Level != c.level || !strings.Contains(f.Text, c.part) {
			t.Errorf("%+v", f)
		}
	}
}

func TestTheTerminalIsDescribed(t *testing.T) {
	env := func(k string) string { return map[string]string{"STY": "1", "SSH_TTY": "/dev/pts/1"}[k] }
	term := TerminalOf(env)
	if !term.Remote || term.Multiplexer != "screen" {
		t.Errorf("%+v", term)
	}
	if f := term.kind(); f.Level != Unknown || !strings.Contains(f.Text, "over SSH, inside screen") {
		t.Errorf("%+v", f)
	}
	for name, level := range map[string]Level{"dumb": Warn, "xterm": Good, "xterm-256color": Good,
		"tmux-256color": Good, "": Unknown} {
		if f := TerminalOf(func(k string) string { return map[string]string{"TERM": name}[k] }).kind(); f.Level !=
			level || f.Level == Warn && !strings.Contains(f.Todo, "--linear") {
			t.Errorf("%q: %+v", name, f)
		}
	}
	term.ASCII, term.Width, term.Height, term.MinW, term.MinH = true, 50, 20, 60, 20
	found := term.findings()
	for name, level := range map[string]Level{"kind": Unknown, "colours": Unknown, "characters": Warn, "size": Bad,
		"clipboard": Unknown} {
		if f := by(t, found, name); f.Level != level {
			t.Errorf("%+v", f)
		}
	}
}

func TestTheReportNamesNobody(t *testing.T) {
	s, d := lab()
	s.balErr = errors.New("dial tcp 10.1.2.3:8443: lab.invalid refused 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 " +
		"GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ")
	d.Service, d.Home = s, "/home/me"
	d.Paths = config.Paths{Config: "/home/me/.config/coffer/config.toml", State: "/home/me/.local/state/coffer"}
	d.Pins = func() error { return nil }
	d.Build = Build{Version: "1.2", Revision: "0123456789abcdef", Go: "go1.26", System: "linux/amd64"}
	report := Report(Run(t.Context(), d), d)
	for _, private := range []string{"lab.invalid", "10.1.2.3", "0x93DB", "GThUX1", "/home/me", "team", "8443"} {
		if strings.Contains(report, private) {
			t.Errorf("%q is in the report:\n%s", private, report)
		}
	}
	for _, said := range []string{"accepted", "[host]", "[address]", "~/.config", "coffer 1.2, revision 0123456789ab",
		"bad      balances"} {
		if !strings.Contains(report, said) {
			t.Errorf("%q is not in the report:\n%s", said, report)
		}
	}
}

// Places outside the home directory, the name of a certificate authority and a proxy reveal a company and its
// machines.
func TestTheReportNamesNoPlaceAndNoCompany(t *testing.T) {
	s, d := lab()
	s.proxy = "proxy.ant-works.example:3128"
	d.Service, d.Home = s, "/home/me"
	d.Paths = config.Paths{Config: "/srv/ant/etc/config.toml", Data: "/srv/ant/data", State: "/srv/ant/state"}
	d.Profile.NetworkFile, d.Profile.CAFile, d.Profile.PolicyFile = "/srv/ant/lab/network.json", "/srv/ant/lab/ca.pem",
		"/mnt/secret-project/policy.toml"
	d.Policy = func() error { return nil }
	report := Report(Run(t.Context(), d), d)
	for _, private := range []string{"ant-works", "/srv/ant", "secret-project"} {
		if strings.Contains(report, private) {
			t.Errorf("%q is in the report:\n%s", private, report)
		}
	}
	s.proxy, d.Service = "", nil
	d.Service = s
	if report = Report(Run(t.Context(), d), d); strings.Contains(report, "certificate by Coffer") ||
		!strings.Contains(report, "certificate by [issuer], until 2027-02-19") ||
		!strings.Contains(report, "[directory]") {
		t.Errorf("%s", report)
	}
}

func TestAChangedNetworkThatNobodyConfirmedIsSaid(t *testing.T) {
	d := Deps{Profile: config.Profile{Name: "mine"}, Pins: func() error { return nil },
		Unconfirmed: errors.New("the network has changed")}
	all := d.pins()
	if len(all) != 2 || all[1].Level != Bad || !strings.Contains(all[1].Todo, "coffer profile confirm --profile mine") {
		t.Errorf("%+v", all)
	}
}

// TestL5_ADirectoryThatCannotBeWrittenIsFound: before anything is signed, and a full disk is told from a closed one.
func TestL5_ADirectoryThatCannotBeWrittenIsFound(t *testing.T) {
	for err, want := range map[error]string{
		nil:                                "",
		&fs.PathError{Err: syscall.ENOSPC}: "the disk is full",
		&fs.PathError{Err: syscall.EACCES}: "cannot be written: ",
	} {
		_, d := lab()
		d.Paths = config.Paths{Config: t.TempDir() + "/config.toml", Data: t.TempDir(), State: t.TempDir()}
		d.Writable = func(string) error { return err }
		found := d.files()
		f := by(t, found, "journal")
		if (f.Level == Bad) != (want != "") || !strings.Contains(f.Text, want) || (f.Todo == "") != (want == "") {
			t.Errorf("%v: %+v", err, f)
		}
		if want != "" && by(t, found, "data").Level != Bad {
			t.Errorf("%v: %+v", err, found)
		}
	}
	dir := t.TempDir()
	if err := TryToWrite(dir + "/not/there/yet"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if err := TryToWrite("/proc/coffer"); runtime.GOOS == "linux" && err == nil {
		t.Error("/proc was written to")
	}
}

// TestL5_TheDateOfTheCAFileIsExamined: an expired authority is bad, one that expires soon is worth a look.
func TestL5_TheDateOfTheCAFileIsExamined(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for left, want := range map[time.Duration]Level{-time.Hour: Bad, 24 * time.Hour: Warn, 365 * 24 * time.Hour: Good} {
		c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: now().Add(left)}
		der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		_, d := lab()
		d.Profile.CAFile = t.TempDir() + "/ca.pem"
		if err := os.WriteFile(d.Profile.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
			0o600); err != nil {
			t.Fatal(err)
		}
		level := Good
		for _, f := range d.files() {
			if f.Name == "certificate authority" && f.Level != Good {
				level = f.Level
			}
		}
		if level != want {
			t.Errorf("%v left: %v", left, level)
		}
	}
}

// TestL5_ACAFileWithoutACertificateIsFound: a file that is there and holds none makes every connection fail.
func TestL5_ACAFileWithoutACertificateIsFound(t *testing.T) {
	_, d := lab()
	d.Profile.CAFile = t.TempDir() + "/ca.pem"
	if err := os.WriteFile(d.Profile.CAFile, []byte("no certificate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var found []Finding
	for _, f := range d.files() {
		if f.Name == "certificate authority" {
			found = append(found, f)
		}
	}
	if len(found) != 1 || found[0].Level != Bad || !strings.Contains(found[0].Text, "holds no certificate") {
		t.Errorf("%+v", found)
	}
}

// TestL5_AWrongPassphraseIsBad: an unknown key is a fault where the passphrase that the command was given is wrong.
func TestL5_AWrongPassphraseIsBad(t *testing.T) {
	for wrong, want := range map[bool]Level{false: Unknown, true: Bad} {
		_, d := lab()
		d.AccountKeys = func(context.Context) []AccountKey {
			return []AccountKey{{Account: "0xa", Signer: "0xb", Why: "it does not open the keys", Wrong: wrong}}
		}
		f := d.accountKeys(t.Context())
		if len(f) != 1 || f[0].Level != want || !strings.Contains(f[0].Text, "it does not open the keys") ||
			strings.Contains(f[0].Todo, "--passphrase-fd") == wrong {
			t.Errorf("%v: %+v", wrong, f)
		}
	}
}
