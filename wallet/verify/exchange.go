package verify

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/intent"
)

// Exchange judges the quote of a swap or a transfer, v1 or v3 as the intent says. now is the local clock. The quote is
// nil when the report refuses.
func Exchange(in intent.Intent, p Policy, h History, now time.Time, doc *api.Document) (*VerifiedQuote, Report) {
	j := &judge{Policy: p, in: in, h: h, now: now}
	q := j.exchange(doc)
	if j.refused() {
		q = nil
	}
	return q, j.report
}

func (j *judge) exchange(doc *api.Document) *VerifiedQuote {
	if !j.must(doc != nil && j.h != nil, "Q14", "there is a quote", "", "a quote", "nothing") || !j.network() {
		return nil
	}
	d := j.in.Draft()
	trades := (j.in.Kind() == intent.KindSwap || j.in.Kind() == intent.KindTransfer) && d.Pay != nil && d.Receive != nil
	if !j.must(trades, "Q14", "the intent is a swap or a transfer", "", "a swap or a transfer", j.in.Kind()) {
		return nil
	}
	acc, ok := j.payer()
	if !ok || !j.sendsItself() && !j.solver() {
		return nil
	}
	w, again, ok := j.readQuote(doc)
	if !ok {
		return nil
	}
	j.must(again == nil, "Q13", "the quote brings no prepared operation", "/destinationChainOperation", "nothing",
		"an operation")
	id := j.quoteID(w.ID)
	j.accounts("Q2", w.Accounts)
	j.tamperProof(w.TamperProofSignature)
	expires := j.expiry(w.ExpirationTimestamp)
	n := len(w.OriginChainsOperations)
	if !j.must(n >= 1 && n <= maxOperations, "Q3", "the quote has one to ten operations", "/originChainsOperations",
		"1 to 10", strconv.Itoa(n)) {
		return nil
	}
	j.slippage(w.Slippage, 0, d.SlippageBps)
	if !j.oneMessage(w) {
		return nil
	}
	legs, ok := j.legs(acc, w, id, expires)
	if !ok {
		return nil
	}
	q := &VerifiedQuote{doc: doc, expires: expires}
	q.view = QuoteView{ID: w.ID, Kind: j.in.Kind(), CallTypeWords: exchangeWords(j.in.Kind()),
		Expires: time.Unix(expires, 0), SlippageBps: d.SlippageBps}
	if !j.received(acc, legs, w.DestinationToken, q) {
		return nil
	}
	j.trade(w, legs, q)
	if j.sentItself(w, legs, q); j.refused() {
		return nil
	}
	for _, l := range legs {
		q.operations = append(q.operations, l.verified)
	}
	j.quoteLimits(q)
	q.stood = j.beside(q.operations)
	q.view.Fingerprint = fingerprint("coffer/review/3", j.in.Hash(), doc, q.operations...)
	q.view.Phrase = j.report.Phrase()
	return q
}

// exchangeWords says in plain words what a kind of exchange means.
func exchangeWords(kind string) string {
	if kind == intent.KindTransfer {
		return "The payments below are signed now; the same asset, less the fees, is sent to the recipient."
	}
	return "The payments below are signed now; another asset is delivered for them, no less than the minimum; " +
		"otherwise they should come back."
}

// payer takes the accounts that pay from the intent: an EVM account, a Solana account or both. Without an EVM account
// the first result is empty.
func (j *judge) payer() (account, bool) {
	if _, evm := j.in.EVMAccount(); evm {
		return j.evmAccount()
	}
	_, ok := j.in.SolanaAccount()
	return account{}, j.must(ok, "U1", "there is an account to act for", "", "an account", "none")
}

// own is the account of the intent on a chain.
func (acc account) own(in intent.Intent, c caip.Chain) (caip.Account, bool) {
	if c.IsSolana() {
		a, ok := in.SolanaAccount()
		key, err := caip.ParseSolanaKey(a.AccountAddress)
		return caip.SolanaAccount(key), ok && err == nil
	}
	id, ok := c.EVMID()
	return caip.EVMAccount(id, acc.address), ok && acc.kind != ""
}

// received checks what is delivered and to whom (TH-Q7, Q8, Q9), and shows it.
func (j *judge) received(acc account, legs []leg, w api.DestinationToken, q *VerifiedQuote) bool {
	const path = "/destinationToken"
	want, _ := j.wanted(legs) // nothing is equal to an asset that is not in the catalogue
	got, err := caip.ParseAsset(w.AssetType)
	if !j.must(err == nil && got == want.Asset, "Q7",
		"what is delivered is what you asked for, on the chain that you chose", path+"/assetType", want.Asset.Display(),
		w.AssetType) {
		return false
	}
	j.names(want, w)
	v, err := parseAmount(w.Amount)
	least, errLeast := parseAmount(w.MinimumAmount)
	ok := j.must(err == nil && v.Sign() > 0, "Q8", "something is delivered", path+"/amount", "more than 0", w.Amount)
	ok = j.must(errLeast == nil && least.Sign() > 0, "Q8", "there is a minimum below which nothing is taken",
		path+"/minimumAmount", "more than 0", w.MinimumAmount) && ok
	if !ok {
		return false
	}
	j.minimum(v, least)
	q.view.Delivered, q.view.Minimum = j.amountView(want.Asset, v), j.amountView(want.Asset, least)
	if !j.recipient(acc, want.Asset.Chain, w.RecipientAccount, q) {
		return false
	}
	if t := j.promised(legs, want.Asset.Chain, q.expires); t != nil {
		to, _ := caip.ParseAccount(w.RecipientAccount) // as the recipient was found to be
		j.promisedToRecipient(t, want.Asset, to, least)
		q.view.Promise = j.promise(legs, t, want.Asset)
	}
	return true
}

// names compares the names of what is delivered with the catalogue.
func (j *judge) names(e catalog.Entity, w api.DestinationToken) {
	id := caip.Single.String()
	if asked, err := caip.ParseAggregate(j.in.Draft().Receive.Asset); err == nil {
		id = asked.String()
	}
	j.must(w.AggregatedAssetID == id, "Q7", "the delivered token has the id that you asked for",
		"/destinationToken/aggregatedAssetId", id, w.AggregatedAssetID)
	j.asListed(e, w)
}

// minimum: no less arrives than the tolerance allows, and never less than the user's own bound (TH-Q8; protocol §3.7).
func (j *judge) minimum(v, least *big.Int) {
	const path = "/destinationToken/minimumAmount"
	d := j.in.Draft()
	j.must(least.Cmp(v) <= 0, "Q8", "the minimum is not above the amount", path, "at most "+v.String(), least.String())
	floor := new(big.Int).Mul(v, big.NewInt(int64(10_000-d.SlippageBps)))
	floor.Quo(floor, big.NewInt(10_000))
	j.must(least.Cmp(floor) >= 0, "Q8", "the minimum is within your tolerance", path, "at least "+floor.String(),
		least.String())
	if d.Receive.Minimum == "" {
		return
	}
	own, err := parseAmount(d.Receive.Minimum)
	j.must(err == nil && least.Cmp(own) >= 0, "Q8", "no less arrives than you said", path,
		"at least "+d.Receive.Minimum, least.String())
}

// wanted is the asset that the intent asks for. Of an aggregate it is the one on the recipient's chain; without a
// recipient the one on the chain that most is paid from, where that chain has one, else the first of the catalogue, for
// v1 the first on an EVM chain.
func (j *judge) wanted(legs []leg) (catalog.Entity, bool) {
	r := j.in.Draft().Receive
	if a, err := caip.ParseAsset(r.Asset); err == nil {
		return j.Catalog.Entity(a)
	}
	id, _ := caip.ParseAggregate(r.Asset) // what is none is unknown to the catalogue
	aggregate, _ := j.Catalog.Aggregate(id)
	on := func(c caip.Chain) (catalog.Entity, bool) {
		i := slices.IndexFunc(aggregate.Entities, func(e catalog.Entity) bool { return e.Asset.Chain == c })
		if i < 0 {
			return catalog.Entity{}, false
		}
		return aggregate.Entities[i], true
	}
	if r.Account != "" {
		to, _ := caip.ParseAccount(r.Account) // what is none is on no chain
		return on(to.Chain)
	}
	if e, ok := on(paidMost(legs)); ok {
		return e, true
	}
	for _, e := range aggregate.Entities {
		if !j.in.V1() || !e.Asset.Chain.IsSolana() {
			return e, true
		}
	}
	return catalog.Entity{}, false
}

// paidMost is the chain that pays the largest part; all payments are of one aggregate.
func paidMost(legs []leg) caip.Chain {
	var chain caip.Chain
	var most *big.Int
	for _, l := range legs {
		if v := fine(l.amount, l.entity.decimals); most == nil || v.Cmp(most) > 0 {
			chain, most = l.asset.Chain, v
		}
	}
	return chain
}

// recipient checks who receives: the account that the intent names, or the user's own on that chain (TH-Q9, H1, V4).
func (j *judge) recipient(acc account, chain caip.Chain, text string, q *VerifiedQuote) bool {
	const path = "/destinationToken/recipientAccount"
	own, has := acc.own(j.in, chain)
	want, named := own, has
	if asked := j.in.Draft().Receive.Account; asked != "" {
		a, err := caip.ParseAccount(asked)
		want, named = a, err == nil && a.Chain == chain
	}
	if !j.must(named, "Q9", "the recipient is on the chain of what is delivered", path,
		"an account on "+chain.String(), text) {
		return false
	}
	got, err := caip.ParseAccount(text)
	if !j.must(err == nil && got == want, "Q9", "the recipient is the one that you named, or you", path, want.Display(),
		text) {
		return false
	}
	q.view.RecipientOwn = has && want == own
	if a, evm := want.EVM(); evm {
		j.checksum(text)
		q.view.Recipient = a.Hex()
	} else {
		q.view.Recipient = want.Address
	}
	if !q.view.RecipientOwn {
		j.stranger(q, path)
	}
	return true
}

// stranger looks at a recipient that is none of the user's accounts: one that imitates an address the user knows is
// refused, a new one is pointed out.
func (j *judge) stranger(q *VerifiedQuote, path string) {
	known := slices.Clone(j.h.Recipients())
	if slices.Contains(known, q.view.Recipient) {
		return
	}
	q.view.RecipientFirstTime = true
	for _, a := range j.in.Draft().Accounts {
		known = append(known, a.AccountAddress, a.SignerAddress, a.SessionAddress, a.AdminAddress)
	}
	for _, k := range known {
		if imitates(k, q.view.Recipient) {
			j.add(Refuse, "H1", "The recipient looks like an address that you know, but is another one.", path, k,
				q.view.Recipient)
			return
		}
	}
	j.add(Warn, "V4", FirstPayment, path, "", q.view.Recipient)
}

// imitates reports whether two addresses of one kind differ but begin and end alike: the first and last four digits, or
// characters of base58 (TH-H1).
func imitates(known, other string) bool {
	if strings.HasPrefix(known, "0x") != strings.HasPrefix(other, "0x") {
		return false
	}
	if strings.HasPrefix(known, "0x") {
		return looksLike(common.HexToAddress(known), common.HexToAddress(other))
	}
	const same = 4
	if len(known) < 2*same || len(other) < 2*same || known == other {
		return false
	}
	return known[:same] == other[:same] && known[len(known)-same:] == other[len(other)-same:]
}
