package present

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/verify"
)

// Part is one asset on one chain. Amount is in base units, nil when unknown; Micro is micro USD, nil without a price.
type Part struct {
	Asset     caip.Asset // zero: its id does not read
	ID        string     // CAIP-19, cleaned
	Chain     caip.Chain
	ChainName string // name of the chain
	Owner     string // key of the account, "" when it is unknown
	Symbol    string
	Decimals  int // -1: the catalog does not know the asset
	Amount    *big.Int
	Micro     *big.Int
	Given     Stated
	Reasons   []verify.Reason
}

// Holding is one aggregated asset.
type Holding struct {
	Key      string // key of its line: the id, numbered where the answer repeats it
	ID       string
	Symbol   string
	Name     string
	Decimals int
	Amount   *big.Int
	Micro    *big.Int
	Given    Stated
	Reasons  []verify.Reason
	Parts    []Part
}

// Stated is the text of an answer for an export: digits, or "" where they could not be read.
type Stated struct{ Amount, Fiat string }

// Holdings is one answer, interpreted with the catalog.
type Holdings struct {
	Assets  []Holding
	Owners  []Owner
	Total   *big.Int        // micro USD of everything priced; nil when nothing is
	Says    *big.Int        // the total according to the service
	Reasons []verify.Reason // that concern no single line
	Without string          // the holdings without a price; totals with the same text leave out the same
	Refused bool            // one of the figures must not be used
}

// BalanceReader converts answers into holdings. It is immutable.
type BalanceReader struct {
	Catalog  *catalog.Catalog
	Symbols  verify.Symbols
	Accounts []api.Account
}

// Read uses only ids, amounts and fiat values of the answer. It fails for an answer about another account.
func (r BalanceReader) Read(b api.AggregatedBalance) (*Holdings, error) {
	owners, err := OwnersOf(r.Accounts, b.Accounts)
	if err != nil {
		return nil, err
	}
	h := &Holdings{Owners: owners}
	seen := map[string]int{}
	for i, a := range b.BalanceByAggregatedAsset {
		got := r.asset(a, owners)
		got.Key = got.ID
		if n := seen[a.AggregatedAssetID]; n > 0 {
			got.forget()
			got.Key += " " + strconv.Itoa(i)
		}
		seen[a.AggregatedAssetID]++
		if got.Micro != nil {
			h.Total = Plus(h.Total, got.Micro)
		}
		h.Assets = append(h.Assets, got)
	}
	silent := map[caip.Chain]bool{}
	for _, u := range b.Unreachable {
		if id, err := caip.ParseChain(u.Chain); err == nil {
			silent[id] = true
		}
	}
	for i := range h.Assets {
		r.missing(&h.Assets[i], silent, owners)
	}
	h.Says = Micro(b.TotalBalance.FiatValue)
	h.Without = h.unpriced()
	if len(h.Without) > 0 && h.Total != nil && h.Total.Sign() == 0 {
		h.Total = nil // nothing that is held has a price
	}
	if h.Total == nil && h.Says != nil && h.Says.Sign() == 0 {
		h.Total = new(big.Int)
	}
	h.judge(verify.Balances(r.Catalog, b))
	if len(silent) > 0 { // of most nothing is held anywhere: what stays unknown is said once for the chain
		h.Assets = slices.DeleteFunc(h.Assets, func(a Holding) bool {
			return a.Amount == nil && a.Given.Amount == "0" && len(a.Reasons) == 0 && !a.coinOf(silent)
		})
		for i := range h.Assets {
			if h.Assets[i].Amount == nil {
				h.Assets[i].Given = Stated{}
			}
		}
	}
	return h, nil
}

// missing adds the parts of an asset that are on chains which could not be asked. What is held is unknown when nothing
// was found elsewhere.
func (r BalanceReader) missing(a *Holding, silent map[caip.Chain]bool, owners []Owner) {
	known, ok := r.Catalog.Aggregate(caip.AggregateID(a.ID))
	if !ok || len(silent) == 0 {
		return
	}
	for _, e := range known.Entities {
		if !silent[e.Asset.Chain] {
			continue
		}
		a.Parts = append(a.Parts, r.part(api.AssetBalance{AssetType: e.Asset.String()}, *a, owners))
		if a.Amount != nil && a.Amount.Sign() == 0 {
			a.Amount, a.Micro = nil, nil
		}
	}
}

// coinOf reports whether the asset is the coin of one of the chains.
func (a Holding) coinOf(chains map[caip.Chain]bool) bool {
	return slices.ContainsFunc(a.Parts, func(p Part) bool { return chains[p.Chain] && p.Asset.IsNative() })
}

func (r BalanceReader) asset(a api.AggregateBalance, owners []Owner) Holding {
	out := Holding{ID: Clean(a.AggregatedAssetID, 80), Decimals: -1, Micro: Micro(a.FiatValue)}
	known, ok := r.Catalog.Aggregate(caip.AggregateID(a.AggregatedAssetID))
	if ok {
		out.Symbol, out.Name, out.Decimals = known.Symbol, known.Name, known.Decimals
	} else {
		view, reason := r.Symbols.Judge(strings.TrimPrefix(a.AggregatedAssetID, "ob:"))
		out.Symbol, out.Name = Clean(view.String(), 80), "not in this program's catalog"
		out.Reasons = appendReason(out.Reasons, reason)
	}
	units := BaseUnits(a.Balance)
	out.Amount, out.Given = counted(units, out.Decimals), givenOf(units, out.Micro, a.Balance, a.FiatValue)
	seen := map[string]bool{}
	for _, p := range a.IndividualAssetBalances {
		part := r.part(p, out, owners)
		if seen[part.ID] {
			part.Amount, part.Micro = nil, nil
		}
		seen[part.ID] = true
		out.Parts = append(out.Parts, part)
	}
	return out
}

// part accepts decimals only when the catalog has the asset under the same aggregate; an asset of another aggregate
// gets no figures at all.
func (r BalanceReader) part(p api.AssetBalance, of Holding, owners []Owner) Part {
	out := Part{Decimals: -1, Symbol: of.Symbol, ChainName: "unknown chain"}
	units, micro := BaseUnits(p.Balance), Micro(p.FiatValue)
	out.Given = givenOf(units, micro, p.Balance, p.FiatValue)
	id, err := caip.ParseAsset(p.AssetType)
	if err != nil {
		out.ID = Clean(p.AssetType, 120)
		return out
	}
	out.Asset, out.ID, out.Chain, out.Owner, out.Micro = id, id.Display(), id.Chain, ownerOf(id.Chain, owners), micro
	if info, ok := r.Catalog.Chain(id.Chain); ok {
		out.ChainName = info.Name
	} else {
		out.ChainName = Clean(id.Chain.String(), 60)
	}
	e, ok := r.Catalog.Entity(id)
	switch {
	case ok && string(e.Aggregate) == of.ID:
		out.Decimals, out.Symbol = e.Decimals, e.Symbol
	case ok:
		out.Micro = nil
	case of.Decimals >= 0:
		view, reason := r.Symbols.Judge(of.Symbol)
		out.Symbol = Clean(view.Text, 80) + " (unverified)"
		out.Reasons = appendReason(out.Reasons, reason)
	}
	out.Amount = counted(units, out.Decimals)
	return out
}

func appendReason(all []verify.Reason, r *verify.Reason) []verify.Reason {
	if r == nil {
		return all
	}
	return append(all, *r)
}

// forget drops every figure of a line that must not be used.
func (a *Holding) forget() {
	a.Amount, a.Micro, a.Given = nil, nil, Stated{}
	for i := range a.Parts {
		a.Parts[i].Amount, a.Parts[i].Micro, a.Parts[i].Given = nil, nil, Stated{}
	}
}

// judge puts the reasons at their lines.
func (h *Holdings) judge(r verify.Report) {
	h.Refused = r.Refused()
	for _, x := range r.Reasons {
		if x.Level == verify.Show {
			continue
		}
		i, k := place(x.Path)
		switch {
		case i < 0 || i >= len(h.Assets):
			h.Reasons = append(h.Reasons, x)
		case k < 0 || k >= len(h.Assets[i].Parts):
			h.Assets[i].Reasons = append(h.Assets[i].Reasons, x)
		default:
			h.Assets[i].Parts[k].Reasons = append(h.Assets[i].Parts[k].Reasons, x)
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
func (h *Holdings) unpriced() string {
	var ids []string
	for _, a := range h.Assets {
		switch {
		case IsZero(a.Amount, a.Micro):
		case a.Micro == nil:
			ids = append(ids, a.ID)
		default:
			for _, p := range a.Parts {
				if p.Micro == nil && !IsZero(p.Amount, p.Micro) {
					ids = append(ids, p.ID)
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

// BaseUnits reads base units; any text that is not a plain amount is unknown.
func BaseUnits(s string) *big.Int {
	v, err := amount.ParseBase(s)
	if err != nil {
		return nil
	}
	return v
}

// counted is an amount whose decimals are known, or a plain zero, for which they do not matter.
func counted(v *big.Int, decimals int) *big.Int {
	if v == nil || decimals < 0 && v.Sign() != 0 {
		return nil
	}
	return v
}

// Micro reads a fiat value; a negative one is unknown.
func Micro(n api.Number) *big.Int {
	v, ok := n.Micro()
	if !ok || v.Sign() < 0 {
		return nil
	}
	return v
}

// givenOf keeps the digits of the figures that could be read.
func givenOf(units, micro *big.Int, amount string, fiat api.Number) (out Stated) {
	if units != nil {
		out.Amount = amount
	}
	if micro != nil {
		out.Fiat = string(fiat)
	}
	return out
}

// Plus adds two figures; nil counts as nothing.
func Plus(a, b *big.Int) *big.Int {
	if a == nil {
		return new(big.Int).Set(b)
	}
	return new(big.Int).Add(a, b)
}

// Differs reports whether the service's total is more than one cent per asset away from the sum of its parts.
func (h *Holdings) Differs() bool {
	if h.Says == nil || h.Total == nil {
		return false
	}
	d := new(big.Int).Sub(h.Says, h.Total)
	return d.CmpAbs(big.NewInt(int64(len(h.Assets)+1)*10_000)) > 0
}

// Doubt says that the service's total is not what its assets add up to; "" when it is.
func (h *Holdings) Doubt() string {
	if !h.Differs() {
		return ""
	}
	return "the service says the total is " + USD(h.Says) + "; its assets add up to " + USD(h.Total)
}

// IsZero reports whether an amount is known to be zero and worth nothing.
func IsZero(v, worth *big.Int) bool {
	return v != nil && v.Sign() == 0 && (worth == nil || worth.Sign() == 0)
}

// Owner is an account with holdings, or several that the answer does not tell apart.
type Owner struct {
	Key     string
	Address string // in full; "" for several
	Words   string
	EVM     bool
	Told    bool // the answer covers it
}

// Together is the key of all EVM accounts where an answer does not tell them apart.
const Together = "evm accounts"

// OwnersOf lists the accounts with different addresses, EVM accounts first where the answer groups several. It fails
// for an answer that names an account not among them: its figures belong to somebody else.
func OwnersOf(accounts []api.Account, says *api.BalanceAccounts) ([]Owner, error) {
	var out []Owner
	at := map[string]int{}
	evm := 0
	for _, a := range accounts {
		key := OwnerKey(a.AccountAddress, a.IsEVM())
		if i, ok := at[key]; ok {
			out[i].Words += ", " + AccountType(a.Type)
			continue
		}
		at[key] = len(out)
		out = append(out, Owner{Key: key, Address: Checksummed(a.AccountAddress),
			Words: AccountType(a.Type), EVM: a.IsEVM(), Told: true})
		if a.IsEVM() {
			evm++
		}
	}
	named := ""
	if says != nil && len(accounts) > 0 {
		for _, one := range []struct {
			address string
			evm     bool
		}{{says.EVM, true}, {says.Solana, false}} {
			if one.address == "" {
				continue
			}
			if _, ours := at[OwnerKey(one.address, one.evm)]; !ours {
				return nil, fmt.Errorf("the answer is about another account, %s, so nothing of it is shown",
					Clean(one.address, 80))
			}
			if one.evm {
				named = OwnerKey(one.address, true)
			}
		}
	}
	if evm < 2 {
		return out, nil
	}
	for i := range out {
		out[i].Told = !out[i].EVM || out[i].Key == named
	}
	if named == "" {
		out = append([]Owner{{Key: Together, Words: "EVM accounts", EVM: true, Told: true}}, out...)
	}
	return out, nil
}

// OwnerKey identifies an account among those of a profile.
func OwnerKey(address string, evm bool) string {
	if evm {
		return "eip155:" + strings.ToLower(address)
	}
	return "solana:" + address
}

// ownerOf is the account that holds assets on a chain, "" without one.
func ownerOf(c caip.Chain, owners []Owner) string {
	_, evm := c.EVMID()
	for _, o := range owners {
		if o.Told && (o.EVM && evm || !o.EVM && c.IsSolana()) {
			return o.Key
		}
	}
	return ""
}
