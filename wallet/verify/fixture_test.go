package verify_test

import (
	"crypto/ecdsa"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

const (
	baseUSDC = golden.BaseUSDC
	arbUSDC  = golden.ArbUSDC
	opUSDC   = golden.OpUSDC
	baseETH  = golden.BaseETH
	arbETH   = golden.ArbETH
	payee    = golden.Payee
	vault    = golden.Vault
	quoteID  = golden.QuoteID
)

func clock() time.Time { return golden.Clock() }

// world is a golden world together with the judgements of this package.
type world struct {
	*golden.World
	Policy verify.Policy
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return variant{kind: api.AccountKernelV31}.world(t)
}

// variant is an account type together with an interface. The rows of docs/threats.md are tested for all six, except
// where a row belongs to one type.
type variant struct {
	name, kind string
	v1         bool
}

func variants() []variant {
	return []variant{
		{"kernel v3", api.AccountKernelV31, false}, {"kernel v1", api.AccountKernelV31, true},
		{"eip7702 v3", api.AccountKernelV33, false}, {"eip7702 v1", api.AccountKernelV33, true},
		{"role-based v3", api.AccountRoleBased, false}, {"role-based v1", api.AccountRoleBased, true},
	}
}

func (v variant) world(t testing.TB) *world {
	t.Helper()
	g := golden.NewOf(t, v.kind, v.v1)
	return &world{World: g, Policy: verify.DefaultPolicy(g.Network, g.Catalog)}
}

// each runs a test for every variant.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) { test(t, v.world(t)) })
	}
}

func (w *world) prepared(doc *api.Document) (*verify.PreparedOp, verify.Report) {
	return verify.Prepared(w.Intent(), w.Policy, verify.NoHistory{}, clock(), doc)
}

// signed returns a golden prepared operation together with its signature.
func (w *world) signed() *verify.SignedPrepared {
	w.T.Helper()
	p, report := w.prepared(w.Document(w.PrepareResponse()))
	if p == nil {
		w.T.Fatalf("golden prepare answer refused: %+v", report.Reasons)
	}
	return signedBy(w.T, p, w.Key)
}

// signedBy signs everything that a prepared operation asks for with the key behind a label.
func signedBy(t testing.TB, p *verify.PreparedOp, key string) *verify.SignedPrepared {
	t.Helper()
	s, err := p.WithSignatures(signatures(t, p.Signing(), key))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signatures makes everything that an EVM signing asks for with the key behind a label.
func signatures(t testing.TB, s verify.Signing, key string) verify.Signatures {
	t.Helper()
	sig, err := op.Sign(common.HexToHash(s.Digest()), golden.KeyOf(key))
	if err != nil {
		t.Fatal(err)
	}
	out := verify.Signatures{Operation: sig}
	if d, ok := s.Delegation(); ok {
		signed, err := d.Authorization().Sign(golden.KeyOf(key))
		if err != nil {
			t.Fatal(err)
		}
		out.Delegation = &signed
	}
	return out
}

// userOp is the user operation that a signing asks for.
func userOp(t testing.TB, s verify.Signing) verify.VerifiedUserOp {
	t.Helper()
	v, ok := s.UserOp()
	if !ok {
		t.Fatalf("no user operation in %+v", s.Summary())
	}
	return v
}

func (w *world) quote(s *verify.SignedPrepared, doc *api.Document) (*verify.VerifiedQuote, verify.Report) {
	return verify.Quote(w.Intent(), w.Policy, verify.NoHistory{}, clock(), s, doc)
}

// eachV3 runs a test for every account type, asked with v3: for what v1 does not have.
func eachV3(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, v := range variants() {
		if !v.v1 {
			t.Run(v.name, func(t *testing.T) { test(t, v.world(t)) })
		}
	}
}

// onNetwork changes the network that everybody agrees on; the account follows its pins.
func (w *world) onNetwork(change func(n *network.Descriptor)) {
	w.T.Helper()
	change(&w.Network)
	n, err := w.Network.WithID()
	if err != nil {
		w.T.Fatal(err)
	}
	limits := w.Policy.Limits
	w.Network, w.Draft.Network = n, n.ID
	w.Policy = verify.DefaultPolicy(n, w.Catalog)
	w.Policy.Limits = limits
	w.Be(w.Kind)
}

// at puts the pointer of a document of v3 into the form of the world's interface.
func (w *world) at(pointer string) string {
	if w.Draft.Interface == intent.InterfaceV1 {
		return strings.Replace(pointer, "/accounts/0", "/account", 1)
	}
	return pointer
}

func addressOf(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }
