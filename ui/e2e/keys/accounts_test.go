//go:build unix

package keys

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/api/service"
	"coffer/api/service/store"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/cli/roles"
	"coffer/ui/e2e/rig"
)

// roleBench is a service in this process, with a clock that only moves when told to, and `coffer accounts` on a profile
// with a role-based account.
type roleBench struct {
	*rig.Bench
	wallet  roles.Wallet
	account common.Address
	admin   common.Address
	said    bytes.Buffer
	cmd     roles.Commands
	file    string // with the admin key
}

func newRoleBench(t *testing.T) *roleBench {
	t.Helper()
	b := &roleBench{Bench: rig.NewBench(t), file: filepath.Join(t.TempDir(), "admin.key")}
	svc, err := service.Open(service.Options{Store: store.NewMemory(), Clock: b.Now,
		Seed: []byte("accounts tests: 32 bytes of seed"), Fund: true})
	b.Must(err)
	t.Cleanup(func() { b.Must(svc.Close()) })
	c, err := client.New(client.Options{BaseURL: client.EmbeddedBaseURL, APIKey: secret.New([]byte(svc.APIKey())),
		Transport: service.RoundTripper(svc.Handler())})
	b.Must(err)
	cat, err := catalog.Load()
	b.Must(err)
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("accounts tests admin")))
	b.Must(err)
	b.Must(os.WriteFile(b.file, []byte(hex.EncodeToString(crypto.FromECDSA(key))+"\n"), 0o600))
	b.admin = crypto.PubkeyToAddress(key.PublicKey)
	profile := config.Profile{Name: "roles", Accounts: []config.Account{
		{Type: api.AccountRoleBased, SessionAddress: common.Address{0x5e}.Hex(), AdminAddress: b.admin.Hex()},
	}}
	b.wallet = roles.Wallet{
		Profile: profile.Name, Service: c, Network: svc.Network(), Catalog: cat,
		Accounts: profile.WireAccounts(svc.Network().Pins),
		Close:    func() error { return nil },
	}
	b.account = common.HexToAddress(b.wallet.Accounts[0].AccountAddress)
	open := func(context.Context, cli.Global) (roles.Wallet, error) { return b.wallet, nil }
	b.cmd = roles.Commands{Open: open, Prompt: cli.Prompt{Out: &b.said}}
	return b
}

// options name a chain (0 for all), the key file and the right confirmation.
func (b *roleBench) options(on uint64) cli.AdminOptions {
	address := b.account.Hex()
	o := cli.AdminOptions{KeyFile: b.file, Confirm: address[len(address)-4:]}
	if on != 0 {
		o.Chain = caip.EVM(on)
	}
	return o
}

func (b *roleBench) rotate(on uint64, fresh common.Address) ([]cli.AdminResult, error) {
	return b.cmd.Rotate(b.Context(), cli.Global{}, cli.RotateOptions{AdminOptions: b.options(on), NewSession: fresh})
}

func (b *roleBench) exit(o cli.ExitOptions) ([]cli.AdminResult, error) {
	return b.cmd.Exit(b.Context(), cli.Global{}, o)
}

// roles are the account's roles on Base.
func (b *roleBench) roles() api.RolesResponse {
	b.Helper()
	all, err := b.cmd.Show(b.Context(), cli.Global{}, caip.EVM(8453))
	b.Must(err)
	return all[0].RolesResponse
}

// balances are the amounts of an address on Base by symbol, without what it has nothing of.
func (b *roleBench) balances(of common.Address) map[string]string {
	b.Helper()
	q := client.BalanceQuery{Accounts: []string{caip.EVMAccount(8453, of).String()}}
	for _, a := range b.wallet.Catalog.Aggregates() {
		q.Aggregates = append(q.Aggregates, string(a.ID))
	}
	answer, err := b.wallet.Service.Balances(b.Context(), q)
	b.Must(err)
	out := map[string]string{}
	for _, one := range answer.BalanceByAggregatedAsset {
		for _, e := range one.IndividualAssetBalances {
			asset, err := caip.ParseAsset(e.AssetType)
			b.Must(err)
			held, err := amount.ParseBase(e.Balance)
			b.Must(err)
			if entity, ok := b.wallet.Catalog.Entity(asset); ok && asset.Chain == caip.EVM(8453) && held.Sign() > 0 {
				out[entity.Symbol] = amount.Format(held, entity.Decimals)
			}
		}
	}
	return out
}

func TestAccountsRotateReplacesTheKeyWhereItWasNamed(t *testing.T) {
	b := newRoleBench(t)
	fresh := common.Address{0xf7}
	b.balances(b.account) // test funds come before the account has code
	done, err := b.rotate(10, fresh)
	if err != nil || len(done) != 1 || done[0].Hash == "" || done[0].Chain != "eip155:10" ||
		done[0].Action != api.AdminRotateSession {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, want := range []string{"Optimism: replace the session key by " + fresh.Hex(), "session_address",
		b.account.Hex()} {
		if !strings.Contains(b.said.String(), want) {
			t.Errorf("%q was not said:\n%s", want, b.said.String())
		}
	}
	shown, err := b.cmd.Show(t.Context(), cli.Global{}, caip.Chain{})
	b.Must(err)
	if len(shown) != 8 {
		t.Errorf("%d chains", len(shown))
	}
	for _, r := range shown {
		if there := r.Chain == "eip155:10"; r.Deployed != there ||
			there && (r.SessionAddress != fresh.Hex() || r.AdminNonce != "1") {
			t.Errorf("%+v", r)
		}
	}
	done, err = b.rotate(0, fresh)
	if err != nil || len(done) != 8 {
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
	before := b.balances(b.account)
	if before["USDC"] != "25.000000" {
		t.Fatalf("test funds: %v", before)
	}
	exit := func(action string) ([]cli.AdminResult, error) {
		return b.exit(cli.ExitOptions{AdminOptions: b.options(8453), Action: action, To: safe})
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
	if done, err := exit(cli.ExitSweep); !errors.As(err, &no) || no.Name != api.ErrSimulationFailed ||
		!strings.Contains(no.Message, "AA22") || len(done) != 0 {
		t.Fatalf("before the delay: %+v, %v", done, err)
	}
	b.Advance(24*time.Hour + time.Second)
	if done, err := exit(cli.ExitSweep); err != nil || done[0].Hash == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if left := b.balances(b.account); len(left) != 0 {
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
	done, err := b.exit(cli.ExitOptions{AdminOptions: o, Action: cli.ExitAnnounce})
	if err != nil || len(done) != 1 || len(done[0].Calls) != 2 || done[0].Hash != "" {
		t.Fatalf("%+v, %v", done, err)
	}
	pins := b.wallet.Network.Pins
	deploy, message := done[0].Calls[0], done[0].Calls[1]
	if deploy.To != pins.MetaFactory.Hex() || message.To != pins.RoleBasedValidator.Hex() {
		t.Errorf("%+v", done[0].Calls)
	}
	m := op.AdminMessage{Action: api.AdminAnnounceExit, Account: b.account, Nonce: new(big.Int)}
	digest, err := m.Digest(op.RoleBasedDomain(8453, pins.RoleBasedValidator))
	b.Must(err)
	data := common.FromHex(message.Data)
	sig := data[len(data)-96 : len(data)-31] // 65 bytes and their padding end the call
	if by, err := op.Recover(digest, sig); err != nil || by != b.admin {
		t.Errorf("signed by %s, %v", by, err)
	}
	if r := b.roles(); r.Deployed || r.ExitAvailableAt != 0 {
		t.Errorf("%+v", r)
	}
}

func TestAccountsSignsNothingWithoutConfirmationAndTheAdminsKey(t *testing.T) {
	b := newRoleBench(t)
	try := func(change func(*cli.AdminOptions)) error {
		o := b.options(8453)
		change(&o)
		_, err := b.exit(cli.ExitOptions{AdminOptions: o, Action: cli.ExitAnnounce})
		return err
	}
	other := filepath.Join(t.TempDir(), "other.key")
	b.Must(os.WriteFile(other, []byte(strings.Repeat("01", 32)), 0o600))
	for name, change := range map[string]func(*cli.AdminOptions){
		"no confirmation":    func(o *cli.AdminOptions) { o.Confirm = "" },
		"wrong confirmation": func(o *cli.AdminOptions) { o.Confirm = "zzzz" },
		"no key":             func(o *cli.AdminOptions) { o.KeyFile = "" },
		"another key":        func(o *cli.AdminOptions) { o.KeyFile = other },
	} {
		err := try(change)
		want := cli.ExitUsage
		if name == "another key" {
			want = cli.ExitAccess
		}
		if cli.Code(err) != want || strings.Contains(err.Error(), "0101") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.Must(os.Chmod(b.file, 0o644))
	if err := try(func(*cli.AdminOptions) {}); cli.Code(err) != cli.ExitUsage {
		t.Errorf("a key file for everybody: %v", err)
	}
	if r := b.roles(); r.Deployed {
		t.Errorf("%+v", r)
	}
	b.wallet.Service = nil // nothing is asked for what is refused anyway
	if _, err := b.exit(cli.ExitOptions{AdminOptions: b.options(8453), Action: cli.ExitSweep,
		To: b.account}); cli.Code(err) != cli.ExitUsage {
		t.Errorf("a sweep to the account itself: %v", err)
	}
}

func TestAccountsNeedARoleBasedAccountAndAChainOfTheNetwork(t *testing.T) {
	b := newRoleBench(t)
	closed := 0
	b.wallet.Close = func() error { closed++; return nil }
	if _, err := b.cmd.Show(t.Context(), cli.Global{}, caip.EVM(5)); cli.Code(err) != cli.ExitUsage {
		t.Errorf("%v", err)
	}
	b.wallet.Accounts[0].Type = api.AccountKernelV31
	_, err := b.cmd.Show(t.Context(), cli.Global{}, caip.Chain{})
	if cli.Code(err) != cli.ExitUsage || !strings.Contains(err.Error(), `"roles" has no role-based account`) {
		t.Errorf("%v", err)
	}
	if closed != 2 {
		t.Errorf("the service was let go of %d times, it was opened twice", closed)
	}
}
