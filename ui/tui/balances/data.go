package balances

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// holding is one asset on one chain. amount is in base units, nil when unknown; micro is micro USD, nil without a
// price.
type holding struct {
	id       string // CAIP-19, cleaned
	chain    caip.Chain
	chainTo  string // name of the chain
	owner    string // key of the account, "" when it is unknown
	symbol   string
	decimals int // -1: the catalog does not know the asset
	amount   *big.Int
	micro    *big.Int
	given    given
	reasons  []verify.Reason
}

// asset is one aggregated asset.
type asset struct {
	key      string // key of its line: the id, numbered where the answer repeats it
	id       string
	symbol   string
	name     string
	decimals int
	amount   *big.Int
	micro    *big.Int
	given    given
	reasons  []verify.Reason
	parts    []holding
}

// given is the text of an answer for an export: digits, or "" where they could not be read.
type given struct{ amount, fiat string }

// holdings is one answer, interpreted with the catalog.
type holdings struct {
	assets  []asset
	owners  []owner
	total   *big.Int        // micro USD of everything priced; nil when nothing is
	says    *big.Int        // the total according to the service
	reasons []verify.Reason // that concern no single line
	without string          // the holdings without a price; totals with the same text leave out the same
	refused bool            // one of the figures must not be used
}

// reader converts answers into holdings. It is immutable.
type reader struct {
	c        *catalog.Catalog
	symbols  verify.Symbols
	accounts []api.Account
}

// read uses only ids, amounts and fiat values of the answer. It fails for an answer about another account.
func (r reader) read(b api.AggregatedBalance) (*holdings, error) {
	owners, err := ownersOf(r.accounts, b.Accounts)
	if err != nil {
		return nil, err
	}
	h := &holdings{owners: owners}
	seen := map[string]int{}
	for i, a := range b.BalanceByAggregatedAsset {
		got := r.asset(a, owners)
		got.key = got.id
		if n := seen[a.AggregatedAssetID]; n > 0 {
			got.forget()
			got.key += " " + strconv.Itoa(i)
		}
		seen[a.AggregatedAssetID]++
		if got.micro != nil {
			h.total = sum(h.total, got.micro)
		}
		h.assets = append(h.assets, got)
	}
	h.says = micro(b.TotalBalance.FiatValue)
	if h.total == nil && h.says != nil && h.says.Sign() == 0 {
		h.total = new(big.Int)
	}
	h.judge(verify.Balances(r.c, b))
	h.without = h.unpriced()
	return h, nil
}

func (r reader) asset(a api.AggregateBalance, owners []owner) asset {
	out := asset{id: present.Clean(a.AggregatedAssetID, 80), decimals: -1, micro: micro(a.FiatValue)}
	known, ok := r.c.Aggregate(caip.AggregateID(a.AggregatedAssetID))
	if ok {
		out.symbol, out.name, out.decimals = known.Symbol, known.Name, known.Decimals
	} else {
		view, reason := r.symbols.Judge(strings.TrimPrefix(a.AggregatedAssetID, "ob:"))
		out.symbol, out.name = present.Clean(view.String(), 80), "not in this program's catalog"
		out.reasons = appendReason(out.reasons, reason)
	}
	out.amount = counted(a.Balance, out.decimals)
	out.given = givenOf(a.Balance, a.FiatValue)
	seen := map[string]bool{}
	for _, p := range a.IndividualAssetBalances {
		part := r.part(p, out, owners)
		if seen[part.id] {
			part.amount, part.micro = nil, nil
		}
		seen[part.id] = true
		out.parts = append(out.parts, part)
	}
	return out
}

// part accepts decimals only when the catalog has the asset under the same aggregate; an asset of another aggregate
// gets no figures at all.
func (r reader) part(p api.AssetBalance, of asset, owners []owner) holding {
	out := holding{id: present.Clean(p.AssetType, 120), decimals: -1, symbol: of.symbol, micro: micro(p.FiatValue),
		chainTo: "unknown chain"}
	out.given = givenOf(p.Balance, p.FiatValue)
	id, err := caip.ParseAsset(p.AssetType)
	if err != nil {
		out.micro = nil
		return out
	}
	out.id, out.chain, out.chainTo = id.Display(), id.Chain, present.Clean(id.Chain.String(), 60)
	out.owner = ownerOf(id.Chain, owners)
	if info, ok := r.c.Chain(id.Chain); ok {
		out.chainTo = info.Name
	}
	e, ok := r.c.Entity(id)
	switch {
	case ok && string(e.Aggregate) == of.id:
		out.decimals, out.symbol = e.Decimals, e.Symbol
	case ok:
		out.micro = nil
	case of.decimals >= 0:
		view, reason := r.symbols.Judge(of.symbol)
		out.symbol = present.Clean(view.Text, 80) + " (unverified)"
		out.reasons = appendReason(out.reasons, reason)
	}
	out.amount = counted(p.Balance, out.decimals)
	return out
}

func appendReason(all []verify.Reason, r *verify.Reason) []verify.Reason {
	if r == nil {
		return all
	}
	return append(all, *r)
}

// forget drops every figure of a line that must not be used.
func (a *asset) forget() {
	a.amount, a.micro, a.given = nil, nil, given{}
	for i := range a.parts {
		a.parts[i].amount, a.parts[i].micro, a.parts[i].given = nil, nil, given{}
	}
}

// judge puts the reasons at their lines.
func (h *holdings) judge(r verify.Report) {
	h.refused = r.Refused()
	for _, x := range r.Reasons {
		if x.Level == verify.Show {
			continue
		}
		i, k := place(x.Path)
		switch {
		case i < 0 || i >= len(h.assets):
			h.reasons = append(h.reasons, x)
		case k < 0 || k >= len(h.assets[i].parts):
			h.assets[i].reasons = append(h.assets[i].reasons, x)
		default:
			h.assets[i].parts[k].reasons = append(h.assets[i].parts[k].reasons, x)
		}
	}
}

// place parses a path into the index of an aggregate and of its part, -1 for none.
func place(path string) (aggregate, part int) {
	words := strings.Split(path, "/")
	at := func(i int, name string) int {
		if i+1 >= len(words) || words[i] != name {
			return -1
		}
		n, err := strconv.Atoi(words[i+1])
		if err != nil {
			return -1
		}
		return n
	}
	return at(1, "balanceByAggregatedAsset"), at(3, "individualAssetBalances")
}

// unpriced names the holdings without a price, "" when everything has one.
func (h *holdings) unpriced() string {
	var ids []string
	for _, a := range h.assets {
		switch {
		case isZero(a.amount, a.micro):
		case a.micro == nil:
			ids = append(ids, a.id)
		default:
			for _, p := range a.parts {
				if p.micro == nil && !isZero(p.amount, p.micro) {
					ids = append(ids, p.id)
				}
			}
		}
	}
	if len(ids) == 0 {
		return ""
	}
	slices.Sort(ids)
	digest := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(digest[:8])
}

// units reads base units; any text that is not a plain amount is unknown.
func units(s string) *big.Int {
	v, err := amount.ParseBase(s)
	if err != nil {
		return nil
	}
	return v
}

// counted is an amount whose decimals are known, or a plain zero, for which they do not matter.
func counted(s string, decimals int) *big.Int {
	v := units(s)
	if v == nil || decimals < 0 && v.Sign() != 0 {
		return nil
	}
	return v
}

// micro reads a fiat value; a negative one is unknown.
func micro(n api.Number) *big.Int {
	v, ok := n.Micro()
	if !ok || v.Sign() < 0 {
		return nil
	}
	return v
}

// givenOf keeps the digits that can be read.
func givenOf(base string, fiat api.Number) (out given) {
	if units(base) != nil {
		out.amount = base
	}
	if micro(fiat) != nil {
		out.fiat = string(fiat)
	}
	return out
}

// sum adds two figures; nil counts as nothing.
func sum(a, b *big.Int) *big.Int {
	if a == nil {
		return new(big.Int).Set(b)
	}
	return new(big.Int).Add(a, b)
}

// differs reports whether the service's total is more than one cent per asset away from the sum of its parts.
func (h *holdings) differs() bool {
	if h.says == nil || h.total == nil {
		return false
	}
	d := new(big.Int).Sub(h.says, h.total)
	return d.CmpAbs(big.NewInt(int64(len(h.assets)+1)*10_000)) > 0
}

// isZero reports whether an amount is known to be zero and worth nothing.
func isZero(v, worth *big.Int) bool {
	return v != nil && v.Sign() == 0 && (worth == nil || worth.Sign() == 0)
}
