package flow

import (
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/wallet/verify"
)

// Keep holds small documents beside the journal; profile.Folder is one. A document that is not there is nil.
type Keep interface {
	Load(name string) ([]byte, error)
	Save(name string, data []byte) error
}

const (
	statedFile  = "stated.json"
	statedMost  = 4 << 20
	statedFor   = 24 * time.Hour // an older statement is not compared: too much can have happened since
	statedCount = 5000
)

// statement is one balance as the service stated it.
type statement struct {
	Account string    `json:"account"`
	Asset   string    `json:"asset"` // CAIP-19
	Amount  string    `json:"amount"`
	At      time.Time `json:"at"`
}

type statements struct {
	Version  int         `json:"version"`
	Network  string      `json:"network"`
	Balances []statement `json:"balances"`
}

// stated remembers the last balances that the service stated, between starts where there is a Keep. It proves nothing;
// it lets the service contradict itself. A file that is lost or cannot be read costs a warning and nothing else, so its
// errors are dropped.
type stated struct {
	mu     sync.Mutex
	keep   Keep
	net    string
	loaded bool
	list   []statement
}

func (s *stated) load() {
	if s.loaded || s.keep == nil {
		return
	}
	s.loaded = true
	b, err := s.keep.Load(statedFile)
	if err == nil {
		s.list = parseStated(b, s.net)
	}
}

// parseStated reads the file of a network; nothing of one that is not sound is used.
func parseStated(b []byte, network string) []statement {
	var d statements
	if len(b) == 0 || len(b) > statedMost || json.Unmarshal(b, &d, json.RejectUnknownMembers(true)) != nil ||
		d.Version != 1 || d.Network != network {
		return nil
	}
	for _, x := range d.Balances {
		if _, err := amount.ParseBase(x.Amount); err != nil || x.Account == "" {
			return nil
		}
		if _, err := caip.ParseAsset(x.Asset); err != nil {
			return nil
		}
	}
	return d.Balances
}

// of is the last statement about an asset of an account that is young enough to be compared.
func (s *stated) of(account string, a caip.Asset, now time.Time) (*big.Int, time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	id := a.String()
	for _, x := range s.list {
		if x.Asset == id && strings.EqualFold(x.Account, account) && now.Sub(x.At) < statedFor &&
			!x.At.After(now) {
			v, err := amount.ParseBase(x.Amount)
			return v, x.At, err == nil
		}
	}
	return nil, time.Time{}, false
}

// put replaces statements and keeps the document.
func (s *stated) put(list []statement) {
	if len(list) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	if s.keep != nil {
		if b, err := s.keep.Load(statedFile); err == nil && len(b) > 0 {
			s.list = parseStated(b, s.net) // another process may have noted something since
		}
	}
	type of struct{ account, asset string }
	now := map[of]bool{}
	for _, x := range list {
		now[of{strings.ToLower(x.Account), x.Asset}] = true
	}
	s.list = slices.DeleteFunc(s.list, func(o statement) bool { return now[of{strings.ToLower(o.Account), o.Asset}] })
	s.list = append(s.list, list...)
	if n := len(s.list); n > statedCount {
		s.list = s.list[n-statedCount:]
	}
	if s.keep == nil {
		return
	}
	if b, err := json.Marshal(statements{1, s.net, s.list}); err == nil {
		_ = s.keep.Save(statedFile, b)
	}
}

// holder is the account of an intent that holds an asset.
func holder(accounts []api.Account, a caip.Asset) string {
	for _, x := range accounts {
		if x.IsEVM() != a.Chain.IsSolana() {
			return x.AccountAddress
		}
	}
	return ""
}

// balanceRemark compares the balances that an answer states with those stated before. Less than before is explained by
// what the account's own signatures can have taken since; what is not gets a warning with both figures (TH-P6). A
// statement that contradicts an earlier one does not replace it, so the warning stays until the service agrees with
// itself or a day has passed.
func (o *Operation) balanceRemark(r verify.Report, sources []verify.AmountView) verify.Report {
	now, d := o.f.d.Clock(), o.in.Draft()
	var fresh []statement
	listed, left := o.comparable(sources)
	for _, a := range left {
		account := holder(d.Accounts, a.Asset)
		before, at, known := o.f.stated.of(account, a.Asset, now)
		if !known {
			continue
		}
		own := o.f.takenSince(account, a.Asset, at)
		a.Amount = new(big.Int).Sub(before, own)
		a.Micro = amount.Value(a.Amount, a.Decimals, o.f.d.Policy.Catalog.Price(a.Asset))
		if a.Amount.Sign() > 0 && !verify.Slight(a) {
			r.Reasons = append(r.Reasons, contradiction(a, before, own, at, true))
		}
	}
	for _, a := range listed {
		account := holder(d.Accounts, a.Asset)
		before, at, known := o.f.stated.of(account, a.Asset, now)
		if known {
			own := o.f.takenSince(account, a.Asset, at)
			if new(big.Int).Add(a.Amount, own).Cmp(before) < 0 {
				r.Reasons = append(r.Reasons, contradiction(a, before, own, at, false))
				continue
			}
			if a.Amount.Cmp(before) < 0 {
				// explained; what comes next is measured from the same statement, so that nothing explains two losses
				continue
			}
		}
		fresh = append(fresh, statement{account, a.Asset.String(), a.Amount.String(), now})
	}
	o.f.stated.put(fresh)
	return r
}

// contradiction is the warning about a balance that is lower than before, or left out.
func contradiction(a verify.AmountView, before, own *big.Int, at time.Time, left bool) verify.Reason {
	text := func(v *big.Int) string {
		if a.Decimals < 0 {
			return v.String() + " base units of " + a.Asset.Display()
		}
		return amount.Human(v, a.Decimals) + " " + a.Symbol + " on " + a.ChainName
	}
	want := text(before) + ", as it said at " + at.UTC().Format("15:04:05 UTC")
	if own.Sign() > 0 {
		want += ", less at most " + text(own) + " that you signed for since"
	}
	got, what := text(a.Amount), "states a lower balance than before"
	if left {
		got, what = "unknown: it leaves out "+a.Symbol+" on "+a.ChainName, "leaves out a balance that it stated before"
	}
	return verify.Reason{
		Code: "P6", Level: verify.Warn, Path: "/sourceAssetBalances", Want: want, Got: got,
		Title: "The service " + what + ", and your own operations do not explain it. It may want you to pay for what " +
			"you already have.",
	}
}

// comparable is what an answer states, and what it leaves out: listed are the balances that it names, and nothing of a
// required asset that could pay and that it does not name, because the service names those whatever they are worth;
// left are the other assets that could pay, of which it leaves out what is worth no more than its own fee, or lies
// where the account cannot pay now. Without a solver none on another chain than the call's can, so that the answer is
// silent about them.
func (o *Operation) comparable(sources []verify.AmountView) (listed, left []verify.AmountView) {
	listed, d := slices.Clone(sources), o.in.Draft()
	for _, e := range o.payers() {
		if o.f.d.Policy.Network.OnOwnNodes() && e.Asset.Chain != caip.EVM(o.in.ChainID()) ||
			slices.ContainsFunc(listed, func(x verify.AmountView) bool { return x.Asset == e.Asset }) ||
			holder(d.Accounts, e.Asset) == "" {
			continue
		}
		if slices.ContainsFunc(d.TokensRequired, func(t api.TokenRequirement) bool {
			a, err := caip.ParseAsset(t.AssetType)
			return err == nil && a == e.Asset
		}) {
			listed = append(listed, e)
		} else {
			left = append(left, e)
		}
	}
	return listed, left
}

// payers are the assets that could pay for the intent, each with the amount zero.
func (o *Operation) payers() []verify.AmountView {
	c := o.f.d.Policy.Catalog
	var out []verify.AmountView
	add := func(a caip.Asset) {
		e, ok := c.Entity(a)
		if !ok {
			return
		}
		v := verify.AmountView{Asset: a, Symbol: e.Symbol, Decimals: e.Decimals, Amount: new(big.Int)}
		if info, ok := c.Chain(a.Chain); ok {
			v.ChainName = info.Name
		}
		out = append(out, v)
	}
	if a, err := caip.ParseAsset(o.in.Funding()); err == nil {
		add(a)
		return out
	}
	id, err := caip.ParseAggregate(o.in.Funding())
	if err != nil {
		return nil
	}
	agg, _ := c.Aggregate(id)
	for _, e := range agg.Entities {
		add(e.Asset)
	}
	return out
}

// takenSince is what the account's own signatures can have taken of an asset since a statement, those that were still
// open then among them. Those of another account of the wallet explain nothing.
func (f *Flow) takenSince(account string, a caip.Asset, at time.Time) *big.Int {
	total := new(big.Int)
	for _, s := range f.d.Journal.Spent(at.Add(-f.d.Policy.MaxWindow)) {
		if s.Asset == a && s.Amount != nil && (s.Account == "" || strings.EqualFold(s.Account, account)) {
			total.Add(total, s.Amount)
		}
	}
	return total
}

// Stated notes the balances that the service stated for the accounts of a profile, such as those of a screen: later
// answers are compared with them. Less than was stated within a day is not noted, so that what explained it once does
// not explain it again.
func (f *Flow) Stated(accounts []api.Account, b api.AggregatedBalance) {
	now := f.d.Clock()
	var fresh []statement
	for _, agg := range b.BalanceByAggregatedAsset {
		for _, x := range agg.IndividualAssetBalances {
			a, err := caip.ParseAsset(x.AssetType)
			v, errAmount := amount.ParseBase(x.Balance)
			account := ""
			if err == nil {
				account = holder(accounts, a)
			}
			if errAmount != nil || account == "" || v.Sign() == 0 {
				continue // nothing can be less than a zero
			}
			if before, _, known := f.stated.of(account, a, now); known && v.Cmp(before) < 0 {
				continue
			}
			fresh = append(fresh, statement{account, a.String(), v.String(), now})
		}
	}
	f.stated.put(fresh)
}
