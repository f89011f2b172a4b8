package verify

import (
	"bytes"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
)

// leg is one checked funding operation. On Solana it has no user operation and no deadline; solana shows its message.
type leg struct {
	operation
	asset    caip.Asset
	entity   entity
	amount   *big.Int
	deadline uint64         // of the refund; 0 when it is not known
	escrow   common.Address // what is paid into
	terms    *escrow.Terms  // what it is released for; nil on Solana and where the contract is not pinned
	parts    []PartView     // of a payment into a contract that is not pinned
	verified Signing
	solana   *SolanaView
}

// solver refuses payments where there is none to pay: on own nodes (TH-Q4).
func (j *judge) solver() bool {
	return j.must(!j.Network.OnOwnNodes(), "Q4", "payments go to the solver's escrow", "/originChainsOperations",
		"the prepared operation alone, as this network has no solver", "payments")
}

// fundingQuote checks every funding operation and then the flow of value.
func (j *judge) fundingQuote(acc account, w api.Quote, id [32]byte, expires int64, q *VerifiedQuote) {
	legs, ok := j.legs(acc, w, id, expires)
	if !ok {
		return
	}
	if j.oneDelegation(q.prepared.prepared, legs); j.refused() {
		return
	}
	var promised map[caip.Asset]*big.Int
	if t := j.promised(legs, caip.EVM(j.in.ChainID()), expires); t != nil {
		promised = j.promisedToCall(acc, t, q.prepared.prepared.signing.Hash())
		q.view.Promise = j.promise(legs, t, slices.Collect(maps.Keys(promised))...)
	}
	if j.refused() {
		return
	}
	j.value(w, legs, promised, q)
	for _, l := range legs {
		q.operations = append(q.operations, l.verified)
	}
}

// legs checks every operation that pays; each chain pays with one. It reports false when anything was refused.
func (j *judge) legs(acc account, w api.Quote, id [32]byte, expires int64) ([]leg, bool) {
	var legs []leg
	seen := map[caip.Chain]leg{}
	for i, entry := range w.OriginChainsOperations {
		var l leg
		var ok bool
		if entry.IsSolana() {
			l, ok = j.solanaLeg(entry, i, w.ID, expires)
		} else {
			l, ok = j.leg(acc, entry, i, id, expires)
		}
		if !ok {
			continue
		}
		if before, again := seen[l.asset.Chain]; again {
			code, title := "U3", "each chain pays with one operation, so that only one signature of its lane is open"
			if l.solana != nil || before.userOp.Nonce.Cmp(l.userOp.Nonce) == 0 {
				code, title = "Q3", "no operation appears twice"
			}
			j.must(false, code, title, operationPath(i), "one operation for each chain", l.asset.Chain.String())
		}
		seen[l.asset.Chain] = l
		legs = append(legs, l)
	}
	return legs, !j.refused()
}

// leg checks one funding operation (protocol §3.3): one approve of the exact amount and one deposit for this quote into
// the pinned escrow, or a native deposit.
func (j *judge) leg(acc account, w api.ChainOperation, i int, id [32]byte, expires int64) (leg, bool) {
	path := operationPath(i)
	asset, e, ok := j.legAsset(w, path)
	if !ok || !j.evmOnly(acc, w, path) {
		return leg{}, false
	}
	chainID, _ := asset.Chain.EVMID()
	l := leg{asset: asset, entity: e}
	d := j.in.Draft()
	r := role{name: j.fundingRole(), path: path, chainID: chainID, lane: op.LaneFunding,
		mayDeploy: chainID != j.in.ChainID(), until: seconds(d.ValidUntil)}
	if chainID == j.in.ChainID() {
		r.start = seconds(d.ValidAfter) // it runs in one transaction with the prepared operation
	}
	if l.operation, ok = j.operation(acc, w, r); !ok {
		return leg{}, false
	}
	v, err := parseAmount(w.Amount)
	if !j.must(err == nil && v.Sign() > 0, "Q5", "each payment has an amount", path+"/amount", "more than 0",
		w.Amount) {
		return leg{}, false
	}
	l.amount = v
	calls, ok := j.deposit(&l, id, expires)
	if !ok {
		return leg{}, false
	}
	l.verified, ok = j.rebuild(acc, l.operation, calls)
	l.verified.summary.Spend = []AmountView{j.amountView(asset, v)}
	return l, ok
}

// legAsset demands an asset that the user let pay (TH-Q6).
func (j *judge) legAsset(w api.ChainOperation, path string) (caip.Asset, entity, bool) {
	const title = "each payment is in the asset that you chose to pay with"
	asset, err := caip.ParseAsset(w.AssetType)
	known, ok := j.Catalog.Entity(asset)
	ok = ok && asset.Chain.IsSolana() == w.IsSolana()
	want := j.in.Funding()
	if !j.must(err == nil && ok && want != "", "Q6", title, path+"/assetType", want, w.AssetType) {
		return asset, entity{}, false
	}
	matches := known.Aggregate.String() == want
	if chosen, err := caip.ParseAsset(want); err == nil {
		matches = chosen == asset
	}
	return asset, entity{known.Decimals, j.Catalog.Price(asset)},
		j.must(matches, "Q6", title, path+"/assetType", want, w.AssetType)
}

// evmOnly: a payment of an EVM chain needs an EVM account, and carries nothing of a Solana operation (TH-L4).
func (j *judge) evmOnly(acc account, w api.ChainOperation, path string) bool {
	if !j.must(acc.kind != "", "Q3", "each payment is from one of your accounts", path, "an account of yours",
		"a payment on an EVM chain") {
		return false
	}
	mixed := w.Type != "" || w.Instructions != nil || w.RecentBlockHash != "" || w.FeePayer != "" ||
		w.DataToSign != "" || w.AddressLookupTableAddresses != nil
	return j.must(!mixed, "L4", "an EVM operation carries nothing of a Solana one", path,
		"a user operation and its typed data", "a message beside it")
}

// deposit compares the calls with those that pay into the escrow, and returns them built from checked values.
func (j *judge) deposit(l *leg, id [32]byte, expires int64) ([]op.Call, bool) {
	path := l.role.path + "/userOp/callData"
	calls, err := op.DecodeExecute(l.userOp.CallData)
	if err != nil {
		j.codec(err, "U5", "the payment is a plain batch of calls", l.role.path+"/userOp")
		return nil, false
	}
	if slices.ContainsFunc(calls, depositsWithoutTerms) {
		j.add(Refuse, "Q15", "This network's escrow lets its operator take what is paid into it.", path,
			"a deposit that names the terms under which it is released", "a deposit without terms")
		return nil, false
	}
	last := calls[len(calls)-1]
	got, terms, ok := escrow.DecodeDeposit(last.Data)
	// deposits into other escrows need a gate
	if !ok || last.To != j.Network.Pins.Escrow && !slices.Contains(j.Limits.Escrows, last.To) {
		return j.unknownTarget(l, id, calls, path)
	}
	j.pass("Q4", "each payment goes into a pinned escrow")
	j.must(got.QuoteID == id, "Q1", "each payment is bound to this quote's id", path, hex0x(id[:]),
		hex0x(got.QuoteID[:]))
	limit := uint64(expires) + uint64(j.MaxRefundDelay/time.Second)
	j.must(expires > 0 && got.RefundDeadline > uint64(expires) &&
		got.RefundDeadline <= limit, "Q5", "a payment that is not used comes back in time", path,
		"between the expiry and "+unixText(limit), unixText(got.RefundDeadline))
	j.must(got.RefundDeadline > terms.FillDeadline, "Q15", "nothing is delivered once a payment can be taken back",
		path, "a last delivery before "+unixText(got.RefundDeadline), unixText(terms.FillDeadline))
	l.deadline, l.escrow, l.terms = got.RefundDeadline, last.To, &terms
	want := depositCalls(last.To, id, l.asset, l.amount, got.RefundDeadline, terms)
	same := slices.EqualFunc(calls, want, sameCall)
	if !same {
		j.explainDeposit(l.role.chainID, calls, want, path)
		return nil, false
	}
	j.pass("Q5", "each payment takes the named amount and nothing else")
	again, err := op.EncodeExecute(want)
	return want, j.must(err == nil && bytes.Equal(again, l.userOp.CallData), "U6",
		"the call data is the one encoding of these calls", path, "a batch in canonical encoding", "")
}

// depositsWithoutTerms reports whether a call pays into an escrow of version 1, whose operator decides alone where the
// money goes.
func depositsWithoutTerms(c op.Call) bool {
	_, ok := escrow.DecodeEarlierDeposit(c.Data)
	return ok
}

// explainDeposit names the first call that is not the one that pays.
func (j *judge) explainDeposit(chainID uint64, calls, want []op.Call, path string) {
	at := 0
	for at < len(calls) && at < len(want) && sameCall(calls[at], want[at]) {
		at++
	}
	code, expected, got := "Q5", "nothing more", "nothing more"
	if at < len(want) {
		expected = j.describe(chainID, want[at])
	}
	if at < len(calls) {
		got = j.describe(chainID, calls[at])
		if grantsRights(calls[at].Data) {
			code = "U8"
		}
	}
	j.add(Refuse, code, "A payment contains a call that is not the deposit of the named amount.", path, expected, got)
}
