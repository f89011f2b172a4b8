package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/pattern"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
)

// explorer serves {base}/explorer/{chain}/tx/{hash}: the decoded receipt of a transaction of an embedded chain, without
// a key (protocol §7). A transaction of an earlier network is read from that one's chains.
type explorer struct {
	network *deployment.Network
	earlier func() []*deployment.Network // nil: there are none
	events  func() (decoder, error)
}

func newExplorer(n *deployment.Network, earlier func() []*deployment.Network) *explorer {
	x := &explorer{network: n, earlier: earlier}
	x.events = sync.OnceValues(func() (decoder, error) { return newDecoder(n, x.label) })
	return x
}

// reHash is the form of a transaction's hash and of a quote's id.
var reHash = pattern.New(`^0x[0-9a-fA-F]{64}$`)

// explorerPath splits a path below the base: /explorer/eip155:8453/tx/0x…
func explorerPath(path string) (chain, hash string, ok bool) {
	rest, below := strings.CutPrefix(path, "/explorer/")
	chain, hash, ok = strings.Cut(rest, "/tx/")
	return chain, hash, below && ok && chain != "" && hash != "" && !strings.Contains(hash, "/")
}

// TransactionPath is the path of a transaction's page below the base path: id is a 0x hash, or a base58 signature on
// Solana.
func TransactionPath(chain caip.Chain, id string) string {
	return ExplorerEndpoint + "/" + chain.String() + "/tx/" + id
}

func (x *explorer) serve(ctx context.Context, w http.ResponseWriter, chainText, hashText string) {
	v, status := x.view(ctx, chainText, hashText)
	page := v.page()
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	head.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	_, _ = w.Write(page) //nolint:gosec // it is escaped; the peer may be gone, and there is nobody left to tell
}

func (x *explorer) view(ctx context.Context, chainText, hashText string) (view, int) {
	v, status := x.viewHere(ctx, chainText, hashText)
	if status != http.StatusNotFound || x.earlier == nil {
		return v, status
	}
	for _, n := range x.earlier() {
		old, found := newExplorer(n, nil).viewHere(ctx, chainText, hashText)
		if found == http.StatusOK {
			old.Facts = append([]fact{{Name: "Network", Value: "the one before (" + n.Fingerprint() +
				"), which has ended: this is its last state"}}, old.Facts...)
			return old, found
		}
	}
	return v, status
}

// viewHere is view for the chains of one network.
func (x *explorer) viewHere(ctx context.Context, chainText, hashText string) (view, int) {
	v := view{Title: "Transaction not found", Chain: chainText, Hash: hashText}
	id, err := caip.ParseChain(chainText)
	if err != nil || !isTransaction(id, hashText) {
		v.Missing = "This is not the address of a transaction."
		return v, http.StatusNotFound
	}
	found := false
	if id == caip.SolanaMainnet() {
		found, err = x.solana(ctx, &v, hashText)
	} else {
		info, known := x.network.Catalog.Chain(id)
		ch, missing := x.network.ChainOf(id)
		if missing != nil || !known {
			v.Missing = "This network has no such chain."
			return v, http.StatusNotFound
		}
		v.Chain = info.Name + " (" + id.String() + ")"
		found, err = x.evm(ctx, &v, id, ch, common.HexToHash(hashText))
	}
	switch {
	case err != nil:
		v.Missing = "The transaction could not be read."
		return v, http.StatusInternalServerError
	case !found:
		v.Missing = "There is no such transaction on this chain."
		return v, http.StatusNotFound
	}
	return v, http.StatusOK
}

func (x *explorer) evm(ctx context.Context, v *view, id caip.Chain, ch chain.Chain, hash common.Hash) (bool, error) {
	rc, found, err := ch.Receipt(ctx, hash)
	if err != nil || !found {
		return false, err
	}
	v.Title, v.Hash, v.Success = "Transaction "+rc.TxHash.Hex(), rc.TxHash.Hex(), rc.Success
	from, to := x.label(id, rc.From), x.label(id, rc.To)
	recipient := fact{Name: "To", At: &to}
	if rc.Creates != nil && rc.Success {
		recipient = fact{Name: "To", Value: "creates a contract at " + rc.Creates.Hex()}
	} else if rc.Creates != nil {
		recipient = fact{Name: "To", Value: "creates a contract, which failed: none is at " + rc.Creates.Hex()}
	}
	v.Facts = []fact{
		{Name: "Block", Value: strconv.FormatUint(rc.Block, 10)},
		{Name: "Block hash", Value: rc.BlockHash.Hex(), Code: true},
		{Name: "Time", Value: utc(rc.Time)}, {Name: "From", At: &from}, recipient,
		{Name: "Value", Value: x.coins(id, rc.Value)},
		{Name: "Gas used", Value: strconv.FormatUint(rc.GasUsed, 10)},
	}
	for _, a := range rc.Authorizations {
		v.Facts = append(v.Facts, x.delegation(id, a))
	}
	d, err := x.events()
	if err != nil {
		panic(fmt.Errorf("explorer events: %w", err)) // the embedded interfaces are broken
	}
	v.EventsTitle = "Events"
	for _, l := range rc.Logs {
		e := d.decode(id, l)
		e.At = x.label(id, l.Address)
		v.Events = append(v.Events, e)
	}
	return true, nil
}

func utc(unix uint64) string {
	return time.Unix(int64(min(unix, math.MaxInt64)), 0).UTC().Format("2006-01-02 15:04:05 UTC")
}

// coins writes an amount of a chain's coin in whole units.
func (x *explorer) coins(on caip.Chain, v *big.Int) string {
	id, _ := on.EVMID()
	if e, ok := x.network.Catalog.NativeOf(id); ok {
		return human(v, e)
	}
	return v.String() + " wei"
}

// delegation tells of an EIP-7702 authorization. The receipt does not say whether it came into force, so the page does
// not either.
func (x *explorer) delegation(on caip.Chain, a op.SignedAuthorization) fact {
	out := fact{Name: "Authorization", Value: "without a valid signature"}
	if authority, err := a.Authority(); err == nil {
		to := x.label(on, a.Address)
		out.At = &labelled{authority.Hex(), strings.TrimSpace("lends itself to " + to.Address + " " + to.Name)}
	}
	return out
}

// label names the contracts and keys of the network, and the tokens of the chain.
func (x *explorer) label(on caip.Chain, a common.Address) labelled {
	p := x.network.Pins
	pinned := map[common.Address]string{
		p.Operator: "operator", p.CoSigner: "co-signer", p.EntryPoint: "entry point", p.Paymaster: "filler",
		p.Escrow: "escrow", p.MetaFactory: "meta factory", p.Factory: "factory", p.KernelV31: "Kernel v3.1",
		p.KernelV33: "Kernel v3.3", p.ECDSAValidator: "ECDSA validator", p.RoleBasedValidator: "role-based validator",
	}
	if name := cmp.Or(pinned[a], x.network.Accounts[a]); name != "" {
		return labelled{a.Hex(), name}
	}
	id, _ := on.EVMID()
	if e, ok := x.network.Catalog.Entity(caip.ERC20(id, a)); ok {
		return labelled{a.Hex(), e.Symbol + " token"}
	}
	return labelled{Address: a.Hex()}
}
