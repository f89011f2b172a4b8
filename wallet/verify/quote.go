package verify

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/pattern"
	"coffer/wallet/intent"
)

// maxOperations is how many operations one quote may carry (TH-Q3).
const maxOperations = 10

// Quote judges an answer of call-quote, v1 or v3 as the intent says, that was asked for with a signed prepared
// operation. now is the local clock. The quote is nil when the report refuses.
func Quote(in intent.Intent, p Policy, h History, now time.Time, prepared *SignedPrepared,
	doc *api.Document) (*VerifiedQuote, Report) {
	j := &judge{Policy: p, in: in, h: h, now: now}
	q := j.quote(prepared, doc)
	if j.refused() {
		q = nil
	}
	return q, j.report
}

func (j *judge) quote(prepared *SignedPrepared, doc *api.Document) *VerifiedQuote {
	if !j.must(doc != nil && prepared != nil && prepared.prepared != nil &&
		j.h != nil, "Q14", "there is a quote for a signed operation", "", "a quote", "nothing") || !j.network() {
		return nil
	}
	if !j.must(prepared.prepared.intent == j.in.Hash(), "Q14", "the signed operation belongs to this intent", "",
		"the same intent", "another intent") {
		return nil
	}
	acc, ok := j.evmAccount()
	if !ok {
		return nil
	}
	w, again, ok := j.readQuote(doc)
	if !ok {
		return nil
	}
	d := j.in.Draft()
	id := j.quoteID(w.ID)
	j.accounts("Q2", w.Accounts)
	j.tamperProof(w.TamperProofSignature)
	expires := j.expiry(w.ExpirationTimestamp)
	end := prepared.prepared.end
	j.must(expires <= end, "Q10", "the quote ends before the operation that it is for", "/expirationTimestamp",
		"not after "+unixText(uint64(max(end, 0))), unixText(uint64(expires)))
	n := len(w.OriginChainsOperations)
	if !j.must(n >= 1 && n <= maxOperations, "Q3", "the quote has one to ten operations", "/originChainsOperations",
		"1 to 10", strconv.Itoa(n)) {
		return nil
	}
	dest := j.destination(acc, w.DestinationToken)
	j.slippage(w.Slippage, d.SlippageBps, 0)
	q := &VerifiedQuote{doc: doc, prepared: prepared, expires: expires}
	q.view = QuoteView{ID: w.ID, Kind: intent.KindCall, RecipientOwn: true, Expires: time.Unix(expires, 0),
		SlippageBps: d.SlippageBps, Recipient: acc.address.Hex(), Needs: j.needs(d, prepared.prepared)}
	if dest != nil {
		q.view.Delivered, q.view.Minimum = *dest, *dest
	}
	j.destinationOperation(prepared.prepared, doc, again, isPreparedAgain(prepared.prepared, w.OriginChainsOperations))
	if isPreparedAgain(prepared.prepared, w.OriginChainsOperations) {
		j.sameChain(prepared.prepared, doc, w, dest, q)
	} else if j.solver() {
		j.fundingQuote(acc, w, id, expires, q)
	}
	if j.refused() {
		return nil
	}
	j.quoteLimits(q)
	if len(q.operations) > 0 {
		q.stood = j.beside(q.operations, prepared.prepared.signing)
	}
	q.view.Fingerprint = fingerprint("coffer/review/2", j.in.Hash(), doc,
		append([]Signing{prepared.prepared.signing}, q.operations...)...)
	q.view.Phrase = j.report.Phrase()
	return q
}

// readQuote passes a quote of either version through its class table and reads it; that of v1 names one account, has
// neither fees nor tolerances, and may show the prepared operation once more.
func (j *judge) readQuote(doc *api.Document) (w api.Quote, again *api.ChainOperation, ok bool) {
	j.lexical(doc, quoteTable(j.in.V1()), "/originChainsOperations/", "/destinationChainOperation/")
	var err error
	if j.in.V1() {
		var one api.QuoteV1
		err = doc.Decode(&one)
		w = api.Quote{
			ID: one.ID, Accounts: []api.Account{one.Account}, OriginChainsOperations: one.OriginChainsOperations,
			OriginToken:      one.OriginToken,
			DestinationToken: one.DestinationToken, ExpirationTimestamp: one.ExpirationTimestamp,
			TamperProofSignature: one.TamperProofSignature,
		}
		again = one.DestinationChainOperation
	} else {
		err = doc.Decode(&w)
		_, smuggled := doc.At("/destinationChainOperation")
		j.must(!smuggled, "Q13", "the quote brings no second prepared operation", "/destinationChainOperation",
			"nothing", "an operation")
	}
	if err != nil || j.refused() {
		j.must(err == nil, "L3", "the answer has the shape of a quote", "", "a quote", "another shape")
		return w, nil, false
	}
	return w, again, true
}

// destinationOperation: where a quote shows the prepared operation once more, it is the one that was signed, byte for
// byte, and is not signed again (TH-Q13).
func (j *judge) destinationOperation(p *PreparedOp, doc *api.Document, again *api.ChainOperation, same bool) {
	if again == nil {
		return
	}
	want, _ := p.doc.At("/chainOperation")
	got, _ := doc.At("/destinationChainOperation")
	j.must(!same && bytes.Equal(want, got), "Q13",
		"the operation on the target chain is the one you signed, byte for byte", "/destinationChainOperation",
		"the prepared operation", "another operation")
}

var reQuoteID = pattern.New(`^0x[0-9a-fA-F]{64}$`)

func (j *judge) quoteID(s string) (id [32]byte) {
	if !j.must(reQuoteID.MatchString(s), "Q1", "the quote has an id of 32 bytes", "/id", "0x and 64 hex digits", s) {
		return id
	}
	j.must(!j.h.SeenQuote(s), "Q1", "the quote id is new", "/id", "an id never seen before", s)
	return [32]byte(common.FromHex(s))
}

// maxExpiry is beyond what any policy lets a quote live, in seconds, and small enough to be counted in nanoseconds.
const maxExpiry = 1 << 32

var reUnixSeconds = pattern.New(`^[1-9][0-9]{0,11}$`)

// expiry checks how long the quote stays valid (TH-Q10).
func (j *judge) expiry(s string) int64 {
	const path = "/expirationTimestamp"
	if !j.must(reUnixSeconds.MatchString(s), "Q10", "the expiry is a time in Unix seconds", path, "Unix seconds", s) {
		return 0
	}
	at, _ := strconv.ParseInt(s, 10, 64)
	left := time.Duration(min(at-j.now.Unix(), maxExpiry)) * time.Second
	if !j.must(left >= j.MinQuoteLife && left <= j.MaxQuoteLife+j.ClockTolerance, "Q10",
		"the quote is still open, and not for long", path,
		"between "+j.MinQuoteLife.String()+" and "+j.MaxQuoteLife.String()+" from now", unixText(uint64(max(at, 0)))) {
		return 0
	}
	if left < j.WarnQuoteLife {
		j.add(Warn, "Q10", "The quote ends in a few seconds.", path, "", left.String())
	}
	return at
}

// destination checks what is delivered: a required token in full, exactly, to the account itself (TH-Q7, Q8, Q9;
// protocol §3.6, §3.7).
func (j *judge) destination(acc account, w api.DestinationToken) *AmountView {
	const path = "/destinationToken"
	d := j.in.Draft()
	required := j.listed(d)
	if len(required) == 0 {
		required = []api.TokenRequirement{{AssetType: caip.Native(j.in.ChainID()).String(), Amount: "0"}}
	}
	asset, err := caip.ParseAsset(w.AssetType)
	at := slices.IndexFunc(required, func(t api.TokenRequirement) bool {
		a, errWant := caip.ParseAsset(t.AssetType)
		return errWant == nil && a == asset
	})
	if !j.must(err == nil && at >= 0, "Q7", "what is delivered is a token that you asked for", path+"/assetType",
		required[0].AssetType, w.AssetType) {
		return nil
	}
	e, known := j.Catalog.Entity(asset)
	if !j.must(known, "Q7", "the delivered token is in this wallet's list", path+"/assetType", "a known token",
		w.AssetType) {
		return nil
	}
	idOK := w.AggregatedAssetID == e.Aggregate.String() || w.AggregatedAssetID == caip.Single.String()
	j.must(idOK, "Q7", "the delivered token has its own aggregated id", path+"/aggregatedAssetId", e.Aggregate.String(),
		w.AggregatedAssetID)
	j.asListed(e, w)
	j.must(w.Amount == required[at].Amount, "Q8", "the delivered amount is the required one", path+"/amount",
		required[at].Amount, w.Amount)
	j.must(w.MinimumAmount == required[at].Amount, "Q8", "no less than the required amount may arrive",
		path+"/minimumAmount", required[at].Amount, w.MinimumAmount)
	want := caip.EVMAccount(j.in.ChainID(), acc.address)
	got, err := caip.ParseAccount(w.RecipientAccount)
	if j.must(err == nil && got == want, "Q9", "the recipient is your own account on the target chain",
		path+"/recipientAccount", want.Display(), w.RecipientAccount) {
		j.checksum(w.RecipientAccount)
	}
	v, _ := new(big.Int).SetString(required[at].Amount, 10)
	view := j.amountView(asset, v)
	return &view
}

// listed are the requirements in assets of the catalogue: of another token nothing can be required (protocol §2.8).
func (p Policy) listed(d intent.Draft) (out []api.TokenRequirement) {
	for _, t := range d.TokensRequired {
		a, _ := caip.ParseAsset(t.AssetType) // what is none is unknown to the catalogue
		if _, known := p.Catalog.Entity(a); known {
			out = append(out, t)
		}
	}
	return out
}

// asListed compares decimals and symbol of what is delivered with the catalogue.
func (j *judge) asListed(e catalog.Entity, w api.DestinationToken) {
	j.must(w.Decimals == nil || *w.Decimals == e.Decimals, "Q7", "the delivered token has its own decimals",
		"/destinationToken/decimals", strconv.Itoa(e.Decimals), "other decimals")
	j.must(w.Symbol == "" || w.Symbol == e.Symbol, "Q7", "the delivered token has its own symbol",
		"/destinationToken/symbol", e.Symbol, w.Symbol)
}

// checksum checks the address of an EVM account that receives.
func (j *judge) checksum(recipient string) {
	raw := addressOf(recipient)
	j.must(caip.CheckEIP55(raw) == nil, "L5", "the recipient's address has a correct checksum",
		"/destinationToken/recipientAccount", "lower case or a correct checksum", raw)
}

var reDecimal = pattern.New(`^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$`)

// slippage compares the tolerances with those that were asked for, in basis points: calls are exact on the receiving
// side, swaps and transfers on the paying one (protocol §3.7).
func (j *judge) slippage(s *api.Slippage, origin, destination int) {
	if s == nil {
		return
	}
	for _, side := range []struct {
		path  string
		s     api.SlippageSide
		limit *big.Rat
	}{
		{"/slippage/origin/percent", s.Origin, big.NewRat(int64(origin), 100)},
		{"/slippage/destination/percent", s.Destination, big.NewRat(int64(destination), 100)},
	} {
		// the form first: a long or exponential number takes long to read
		r, ok := new(big.Rat), reDecimal.MatchString(side.s.Percent)
		if ok {
			r, ok = r.SetString(side.s.Percent)
		}
		j.must(ok && r.Cmp(side.limit) <= 0, "Q11", "the price may move no further than you allowed", side.path,
			"at most "+side.limit.FloatString(2)+" %", side.s.Percent)
	}
}

// isPreparedAgain reports whether a quote consists of the one operation that was already signed: one entry in the lane
// of prepared operations.
func isPreparedAgain(p *PreparedOp, ops []api.ChainOperation) bool {
	if len(ops) != 1 || ops[0].UserOp == nil {
		return false
	}
	return ops[0].UserOp.Nonce == p.signing.op.userOp.Nonce.String()
}

// sameChain accepts a quote whose single entry is the prepared operation, byte for byte (protocol §3.2).
func (j *judge) sameChain(p *PreparedOp, doc *api.Document, w api.Quote, dest *AmountView, q *VerifiedQuote) {
	if dest != nil {
		j.sameOrigin(w.OriginToken, *dest)
	}
	want, _ := p.doc.At("/chainOperation")
	got, _ := doc.At("/originChainsOperations/0")
	j.must(bytes.Equal(want, got), "Q14", "the quoted operation is the one you signed, byte for byte",
		"/originChainsOperations/0", "the prepared operation", "another operation")
	free := w.Fees == nil || (len(w.Fees.Assets) == 0 && w.Fees.CumulativeUSD == "0.00")
	j.must(free, "Q11", "a call that needs no funding costs nothing", "/fees", "no fees", "fees")
	q.view.SameChainOnly, q.view.CallType = true, api.CallSameChainExcludeSolver
	q.view.CallTypeWords = callTypeWords(q.view.CallType)
	q.view.Explained, q.view.FeeUSD = true, "0.00"
	q.view.PayMicro, q.view.FeesMicro, q.view.CostMicro, q.view.UnexplainedMicro = new(big.Int), new(big.Int),
		new(big.Int), new(big.Int)
	q.view.DeliverMicro = new(big.Int)
	if p.callType != api.CallSameChainExcludeSolver {
		j.add(Warn, "P4", "The way of paying differs from the one announced when the call was prepared.", "/callType",
			p.callType, q.view.CallType)
	}
}

// sameOrigin: without a payment the quote names what the calls take, which is the required token itself.
func (j *judge) sameOrigin(w api.OriginToken, dest AmountView) {
	e, _ := j.Catalog.Entity(dest.Asset)
	agg, _ := j.Catalog.Aggregate(e.Aggregate)
	want := amount.ScaleUp(dest.Amount, e.Decimals, agg.Decimals).String()
	j.must(w.AggregatedAssetID == agg.ID.String(), "Q6", "the quote names the required token",
		"/originToken/aggregatedAssetId", agg.ID.String(), w.AggregatedAssetID)
	j.must(w.Amount == want, "Q5", "the quote names the required amount", "/originToken/amount", want, w.Amount)
	listed := len(w.AssetType) == 1
	if listed {
		a, err := caip.ParseAsset(w.AssetType[0])
		listed = err == nil && a == dest.Asset
	}
	j.must(listed, "Q6", "the quote lists the required token only", "/originToken/assetType", dest.Asset.String(),
		plural(len(w.AssetType), "asset"))
}
