package verify

import (
	"math/big"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/text"
	"coffer/assets"
	"coffer/wallet/intent"
)

// Question is what the person's own nodes of a chain are asked for a review: what the account has of the assets, what
// is next at the entry point for each key of a nonce, and whether there is code at addresses.
type Question struct {
	Chain      uint64
	Account    common.Address
	Assets     []caip.Asset
	EntryPoint common.Address
	Keys       []*big.Int // op.Nonce.Key192
	Code       []common.Address
	Fixed      int // how many of Code, from the first on, are fixed by the network
}

// Sight is what the nodes answered, all of one block: Has, Next and Hashes stand beside Assets, Keys and Code. A figure
// that they did not give is nil, the hash of no code is zero. Trouble says in a few words why there is nothing at all;
// "" otherwise.
type Sight struct {
	Question
	Block   uint64
	At      time.Time
	Has     []*big.Int
	Next    []*big.Int    // full nonces
	Hashes  []common.Hash // keccak-256
	Trouble string
}

// Stated is a balance as the service stated it: in the answer under judgement, or, with When, a while before. Amount is
// nil where the answer leaves out an asset that could pay.
type Stated struct {
	Asset  caip.Asset
	Amount *big.Int
	When   time.Time
}

// slight is what a balance is worth at most that a service may leave out, as no more than its own fee, in micro-USD:
// what moving one costs on a dear chain.
const slight = 10_000_000

// Slight reports whether a service may leave a balance out. One without a known price it may not.
func Slight(a AmountView) bool {
	return a.Amount.Sign() == 0 || a.Micro != nil && a.Micro.Cmp(big.NewInt(slight)) <= 0
}

// SeenView is what the person's own nodes of a chain saw of the balances of a review. As tells that they are what the
// service states, as far as it states them.
type SeenView struct {
	Chain ChainLabel
	Block uint64
	Has   []AmountView
	As    bool
}

// Who a fact comes from: the person's own node, or the service alone.
const (
	SeenByNode  = "seen by your node"
	ServiceSays = "the service says"
)

// The findings about what the person's own nodes see (TH-V8, V9, V10). Figures follow a colon.
const (
	SeenOtherwise = "Your node sees another balance than the service states: "
	SeenLeftOut   = "Your node sees a balance that could pay, and the service leaves it out: "
	SeenShort     = "Your node sees less than this payment takes, so it would not run: "
	SeenNothing   = "Balances and nonces could not be checked with your node: "
	SeenUsed      = "Your node sees that this nonce was used: what is signed here could never run."
	SeenAhead     = "Your node sees an earlier nonce as the next one: this cannot run before that one is used."
	SeenNoCode    = "Your node sees no code at an address that this network has fixed: "
	SeenOtherCode = "Your node sees other code than this program knows at an address that this network has fixed: "
)

// staleAfter is how old the newest block of a chain may be before its node is not believed, as for `coffer network
// check`. Chains of one's own make blocks when there is something in them.
const staleAfter = 10 * time.Minute

// Questions are what own nodes are asked about the review of an intent. Nothing in them comes from an answer.
func (p Policy) Questions(in intent.Intent) []Question {
	j := &judge{Policy: p, in: in}
	acc, ok := j.evmAccount()
	if in.IsZero() || !ok {
		return nil
	}
	var out []Question
	at := func(chain uint64) *Question {
		i := slices.IndexFunc(out, func(q Question) bool { return q.Chain == chain })
		if i < 0 {
			i = len(out)
			fixed := p.fixed(acc)
			out = append(out, Question{Chain: chain, Account: acc.address, EntryPoint: p.Network.Pins.EntryPoint,
				Keys: []*big.Int{op.Nonce{Validator: acc.validator, Key: op.LaneFunding}.Key192()}, Code: fixed,
				Fixed: len(fixed)})
		}
		return &out[i]
	}
	add := func(a caip.Asset) {
		chain, evm := a.Chain.EVMID()
		if !evm {
			return
		}
		if q := at(chain); !slices.Contains(q.Assets, a) {
			q.Assets = append(q.Assets, a)
		}
	}
	for _, e := range p.payers(in.Funding()) {
		add(e)
	}
	if in.Kind() != intent.KindCall {
		return out
	}
	d, target := in.Draft(), in.ChainID()
	for _, t := range d.TokensRequired {
		if a, err := caip.ParseAsset(t.AssetType); err == nil {
			add(a)
		}
	}
	calls, _ := askedCalls(d)
	for _, c := range calls {
		if c.Value != nil && c.Value.Sign() > 0 {
			add(caip.Native(target))
		}
		if a := caip.ERC20(target, c.To); p.isToken(target, c.To) {
			add(a)
		}
	}
	q := at(target)
	q.Keys = append(q.Keys, op.Nonce{Validator: acc.validator, Key: op.LanePrepared}.Key192())
	q.Code = append(q.Code, p.Called(in)...)
	return out
}

// payers are the assets that an aggregate or a single asset stands for.
func (p Policy) payers(funding string) (out []caip.Asset) {
	if a, err := caip.ParseAsset(funding); err == nil {
		return []caip.Asset{a}
	}
	id, _ := caip.ParseAggregate(funding) // what is none is unknown to the catalogue
	all, _ := p.Catalog.Aggregate(id)
	for _, e := range all.Entities {
		out = append(out, e.Asset)
	}
	return out
}

// fixed are the addresses of the network that every operation of an account needs on its chain.
func (p Policy) fixed(acc account) (out []common.Address) {
	pins := p.Network.Pins
	implementation := pins.KernelV31
	if acc.initData == nil {
		implementation = pins.KernelV33
	}
	for _, a := range []common.Address{pins.EntryPoint, acc.validator, pins.Paymaster, implementation} {
		if a != (common.Address{}) && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// WithSights puts what own nodes see into the report of Prepared: whether balances are as the service states them, the
// nonce is the next one, and there is code at the fixed addresses. Without sights nothing changes.
func (p *PreparedOp) WithSights(rules Policy, now time.Time, r Report, sights []Sight, said []Stated,
	pledges []Pledge) Report {
	var takes []AmountView
	if p.view.WholeConsent {
		takes = p.view.Outflow
	}
	out, seen := rules.sighted(now, r, sights, said, takes, slices.Concat(pledges, p.view.takes()),
		[]Signing{p.signing})
	p.view.Seen = seen
	return out
}

// WithSights is the same for what a quote signs: each payment must be there as well.
func (q *VerifiedQuote) WithSights(rules Policy, now time.Time, r Report, sights []Sight, said []Stated,
	pledges []Pledge) Report {
	var takes []AmountView
	for _, l := range q.view.Legs {
		takes = rules.addAmounts(takes, []AmountView{l.Pays})
	}
	if q.view.SameChainOnly {
		return r // nothing is signed; review 1 said what is seen
	}
	out, seen := rules.sighted(now, r, sights, said, takes, pledges, q.operations)
	q.view.Seen = seen
	return out
}

// sighted judges sights. said are the balances that the service stated, takes what is signed away, pledges what the
// account's quotes under way take.
func (p Policy) sighted(now time.Time, r Report, sights []Sight, said []Stated, takes []AmountView, pledges []Pledge,
	ops []Signing) (Report, []SeenView) {
	j := &judge{Policy: p, now: now, report: Report{Passed: slices.Clone(r.Passed), Reasons: slices.Clone(r.Reasons)}}
	var seen []SeenView
	var blind []string
	for _, s := range sights {
		if !j.matters(s, said, takes, ops) {
			continue
		}
		label := p.chainLabel(s.Chain)
		if why := j.unreadable(s); why != "" {
			blind = append(blind, label.Name+": "+why)
			continue
		}
		if v := j.balances(s, label, said, takes, pledges); len(v.Has) > 0 {
			seen = append(seen, v)
		}
		j.nonces(s, label, ops)
		j.code(s, label)
	}
	if len(blind) > 0 {
		j.put(Reason{Code: "V8", Level: Unknown, Title: SeenNothing + text.Few(blind, 3) + "."})
	}
	return j.report, seen
}

// matters reports whether a review has to do with a chain: something is signed there, or the service states a balance.
func (j *judge) matters(s Sight, said []Stated, takes []AmountView, ops []Signing) bool {
	chain := caip.EVM(s.Chain)
	return slices.ContainsFunc(said, func(x Stated) bool { return x.Asset.Chain == chain }) ||
		slices.ContainsFunc(takes, func(x AmountView) bool { return x.Asset.Chain == chain }) ||
		slices.ContainsFunc(ops, func(x Signing) bool { return x.summary.Chain == chain.String() })
}

// unreadable says why a sight shows nothing; "" when it does.
func (j *judge) unreadable(s Sight) string {
	switch age := j.now.Sub(s.At); {
	case s.Trouble != "":
		return s.Trouble
	case j.Network.Kind != network.Embedded && j.Network.Kind != network.Lab && age > staleAfter:
		return "its newest block is " + age.Round(time.Minute).String() + " old"
	}
	return ""
}

// balances compares what a chain's nodes see with what the service states and with what is signed away (TH-V8).
func (j *judge) balances(s Sight, label ChainLabel, said []Stated, takes []AmountView, pledges []Pledge) SeenView {
	v := SeenView{Chain: label, Block: s.Block, As: true}
	on := " on " + label.Name
	for i, a := range s.Assets {
		stated := slices.IndexFunc(said, func(x Stated) bool { return x.Asset == a })
		taken := slices.IndexFunc(takes, func(x AmountView) bool { return x.Asset == a })
		if stated < 0 && taken < 0 {
			continue
		}
		if i >= len(s.Has) || s.Has[i] == nil {
			j.put(Reason{Code: "V8", Level: Unknown, Title: SeenNothing + a.Display() + on + "."})
			v.As = false
			continue
		}
		has := s.Has[i]
		if taken >= 0 || len(takes) == 0 {
			v.Has = append(v.Has, j.amountView(a, has))
			v.As = v.As && stated >= 0 && (said[stated].Amount != nil || has.Sign() == 0)
		}
		var differs []Reason
		if stated >= 0 {
			differs = j.otherwise(s, a, has, on, said[stated], pledges)
			v.As = v.As && len(differs) == 0
		}
		if taken >= 0 && takes[taken].Amount != nil && has.Cmp(takes[taken].Amount) < 0 &&
			!slices.ContainsFunc(differs, func(r Reason) bool { return r.Level == Warn }) {
			differs = append(differs, Reason{Code: "V8", Level: Warn, Title: SeenShort + j.human(a, has) + on +
				", and " + j.human(a, takes[taken].Amount) + " is needed.", Got: s.by() + j.human(a, has)})
		}
		for _, r := range differs {
			j.put(r)
		}
		if len(differs) == 0 {
			j.pass("V8", "the balances that pay are as your nodes see them")
		}
	}
	return v
}

// by says who saw a figure, and in which block.
func (s Sight) by() string { return SeenByNode + " at block " + strconv.FormatUint(s.Block, 10) + ": " }

// otherwise compares a balance that the nodes see with what the service states: a difference is a warning, or, where
// quotes under way explain all of it, a note.
func (j *judge) otherwise(s Sight, a caip.Asset, has *big.Int, on string, said Stated, pledges []Pledge) []Reason {
	r := Reason{Code: "V8", Level: Warn, Want: s.by() + j.human(a, has) + on}
	var why explanation
	var explained bool
	says := "the service leaves it out"
	if said.Amount == nil {
		if Slight(j.amountView(a, has)) {
			return nil
		}
		r.Title, r.Got = SeenLeftOut+j.human(a, has)+on+".", "unknown: "+says
		why, explained = j.leavesLittle(s, a, has, pledges)
	} else {
		if said.Amount.Cmp(has) == 0 {
			return nil
		}
		figure := j.human(a, said.Amount)
		says = ServiceSays + " " + figure
		r.Title, r.Got = SeenOtherwise+j.human(a, has)+on+", "+says+".", says
		if when := said.When; !when.IsZero() {
			r.Got = "the service said at " + clockText(when) + " " + figure
		}
		why, explained = exactly(s, a, has, said.Amount, pledges)
	}
	if explained {
		r.Level, r.Title = Show, SeenPledged+j.human(a, has)+on+", "+says+", and "+j.because(why, a)+"."
	}
	return []Reason{r}
}

// nonces compares the nonce of each operation with the next one at the entry point (TH-V9).
func (j *judge) nonces(s Sight, label ChainLabel, ops []Signing) {
	by := " on " + label.Name + ", " + SeenByNode + " at block " + strconv.FormatUint(s.Block, 10)
	for _, o := range ops {
		full, ok := new(big.Int).SetString(o.summary.Nonce, 10)
		if !ok || o.summary.Chain != caip.EVM(s.Chain).String() {
			continue
		}
		n, err := op.ParseNonce(full)
		i := slices.IndexFunc(s.Keys, func(k *big.Int) bool { return err == nil && k.Cmp(n.Key192()) == 0 })
		if i < 0 || i >= len(s.Next) || s.Next[i] == nil {
			j.put(Reason{Code: "V9", Level: Unknown, Title: SeenNothing + "the nonce on " + label.Name + "."})
			continue
		}
		next, err := op.ParseNonce(s.Next[i])
		want := "sequence " + strconv.FormatUint(next.Sequence, 10) + by
		got := "sequence " + strconv.FormatUint(n.Sequence, 10)
		switch c := full.Cmp(s.Next[i]); {
		case err != nil || c < 0:
			j.put(Reason{Code: "V9", Level: Warn, Title: SeenUsed, Want: want, Got: got})
		case c > 0:
			j.put(Reason{Code: "V9", Level: Warn, Title: SeenAhead, Want: want, Got: got})
		default:
			j.pass("V9", "the nonce is the next one that your nodes see")
		}
	}
}

// code demands code at the addresses that the network has fixed, and the code that this program was built with where
// that is the same on every chain (TH-V10). What calls go to is row V7.
func (j *judge) code(s Sight, label ChainLabel) {
	for i, found := range s.Hashes {
		if i >= s.Fixed { // an address of a call
			break
		}
		where := j.fixedName(s.Chain, s.Code[i]) + " " + s.Code[i].Hex() + " on " + label.Name
		want, known := pinnedCode()[s.Code[i]]
		switch {
		case found == (common.Hash{}):
			j.put(Reason{Code: "V10", Level: Warn, Title: SeenNoCode + where + "."})
		case known && found != want:
			j.put(Reason{Code: "V10", Level: Warn, Title: SeenOtherCode + where + ".", Want: want.Hex(),
				Got: found.Hex()})
		case known:
			j.pass("V10", "your nodes see the code that this program knows at the network's fixed addresses")
		default:
			j.pass("V10", "your nodes see code at the network's fixed addresses")
		}
	}
}

// fixedName names a fixed address; "contract" for one that has no name of its own.
func (p Policy) fixedName(chain uint64, a common.Address) string {
	pins := p.Network.Pins
	if a == pins.KernelV31 || a == pins.KernelV33 {
		return "the accounts' code"
	}
	if name := p.nameOf(chain, a); name != "" {
		return name
	}
	return "contract"
}

// pinnedCode are the hashes of code that this program knows, by address; without them no code is compared.
var pinnedCode = sync.OnceValue(func() map[common.Address]common.Hash {
	all, _ := assets.PinnedCode() // the tests of assets read it
	out := map[common.Address]common.Hash{}
	for at, hash := range all {
		out[common.HexToAddress(at)] = common.HexToHash(hash)
	}
	return out
})

// Seen tells by address whether own nodes see code on a chain; an address that they were not asked for is missing.
func Seen(sights []Sight, chain uint64) map[common.Address]bool {
	out := map[common.Address]bool{}
	for _, s := range sights {
		for i, hash := range s.Hashes {
			if s.Chain == chain && s.Trouble == "" {
				out[s.Code[i]] = hash != common.Hash{}
			}
		}
	}
	return out
}
