package settletest

import (
	"context"
	"fmt"
	"math/big"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/service/foreign"
)

// Exchange is what a swap or a transfer asks for: assets as `ob:` ids or CAIP-19, To a CAIP-10 account or "".
type Exchange struct {
	From     string
	Amount   *big.Int
	Get      string
	To       string
	Slippage int
}

// SwapBody is the body of POST /v3/quote.
func (w *World) SwapBody(x Exchange) *api.Document {
	w.TB.Helper()
	return w.Encode(w.request(x))
}

func (w *World) request(x Exchange) api.QuoteRequest {
	return api.QuoteRequest{
		From: api.QuoteFrom{Accounts: w.User.Accounts(), Asset: api.AssetRef{AssetID: x.From},
			Amount: x.Amount.String()},
		To: api.QuoteTo{Asset: api.AssetRef{AssetID: x.Get}, Account: x.To}, SlippageTolerance: x.Slippage,
	}
}

// TrySwap asks for a quote of a swap or a transfer.
func (w *World) TrySwap(x Exchange) (*api.Document, error) {
	w.TB.Helper()
	return w.Quoter.Quote(context.Background(), w.SwapBody(x))
}

// Swap is TrySwap that must succeed.
func (w *World) Swap(x Exchange) *api.Document {
	w.TB.Helper()
	return w.made(w.TrySwap(x))
}

// SwapV1 asks for a swap or a transfer in the v1 form.
func (w *World) SwapV1(x Exchange) *api.Document {
	w.TB.Helper()
	return w.made(w.Quoter.QuoteV1(context.Background(), w.Encode(w.request(x).V1())))
}

// PrepareV1 posts a prepare request in the v1 form.
func (w *World) PrepareV1(r api.PrepareRequest) (*api.Document, error) {
	w.TB.Helper()
	return w.Quoter.PrepareV1(context.Background(), w.Encode(r.V1()))
}

// QuoteV1 prepares, signs and quotes a request in the v1 form; from is an `ob:` id or "".
func (w *World) QuoteV1(r api.PrepareRequest, from string) *api.Document {
	w.TB.Helper()
	signed := w.SignOperationAs(w.User, w.made(w.PrepareV1(r)), "/chainOperation")
	ask := w.made(foreign.CallQuote(signed, from))
	return w.made(w.Quoter.CallQuoteV1(context.Background(), ask))
}

// ExecuteV1 posts a signed v1 quote.
func (w *World) ExecuteV1(doc *api.Document) error {
	_, err := w.Settler.ExecuteV1(context.Background(), doc)
	return err
}

// FundSolana pays a Solana account from the faucet; the sponsor pays fee and rent.
func (w *World) FundSolana(to solmsg.Key, a caip.Asset, v int64) {
	w.TB.Helper()
	in := w.Installation
	now, sponsor := uint64(w.Clock.Now().Unix()), in.Sponsor.Key()
	builds, err := in.SolanaTransfer(context.Background(), in.SolanaFaucet.Key(), to, sponsor, a, big.NewInt(v))
	Must(w.TB, err)
	hash, _, _ := in.Solana.Blockhash(context.Background(), now)
	w.funded++
	m, err := solmsg.Compose(sponsor, hash, append(builds, solmsg.Memo(fmt.Sprintf("test funds %d", w.funded)))...)
	Must(w.TB, err)
	tx, err := solana.Sign(context.Background(), m, in.Sponsor, in.SolanaFaucet)
	Must(w.TB, err)
	_, err = in.Solana.Seal(context.Background(), solana.SealRequest{Time: now, Txs: []solana.Tx{tx},
		Accept: solana.AllSucceed})
	Must(w.TB, err)
}

// SolanaBalance reads a balance of a Solana account at the head.
func (w *World) SolanaBalance(of solmsg.Key, a caip.Asset) *big.Int {
	w.TB.Helper()
	v, err := w.Installation.SolanaBalance(context.Background(), of, a)
	Must(w.TB, err)
	return v
}

// Vault is the account that holds deposits on Solana.
func (w *World) Vault() solmsg.Key { return w.Installation.Vault.Key() }

// solanaSums are the quantities of Solana that never change: lamports with burned fees, and the units of each token.
func (w *World) solanaSums() map[caip.Asset]*big.Int {
	w.TB.Helper()
	sums, err := w.Installation.Ledger.Sums()
	Must(w.TB, err)
	out := map[caip.Asset]*big.Int{}
	for _, a := range w.SolanaAssets {
		v := sums.Lamports
		if mint, isToken := deployment.SolanaMint(a); isToken {
			v = sums.Tokens[mint]
		}
		out[a] = new(big.Int).SetUint64(v)
	}
	return out
}
