package roles

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/assets"
	"coffer/ui/cli"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// teller says what it is told to about the EOA, and notes what it is sent.
type teller struct {
	Service
	codes map[string]api.AccountCode
	sent  []api.UndelegateRequest
	again bool
}

func (s *teller) Code(_ context.Context, accounts ...string) (out api.CodeResponse, err error) {
	for _, a := range accounts {
		if c, there := s.codes[a]; there {
			out.Accounts = append(out.Accounts, c)
		}
	}
	return out, nil
}

func (s *teller) Undelegate(_ context.Context, r api.UndelegateRequest) (api.UndelegateResponse, error) {
	s.sent = append(s.sent, r)
	if s.again {
		return api.UndelegateResponse{}, nil
	}
	return api.UndelegateResponse{Transaction: &api.OperationRef{Hash: "0x0a"}}, nil
}

// stage is a profile with one EOA, which is delegated on Base.
type stage struct {
	Commands
	service *teller
	wallet  Wallet
	out     bytes.Buffer
	eoa     common.Address
}

// known is a network of two chains with the addresses of this program, and the catalogue.
type known struct {
	Network network.Descriptor
	Catalog *catalog.Catalog
}

func theNetwork(t *testing.T) (out known) {
	t.Helper()
	p, err := assets.PinnedAddresses()
	if err == nil {
		out.Catalog, err = catalog.Load()
	}
	a := common.HexToAddress
	out.Network = network.Descriptor{Version: 1, Kind: network.Embedded, Chains: []string{"eip155:1", "eip155:8453"},
		Pins: network.Pins{
			EntryPoint: a(p.EntryPoint), Paymaster: a(p.Paymaster), Escrow: a(p.Escrow),
			KernelV31: a(p.KernelV31Implementation), KernelV33: a(p.KernelV33Delegate), Factory: a(p.Factory),
			MetaFactory: a(p.MetaFactory), ECDSAValidator: a(p.ECDSAValidator),
			RoleBasedValidator: a(p.RoleBasedValidator), Operator: a("0x5"), Solver: a("0x6"), CoSigner: a("0x7"),
			TamperProof: a("0x8"),
		}}
	if err == nil {
		out.Network, err = out.Network.WithID()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func newStage(t *testing.T) *stage {
	t.Helper()
	g := theNetwork(t)
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("undelegate")))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{eoa: crypto.PubkeyToAddress(key.PublicKey), service: &teller{codes: map[string]api.AccountCode{}}}
	keys := vault.NewMemory(g.Network.ID)
	if _, err := keys.Add(vault.EVM, secret.New(crypto.FromECDSA(key))); err != nil {
		t.Fatal(err)
	}
	s.wallet = Wallet{
		Service: s.service, Network: g.Network, Catalog: g.Catalog, Close: func() error { return nil },
		Accounts: []api.Account{{Type: api.AccountKernelV33, SignerAddress: s.eoa.Hex(), AccountAddress: s.eoa.Hex()}},
		Signer:   func() Signer { return sign.New(keys, g.Network.ID) },
		Ready:    func(context.Context) error { return nil },
		Policy:   func() (verify.Policy, error) { return verify.DefaultPolicy(g.Network, g.Catalog), nil },
	}
	s.Commands = Commands{Prompt: cli.Prompt{Out: &s.out},
		Open: func(context.Context, cli.Global) (Wallet, error) { return s.wallet, nil }}
	s.tells(1, api.AccountCode{Code: api.CodeNone, Nonce: "0"})
	s.tells(8453, api.AccountCode{Code: api.CodeDelegated, Delegate: g.Network.Pins.KernelV33.Hex(), Nonce: "7"})
	return s
}

func (s *stage) tells(chain uint64, c api.AccountCode) {
	at := caip.EVMAccount(chain, s.eoa).String()
	if c.Account == "" {
		c.Account = at
	}
	s.service.codes[at] = c
}

func (s *stage) undelegates(t *testing.T, o cli.UndelegateOptions) ([]cli.AdminResult, error) {
	t.Helper()
	return s.Undelegate(t.Context(), cli.Global{}, o)
}

// What is signed is the zero address on the one chain where the account is delegated, with the nonce that the service
// names, by the account's own key; before that the chain and the contract are printed.
func TestTH_D7_UndelegateSignsTheZeroAddressForOneChain(t *testing.T) {
	s := newStage(t)
	done, err := s.undelegates(t, cli.UndelegateOptions{Yes: true})
	if err != nil || len(done) != 2 || done[0].Skipped == "" || done[1].Hash != "0x0a" || len(s.service.sent) != 1 {
		t.Fatalf("%v %+v", err, done)
	}
	auth, err := op.EndFromWire(s.service.sent[0].Authorization)
	if err != nil || auth.ChainID.Uint64() != 8453 || auth.Nonce != 7 || s.service.sent[0].Account != s.eoa.Hex() {
		t.Errorf("%v %+v", err, s.service.sent)
	}
	if by, err := auth.Authority(); err != nil || by != s.eoa {
		t.Errorf("%v %s", err, by)
	}
	for _, want := range []string{s.eoa.Hex(), "Base (eip155:8453)", s.wallet.Network.Pins.KernelV33.Hex(),
		"Kernel v3.3 account, the service says", "Keys and funds stay as they are"} {
		if !strings.Contains(strings.ReplaceAll(s.out.String(), "\n", " "), want) {
			t.Errorf("no %q in\n%s", want, &s.out)
		}
	}
	s.service.again = true
	if done, err = s.undelegates(t, cli.UndelegateOptions{Chain: caip.EVM(8453), Yes: true}); err != nil ||
		len(done) != 1 || !strings.Contains(done[0].Skipped, "any more") {
		t.Errorf("%v %+v", err, done)
	}
}

// Nothing is signed without --yes or a person, on a network that has changed, for another kind of account, or by an
// answer that is not about this account or names a nonce far ahead.
func TestTH_D7_UndelegateSignsNothingByADoubtfulAnswer(t *testing.T) {
	delegated := func(c api.AccountCode) api.AccountCode {
		c.Code = api.CodeDelegated
		return c
	}
	to := common.Address{1}.Hex()
	for name, change := range map[string]func(*stage) cli.UndelegateOptions{
		"no terminal": func(*stage) cli.UndelegateOptions { return cli.UndelegateOptions{} },
		"a changed network": func(s *stage) cli.UndelegateOptions {
			s.wallet.Unconfirmed = errors.New("changed")
			return cli.UndelegateOptions{Yes: true}
		},
		"not ready": func(s *stage) cli.UndelegateOptions {
			s.wallet.Ready = func(context.Context) error { return errors.New("an older journal") }
			return cli.UndelegateOptions{Yes: true}
		},
		"another kind": func(s *stage) cli.UndelegateOptions {
			s.wallet.Accounts[0].Type = api.AccountKernelV31
			return cli.UndelegateOptions{Yes: true}
		},
		"another signer": func(s *stage) cli.UndelegateOptions {
			s.wallet.Accounts[0].SignerAddress = to
			return cli.UndelegateOptions{Yes: true}
		},
		"no such chain": func(*stage) cli.UndelegateOptions {
			return cli.UndelegateOptions{Chain: caip.EVM(57), Yes: true}
		},
		"no answer about a chain": func(s *stage) cli.UndelegateOptions {
			delete(s.service.codes, caip.EVMAccount(1, s.eoa).String())
			return cli.UndelegateOptions{Yes: true}
		},
		"a contract": func(s *stage) cli.UndelegateOptions {
			s.tells(8453, api.AccountCode{Code: api.CodeContract, Nonce: "7"})
			return cli.UndelegateOptions{Yes: true}
		},
		"no contract named": func(s *stage) cli.UndelegateOptions {
			s.tells(8453, delegated(api.AccountCode{Nonce: "7"}))
			return cli.UndelegateOptions{Yes: true}
		},
		"a far nonce": func(s *stage) cli.UndelegateOptions {
			s.tells(8453, delegated(api.AccountCode{Delegate: to, Nonce: "4294967296"}))
			return cli.UndelegateOptions{Yes: true}
		},
		"no nonce": func(s *stage) cli.UndelegateOptions {
			s.tells(8453, delegated(api.AccountCode{Delegate: to, Nonce: "-1"}))
			return cli.UndelegateOptions{Yes: true}
		},
		"foreign pins": func(s *stage) cli.UndelegateOptions {
			n := s.wallet.Network
			n.Pins = network.Pins{}
			s.wallet.Policy = func() (verify.Policy, error) { return verify.DefaultPolicy(n, s.wallet.Catalog), nil }
			return cli.UndelegateOptions{Yes: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			o := change(s)
			if done, err := s.undelegates(t, o); err == nil || len(s.service.sent) != 0 {
				t.Errorf("%+v, sent %+v", done, s.service.sent)
			}
		})
	}
}
