package verify_test

import (
	"crypto/ecdsa"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
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
	g := golden.New(t)
	return &world{World: g, Policy: verify.DefaultPolicy(g.Network, g.Catalog)}
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
	sig, err := op.Sign(p.UserOp().Digest(), golden.KeyOf(w.Key))
	if err != nil {
		w.T.Fatal(err)
	}
	s, err := p.WithSignature(sig)
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

func (w *world) quote(s *verify.SignedPrepared, doc *api.Document) (*verify.VerifiedQuote, verify.Report) {
	return verify.Quote(w.Intent(), w.Policy, verify.NoHistory{}, clock(), s, doc)
}

func addressOf(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }
