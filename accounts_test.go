package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/api/service"
	"coffer/api/service/store"
	"coffer/config"
	"coffer/ui/cli"
)

// roleBench is a service in this process, with a clock that only moves when told to, and a profile with a role-based account.
type roleBench struct {
	*testing.T
	mu   sync.Mutex
	now  time.Time
	w    *roleWallet
	said bytes.Buffer
	cmd  roleCommands
	file string // with the admin key
}

func (b *roleBench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *roleBench) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *roleBench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func newRoleBench(t *testing.T) *roleBench {
	t.Helper()
	b := &roleBench{T: t, now: time.Unix(1_760_000_000, 0), file: filepath.Join(t.TempDir(), "admin.key")}
	svc, err := service.Open(service.Options{Store: store.NewMemory(), Clock: b.clock, Seed: []byte("accounts tests: 32 bytes of seed"), Fund: true})
	b.must(err)
	t.Cleanup(func() { b.must(svc.Close()) })
	c, err := client.New(client.Options{BaseURL: client.EmbeddedBaseURL, APIKey: secret.New([]byte(svc.APIKey())), Transport: service.RoundTripper(svc.Handler())})
	b.must(err)
	cat, err := catalog.Load()
	b.must(err)
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("accounts tests admin")))
	b.must(err)
	b.must(os.WriteFile(b.file, []byte(hex.EncodeToString(crypto.FromECDSA(key))+"\n"), 0o600))
	b.w = &roleWallet{s: &session{
		profile: config.Profile{Name: "roles"}, client: c, catalog: cat, network: svc.Network(),
		accounts: []api.Account{{Type: api.AccountRoleBased, SessionAddress: common.Address{0x5e}.Hex(), AdminAddress: crypto.PubkeyToAddress(key.PublicKey).Hex()}},
	}}
	b.must(b.w.fill(caip.Chain{}))
	b.cmd = roleCommands{prompt: cli.Prompt{Out: &b.said}}
	return b
}

// options name a chain, the key file and the right confirmation.
func (b *roleBench) options(on uint64) cli.AdminOptions {
	b.Helper()
	address := b.w.account.Address.Hex()
	o := cli.AdminOptions{KeyFile: b.file, Confirm: address[len(address)-4:]}
	if on != 0 {
		o.Chain = caip.EVM(on)
	}
	b.w.chains = nil
	b.must(b.w.fill(o.Chain))
	return o
}

// balances are the account's amounts on Base by symbol.
func (b *roleBench) balances(of common.Address) map[string]string {
	b.Helper()
	w := *b.w
	w.account.Address = of
	_, words, err := w.holdings(b.Context(), 8453, common.Address{1})
	b.must(err)
	out := map[string]string{}
	for _, one := range words {
		amount, symbol, _ := strings.Cut(one, " ")
		out[symbol] = amount
	}
	return out
}

func TestAccountsRotateReplacesTheKeyWhereItWasNamed(t *testing.T) {
	b := newRoleBench(t)
	fresh := common.Address{0xf7}
	b.balances(b.w.account.Address) // test funds come before the account has code
	done, err := b.cmd.rotate(t.Context(), b.w, cli.RotateOptions{AdminOptions: b.options(10), NewSession: fresh})
	if err != nil || len(done) != 1 || done[0].Hash == "" || done[0].Chain != "eip155:10" || done[0].Action != api.AdminRotateSession {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, want := range []string{"Optimism: replace the session key by " + fresh.Hex(), "session_address", b.w.account.Address.Hex()} {
		if !strings.Contains(b.said.String(), want) {
			t.Errorf("%q was not said:\n%s", want, b.said.String())
		}
	}
	b.options(0)
	roles, err := b.w.show(t.Context())
	b.must(err)
	if len(roles) != 7 {
		t.Errorf("%d chains", len(roles))
	}
	for _, r := range roles {
		if there := r.Chain == "eip155:10"; r.Deployed != there || there && (r.SessionAddress != fresh.Hex() || r.AdminNonce != "1") {
			t.Errorf("%+v", r)
		}
	}
	done, err = b.cmd.rotate(t.Context(), b.w, cli.RotateOptions{AdminOptions: b.options(0), NewSession: fresh})
	if err != nil || len(done) != 7 {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, r := range done {
		if (r.Skipped != "") != (r.Chain == "eip155:10") {
			t.Errorf("%+v", r)
		}
	}
}

func TestAccountsExitLeavesWithEverythingAfterTheDelay(t *testing.T) {
	b := newRoleBench(t)
	safe := common.Address{0x5a, 0xfe}
	before := b.balances(b.w.account.Address)
	if before["USDC"] != "25.000000" {
		t.Fatalf("test funds: %v", before)
	}
	exit := func(action string) ([]cli.AdminResult, error) {
		return b.cmd.exit(t.Context(), b.w, cli.ExitOptions{AdminOptions: b.options(8453), Action: action, To: safe})
	}
	if done, err := exit(cli.ExitSweep); err != nil || done[0].Skipped != "no exit is announced" {
		t.Fatalf("%+v, %v", done, err)
	}
	if done, err := exit(cli.ExitAnnounce); err != nil || done[0].Hash == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if done, err := exit(cli.ExitAnnounce); err != nil || done[0].Skipped == "" {
		t.Fatalf("announced twice: %+v, %v", done, err)
	}
	var no *api.Error
	if done, err := exit(cli.ExitSweep); !errors.As(err, &no) || no.Name != api.ErrSimulationFailed || !strings.Contains(no.Message, "AA22") || len(done) != 0 {
		t.Fatalf("before the delay: %+v, %v", done, err)
	}
	b.advance(24*time.Hour + time.Second)
	if done, err := exit(cli.ExitSweep); err != nil || done[0].Hash == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if left := b.balances(b.w.account.Address); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	after := b.balances(safe)
	for symbol, amount := range before {
		if after[symbol] != amount {
			t.Errorf("%s %s arrived, %s left", after[symbol], symbol, amount)
		}
	}
	if done, err := exit(cli.ExitSweep); err != nil || done[0].Skipped != "the account holds nothing" {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err := exit(cli.ExitCancel); err != nil || done[0].Hash == "" {
		t.Errorf("%+v, %v", done, err)
	}
}

// Printed calls are the deployment and the message, signed; nothing was sent.
func TestAccountsPrintGivesOutTheSignedCallsAndSendsNothing(t *testing.T) {
	b := newRoleBench(t)
	o := b.options(8453)
	o.Print = true
	done, err := b.cmd.exit(t.Context(), b.w, cli.ExitOptions{AdminOptions: o, Action: cli.ExitAnnounce})
	if err != nil || len(done) != 1 || len(done[0].Calls) != 2 || done[0].Hash != "" {
		t.Fatalf("%+v, %v", done, err)
	}
	pins := b.w.s.network.Pins
	deploy, message := done[0].Calls[0], done[0].Calls[1]
	if deploy.To != pins.MetaFactory.Hex() || message.To != pins.RoleBasedValidator.Hex() {
		t.Errorf("%+v", done[0].Calls)
	}
	m := op.AdminMessage{Action: api.AdminAnnounceExit, Account: b.w.account.Address, Nonce: new(big.Int)}
	digest, err := m.Digest(op.RoleBasedDomain(8453, pins.RoleBasedValidator))
	b.must(err)
	data := common.FromHex(message.Data)
	sig := data[len(data)-96 : len(data)-31] // 65 bytes and their padding end the call
	if by, err := op.Recover(digest, sig); err != nil || by != b.w.account.Admin {
		t.Errorf("signed by %s, %v", by, err)
	}
	if r, err := b.w.roles(t.Context(), 8453); err != nil || r.Deployed || r.ExitAvailableAt != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAccountsSignsNothingWithoutConfirmationAndTheAdminsKey(t *testing.T) {
	b := newRoleBench(t)
	try := func(change func(*cli.AdminOptions)) error {
		o := b.options(8453)
		change(&o)
		_, err := b.cmd.exit(t.Context(), b.w, cli.ExitOptions{AdminOptions: o, Action: cli.ExitAnnounce})
		return err
	}
	other := filepath.Join(t.TempDir(), "other.key")
	b.must(os.WriteFile(other, []byte(strings.Repeat("01", 32)), 0o600))
	for name, change := range map[string]func(*cli.AdminOptions){
		"no confirmation":    func(o *cli.AdminOptions) { o.Confirm = "" },
		"wrong confirmation": func(o *cli.AdminOptions) { o.Confirm = "zzzz" },
		"no key":             func(o *cli.AdminOptions) { o.KeyFile = "" },
		"another key":        func(o *cli.AdminOptions) { o.KeyFile = other },
	} {
		err := try(change)
		if cli.Code(err) != cli.ExitUsage || strings.Contains(err.Error(), "0101") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.must(os.Chmod(b.file, 0o644))
	if err := try(func(*cli.AdminOptions) {}); cli.Code(err) != cli.ExitUsage {
		t.Errorf("a key file for everybody: %v", err)
	}
	if r, err := b.w.roles(t.Context(), 8453); err != nil || r.Deployed {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := b.cmd.exit(t.Context(), b.w, cli.ExitOptions{AdminOptions: b.options(8453), Action: cli.ExitSweep, To: b.w.account.Address}); cli.Code(err) != cli.ExitUsage {
		t.Errorf("a sweep to the account itself: %v", err)
	}
}

func TestAccountsNeedARoleBasedAccountAndAChainOfTheNetwork(t *testing.T) {
	b := newRoleBench(t)
	b.w.chains = nil
	if err := b.w.fill(caip.EVM(5)); cli.Code(err) != cli.ExitUsage {
		t.Errorf("%v", err)
	}
	b.w.s.accounts[0].Type = api.AccountKernelV31
	if err := b.w.fill(caip.Chain{}); cli.Code(err) != cli.ExitUsage || !strings.Contains(err.Error(), `"roles" has no role-based account`) {
		t.Errorf("%v", err)
	}
}
