package verify

import (
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/wallet/intent"
)

// The settings that open a gate. Each is off unless the user turned it on, and a sentence has to be typed for every
// signature behind one.
const (
	GateBlindSigning    = "blind-signing"     // an approval whose hash cannot be computed here (TH-T7)
	GatePaymaster       = "unknown-paymaster" // a sponsor of the gas that is not pinned (TH-U12)
	GateDelegationNonce = "delegation-nonce"  // a delegation with another nonce than the next (TH-D4)
	GateTarget          = "unknown-target"    // a payment into a contract that is not pinned (TH-Q4)
	GateOpenRepeat      = "open-repeat"       // an operation that repeats one that may still run (TH-J4)
)

// Limits are what the user's policy adds to the checks; the zero value adds nothing. Nil lists allow everything,
// amounts are micro USD at catalogue prices, nil means none. Gates names the settings that are on. The address lists at
// the end are pins beside those of the network.
type Limits struct {
	Chains     []caip.Chain
	Recipients []string // 0x addresses or base58
	Contracts  []common.Address

	MaxSpend, MaxSpendPerDay   *big.Int
	MaxSlippageBps, MaxCostBps int
	// AllowCostBps raises, on purpose, the cost above which every quote is refused; 0 leaves it as it is.
	AllowCostBps int
	// NoDayCap says that the user wants no daily cap. DefaultDayCap says that MaxSpendPerDay is this program's own and
	// not the user's.
	NoDayCap, DefaultDayCap bool
	NeverDelegate           bool
	Gates                   []string

	EntryPoints, Validators, Factories, Delegates, Paymasters, Escrows []common.Address
	Programs                                                           []solmsg.Key
}

// The daily caps in micro USD that hold where the user's policy names none. An embedded network has none: its money is
// play money.
const (
	labDayCap  = 5_000_000_000
	realDayCap = 100_000_000
)

// OrDefault is l with the daily cap of this program where l has none and does not ask for none: $5,000 on a lab and on
// test networks, $100 on a real network. An unknown kind of network counts as a real one.
func (l Limits) OrDefault(kind network.Kind) Limits {
	if l.MaxSpendPerDay != nil || l.NoDayCap || kind == network.Embedded {
		return l
	}
	l.MaxSpendPerDay, l.DefaultDayCap = big.NewInt(realDayCap), true
	if kind == network.Lab || kind == network.Test {
		l.MaxSpendPerDay = big.NewInt(labDayCap)
	}
	return l
}

// phrase is what a person types to sign in spite of an open gate; every setting has its own.
func phrase(setting string) string {
	switch setting {
	case GateBlindSigning:
		return "this signature can move everything in the account"
	case GatePaymaster:
		return "I trust this paymaster"
	case GateDelegationNonce:
		return "this delegation can be used later"
	case GateTarget:
		return "I trust this contract with the payment"
	case GateOpenRepeat:
		return "I may pay this twice"
	}
	return ""
}

// gate adds a reason that forbids a signature unless its setting is on, and reports whether it is. It stands on every
// report, however full, for its sentence; there are a few for each operation at most.
func (j *judge) gate(setting, code, title, path, want, got string) bool {
	open := slices.Contains(j.Limits.Gates, setting)
	j.put(Reason{Code: code, Level: Gate, Title: title, Path: path, Want: want, Got: got, Setting: setting, Open: open})
	return open
}

// preparedLimits applies the user's limits to a prepared call (rows Y1 to Y5, Y8), and notes in v what it counts.
func (j *judge) preparedLimits(lines []line, prep *PreparedOp) {
	d, v := j.in.Draft(), &prep.signing
	callType, needs := prep.callType, j.needs(j.in.Draft(), prep)
	j.blind()
	j.slippageLimit(d.SlippageBps)
	j.chainLimit(caip.EVM(j.in.ChainID()), "/chainOperation")
	own := j.ownAccounts(d)
	for _, l := range lines {
		j.recipientLimit(own, j.in.ChainID(), l)
		j.contractLimit(l.call.To.Hex(), len(l.call.Data) == 0, "/chainOperation/userOp/callData")
	}
	v.summary.Counts = j.counted(d, v.summary.Spend)
	prep.view.Worst = j.worst(*v)
	j.market(slices.Concat(v.summary.Counts, prep.view.Worst))
	if j.capsHold(j.in.ChainID(), lines) {
		expected := j.expectedPayments(callType, needs)
		j.spendLimit(slices.Concat(expected, prep.view.Worst))
		j.dayLimit(slices.Concat(expected, v.summary.Counts))
	}
}

// expectedPayments are what the payments of a prepared call will come to at least, if the balances that the service
// states are true. The caps would refuse a quote of them, so they refuse before the call is signed.
func (p Policy) expectedPayments(callType string, needs []NeedView) []AmountView {
	if callType == api.CallSameChainExcludeSolver {
		return nil
	}
	var out []AmountView
	for _, n := range needs {
		if n.Short != nil && n.Short.Sign() > 0 {
			out = append(out, p.amountView(n.Need.Asset, n.Short))
		}
	}
	return out
}

// quoteLimits applies the user's limits to a quote (rows Y1 to Y6, Y8), and notes in its operations what they count. It
// knows the accounts that receive because the view says whether the recipient is one of the user's own.
func (j *judge) quoteLimits(q *VerifiedQuote) {
	v := q.view
	j.blind()
	j.slippageLimit(v.SlippageBps)
	j.chainLimit(v.Delivered.Asset.Chain, "/destinationToken")
	if !v.RecipientOwn {
		j.mayReceive(nil, v.Recipient, "/destinationToken/recipientAccount")
	}
	for i, l := range v.Legs {
		j.chainLimit(l.Pays.Asset.Chain, operationPath(i))
		for _, x := range l.Parts {
			j.mayReceive(nil, x.To, operationPath(i)+"/userOp/callData")
			j.contractLimit(x.To, !x.Approval, operationPath(i)+"/userOp/callData")
		}
	}
	if limit := j.Limits.MaxCostBps; limit > 0 {
		got := "unknown"
		if v.MinimumCostBps >= 0 {
			got = percent(v.MinimumCostBps)
		}
		j.must(v.MinimumCostBps >= 0 && v.MinimumCostBps <= limit, "Y6", "the cost is within your policy", "/fees",
			"at most "+percent(limit)+" of the payment", got)
	}
	var counts []AmountView
	for i := range q.operations {
		q.operations[i].summary.Counts = q.operations[i].summary.Spend
		counts = append(counts, q.operations[i].summary.Spend...)
	}
	q.view.Worst = j.worst(q.signs()...)
	j.market(q.view.valued())
	j.spendLimit(q.view.Worst)
	j.dayLimit(counts) // the history holds the prepared operation, which is signed
}

// blind: what a limit compares was decoded from what is shown; behind the gate of blind signing something else may be
// signed, so no limit can hold.
func (j *judge) blind() {
	l := j.Limits
	limited := l.MaxSpend != nil || l.MaxSpendPerDay != nil || l.Recipients != nil || l.Contracts != nil ||
		l.Chains != nil
	blind := slices.ContainsFunc(j.report.Reasons, func(r Reason) bool { return r.Setting == GateBlindSigning })
	if limited && blind {
		j.must(false, "Y4", "the limits of your policy can be judged", "", "an approval that can be computed here",
			"blind signing")
	}
}

func (j *judge) slippageLimit(bps int) {
	if limit := j.Limits.MaxSlippageBps; limit > 0 {
		j.must(bps <= limit, "Y8", "your slippage tolerance is within your policy", "", "at most "+percent(limit),
			percent(bps))
	}
}

func (j *judge) chainLimit(c caip.Chain, path string) {
	if j.Limits.Chains != nil {
		j.must(slices.Contains(j.Limits.Chains, c), "Y1", "your policy allows the chain", path,
			"a chain of your policy", c.String())
	}
}

// ownAccounts are the addresses of the intent's accounts, which may always receive.
func (p Policy) ownAccounts(d intent.Draft) []string {
	var own []string
	for _, a := range d.Accounts {
		own = append(own, a.AccountAddress)
	}
	return own
}

// recipientLimit demands that everybody who gets something by a call, or the right to take it, is on the list. A call
// of which this program does not know who that is cannot pass (fail closed); the name that an intent gives a function
// decides nothing.
func (j *judge) recipientLimit(own []string, chainID uint64, l line) {
	const path = "/chainOperation/userOp/callData"
	if j.Limits.Recipients == nil {
		return
	}
	if len(l.call.Data) == 0 || l.call.Value.Sign() > 0 {
		j.mayReceive(own, l.call.To.Hex(), path)
	}
	if len(l.call.Data) == 0 {
		return
	}
	k, _ := decodeKnown(l.call.Data)
	if !j.must(k.moves != nil, "Y2", "everybody who receives something can be read", path, "transfers and approvals",
		j.describe(chainID, l.call)) {
		return
	}
	if k.moves.Sign() > 0 {
		j.mayReceive(own, k.recipient.Hex(), path)
	}
}

// mayReceive demands that an address is on the list of recipients, if there is one; own addresses always are.
func (j *judge) mayReceive(own []string, who, path string) {
	if j.Limits.Recipients != nil {
		j.must(listed(j.Limits.Recipients, who) || listed(own, who), "Y2", "your policy allows the recipient", path,
			"a recipient in your policy file", who)
	}
}

// contractLimit demands that the target of a call is on the list of contracts, if there is one. What only receives the
// native coin may be on the list of recipients instead.
func (j *judge) contractLimit(to string, plain bool, path string) {
	if j.Limits.Contracts == nil {
		return
	}
	ok := slices.Contains(j.Limits.Contracts, common.HexToAddress(to)) || (plain && listed(j.Limits.Recipients, to))
	j.must(ok, "Y3", "your policy allows the contract", path, "a contract of your policy", to)
}

// listed compares addresses by meaning: EVM addresses without case, base58 exactly.
func listed(list []string, who string) bool {
	return slices.ContainsFunc(list, func(s string) bool {
		if strings.HasPrefix(who, "0x") && strings.HasPrefix(s, "0x") {
			return common.HexToAddress(s) == common.HexToAddress(who)
		}
		return s == who
	})
}
