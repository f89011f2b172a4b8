package verify

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/text"
)

// Simulation is what the person's own nodes of a chain run for a review, on a state that is thrown away: Steps in their
// order, as transactions that nobody signed. Coins are balances that it begins with, Code what the account has for code
// where an authorization that is signed beside the operation gives it some; nil: what it has.
type Simulation struct {
	Chain   uint64
	Account common.Address
	Steps   []SimulatedStep
	Coins   map[common.Address]*big.Int
	Code    []byte
}

// SimulatedStep is one call of a simulation. Op is the hash of the operation that it runs, with its exact call data
// from the address of the entry point; zero for what comes before the operations: a delivery to the account, or what
// Makes it.
type SimulatedStep struct {
	Op       common.Hash
	Makes    bool
	From, To common.Address
	Value    *big.Int
	Data     []byte
}

// Simulated is what the nodes answered, after one block: Runs stand beside Steps. There is whether the account has code
// at that block. Trouble says why there is nothing; "" otherwise.
type Simulated struct {
	Simulation
	Block   uint64
	At      time.Time
	There   bool
	Runs    []SimulatedRun
	Trouble string
}

// SimulatedRun is the outcome of a step. Revert is what it reverted with, Logs are its events; those of CoinLogs are
// moves of the chain's coin.
type SimulatedRun struct {
	OK     bool
	Revert []byte
	Logs   []SimulatedLog
}

// SimulatedLog is one event.
type SimulatedLog struct {
	Address common.Address
	Topics  []common.Hash
	Data    []byte
}

// CoinLogs is the address of which nodes write moves of the chain's coin as events.
var CoinLogs = common.HexToAddress("0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee")

// SimulationView is what operations on a chain do to the account's balances in the simulation of the person's own nodes
// after Block: per asset, what it loses and what it gets in the end. As tells that the review states the same.
type SimulationView struct {
	Chain ChainLabel
	Block uint64
	Out   []AmountView
	In    []AmountView
	As    bool
}

// The findings about simulations (TH-V11). Figures follow a colon.
const (
	SimFails   = "Simulated on your node, this fails: "
	SimDiffers = "Simulated on your node, this does something other than the review states: "
	SimNothing = "Your node could not simulate this: "
	SimAbsent  = "Your node sees no account here, so this would do nothing: "
)

// Simulations are what own nodes run before review 1: the operation as it will be signed. What a later payment is to
// bring is delivered first.
func (p *PreparedOp) Simulations(rules Policy) []Simulation {
	if p.view.WholeConsent {
		return rules.simulations([]Signing{p.signing}, nil)
	}
	return rules.simulations([]Signing{p.signing}, p.view.Requires)
}

// Simulations are what own nodes run before a quote is signed: each payment, and the call once more, with no more
// delivered to it than the minimum.
func (q *VerifiedQuote) Simulations(rules Policy) []Simulation {
	switch {
	case q.view.SameChainOnly:
		return nil // nothing is signed; review 1 said what happens
	case q.prepared == nil:
		return rules.simulations(q.operations, nil)
	}
	p := q.prepared.prepared
	brings := p.view.Requires
	if q.view.Promise != nil {
		brings = q.view.Promise.Minimums
	}
	return rules.simulations(append([]Signing{p.signing}, q.operations...), brings)
}

// simulations are the steps of operations by chain, with what is delivered to the account first.
func (p Policy) simulations(ops []Signing, brings []AmountView) (out []Simulation) {
	for _, o := range ops {
		if o.op.IsZero() {
			continue // on Solana
		}
		u := o.op.userOp
		i := slices.IndexFunc(out, func(s Simulation) bool { return s.Chain == o.op.chainID })
		if i < 0 {
			i = len(out)
			out = append(out, Simulation{Chain: o.op.chainID, Account: u.Sender, Coins: map[common.Address]*big.Int{}})
			out[i].bring(p.deliverer(), brings)
		}
		s := &out[i]
		if u.Factory != nil {
			s.Steps = append(s.Steps, SimulatedStep{Makes: true, From: o.op.entryPoint, To: *u.Factory,
				Data: u.FactoryData})
		}
		if !o.delegation.IsZero() {
			s.Code = append([]byte{0xef, 0x01, 0x00}, o.delegation.authorization.Address[:]...)
		}
		s.Steps = append(s.Steps, SimulatedStep{Op: o.op.opHash, From: o.op.entryPoint, To: u.Sender, Data: u.CallData})
	}
	return out
}

// bring adds what is delivered to the account on the chain.
func (s *Simulation) bring(by common.Address, brings []AmountView) {
	for _, b := range brings {
		token, is := b.Asset.Token()
		switch {
		case b.Asset.Chain != caip.EVM(s.Chain), b.Amount == nil, b.Amount.Sign() == 0:
		case is && !b.Asset.IsNative():
			s.Steps = append(s.Steps, SimulatedStep{From: by, To: token, Data: erc20.Transfer(s.Account, b.Amount)})
		default:
			s.Steps = append(s.Steps, SimulatedStep{From: by, To: s.Account, Value: b.Amount})
			s.Coins[by] = b.Amount
		}
	}
}

// deliverer is the contract or account out of whose inventory deliveries are made.
func (p Policy) deliverer() common.Address {
	if n := len(p.Network.Deployments); n > 0 {
		return p.Network.Deployments[n-1].Filler
	}
	return p.Network.Pins.Solver
}

// WithSimulations puts what own nodes saw happen into the report of Prepared. Without simulations nothing changes.
func (p *PreparedOp) WithSimulations(rules Policy, now time.Time, r Report, ran []Simulated) Report {
	out, seen := rules.simulated(now, r, p.Simulations(rules), ran, p)
	p.view.Simulated = seen
	return out
}

// WithSimulations is the same for what a quote signs.
func (q *VerifiedQuote) WithSimulations(rules Policy, now time.Time, r Report, ran []Simulated) Report {
	var call *PreparedOp
	if q.prepared != nil {
		call = q.prepared.prepared
	}
	out, seen := rules.simulated(now, r, q.Simulations(rules), ran, call)
	q.view.Simulated = seen
	return out
}

// simulated judges what nodes ran, as far as it is what was to be run. call is the prepared operation, nil for none.
func (p Policy) simulated(now time.Time, r Report, asked []Simulation, ran []Simulated, call *PreparedOp) (Report,
	[]SimulationView) {
	j := &judge{Policy: p, now: now, report: Report{Passed: slices.Clone(r.Passed), Reasons: slices.Clone(r.Reasons)}}
	var seen []SimulationView
	var blind []string
	for _, s := range ran {
		if !slices.ContainsFunc(asked, func(a Simulation) bool { return reflect.DeepEqual(a, s.Simulation) }) {
			continue
		}
		label := p.chainLabel(s.Chain)
		if why := j.unrun(s); why != "" {
			blind = append(blind, label.Name+": "+why)
			continue
		}
		if v, ok := j.ran(s, label, call); ok {
			seen = append(seen, v)
		}
	}
	if len(blind) > 0 {
		j.put(Reason{Code: "V11", Level: Unknown, Title: SimNothing + text.Few(blind, 3) + "."})
	}
	return j.report, seen
}

// unrun says why a simulation shows nothing; "" when it does.
func (j *judge) unrun(s Simulated) string {
	if why := j.unreadable(Sight{At: s.At, Trouble: s.Trouble}); why != "" {
		return why
	}
	if len(s.Runs) != len(s.Steps) {
		return "its answer has another form"
	}
	for i, step := range s.Steps {
		if step.Op == (common.Hash{}) && !s.Runs[i].OK {
			what := "what is to be delivered first cannot be: "
			if step.Makes {
				what = "the account cannot be made: "
			}
			return what + revertWords(s.Runs[i].Revert)
		}
	}
	return ""
}

// ran judges the operations of a simulation.
func (j *judge) ran(s Simulated, label ChainLabel, call *PreparedOp) (SimulationView, bool) {
	by := "simulated by your node after block " + strconv.FormatUint(s.Block, 10)
	if !s.There && s.Code == nil && !slices.ContainsFunc(s.Steps, func(x SimulatedStep) bool { return x.Makes }) {
		j.put(Reason{Code: "V11", Level: Warn, Title: SimAbsent + s.Account.Hex() + " on " + label.Name + "."})
		return SimulationView{}, false
	}
	v := SimulationView{Chain: label, Block: s.Block, As: true}
	total := moves{net: map[caip.Asset]*big.Int{}}
	for i, step := range s.Steps {
		if step.Op == (common.Hash{}) {
			continue
		}
		if !s.Runs[i].OK {
			j.put(Reason{Code: "V11", Level: Warn, Title: SimFails + revertWords(s.Runs[i].Revert) + ", on " +
				label.Name + ".", Got: by})
			return SimulationView{}, false
		}
		m := movesOf(s.Chain, s.Account, s.Runs[i].Logs)
		var there []allowance
		if call != nil && call.signing.op.opHash == step.Op {
			there = call.skipped
		}
		if wrong := j.differs(s, step, m, there); len(wrong) > 0 {
			v.As = false
			j.put(Reason{Code: "V11", Level: Warn, Title: SimDiffers + text.Few(wrong, 3) + ", on " + label.Name + ".",
				Got: by})
		}
		for _, a := range m.assets {
			total.add(a, m.net[a])
		}
	}
	for _, a := range total.assets {
		switch n := total.net[a]; n.Sign() {
		case -1:
			v.Out = append(v.Out, j.amountView(a, new(big.Int).Neg(n)))
		case 1:
			v.In = append(v.In, j.amountView(a, n))
		}
	}
	if v.As {
		j.pass("V11", "simulated on your nodes, this does what the review states")
	}
	return v, true
}

// moves is what events say of an account: what it gets of each asset in the end, negative for what it loses, what each
// recipient got of it, what spenders may take afterwards, and what moved that is no amount.
type moves struct {
	assets  []caip.Asset
	net     map[caip.Asset]*big.Int
	paid    map[payment]*big.Int
	allowed map[payment]*big.Int
	others  []otherMove
}

// otherMove is one of a collection's token.
type otherMove struct {
	of    common.Address
	words string
}

type payment struct {
	asset caip.Asset
	to    common.Address
}

func (m *moves) add(a caip.Asset, v *big.Int) {
	if m.net[a] == nil {
		m.net[a] = new(big.Int)
		m.assets = append(m.assets, a)
	}
	m.net[a].Add(m.net[a], v)
}

// The first topics of the events of tokens.
var (
	topicTransfer       = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
	topicApproval       = crypto.Keccak256Hash([]byte("Approval(address,address,uint256)"))
	topicApprovalForAll = crypto.Keccak256Hash([]byte("ApprovalForAll(address,address,bool)"))
)

// movesOf reads events.
func movesOf(chain uint64, account common.Address, logs []SimulatedLog) moves {
	m := moves{net: map[caip.Asset]*big.Int{}, paid: map[payment]*big.Int{}, allowed: map[payment]*big.Int{}}
	for _, l := range logs {
		if len(l.Topics) < 3 {
			continue
		}
		asset := caip.ERC20(chain, l.Address)
		if l.Address == CoinLogs {
			asset = caip.Native(chain)
		}
		from, to := common.BytesToAddress(l.Topics[1][:]), common.BytesToAddress(l.Topics[2][:])
		v, amount := new(big.Int).SetBytes(l.Data), len(l.Topics) == 3 && len(l.Data) == common.HashLength
		switch {
		case l.Topics[0] == topicTransfer && amount:
			if from == account && to != account {
				m.add(asset, new(big.Int).Neg(v))
				at := payment{asset, to}
				if m.paid[at] == nil {
					m.paid[at] = new(big.Int)
				}
				m.paid[at].Add(m.paid[at], v)
			}
			if to == account && from != account {
				m.add(asset, v)
			}
		case l.Topics[0] == topicApproval && amount && from == account:
			m.allowed[payment{asset, to}] = v
		case l.Topics[0] == topicApprovalForAll && amount && from == account && v.Sign() != 0:
			m.others = append(m.others, otherMove{l.Address,
				to.Hex() + " may take everything that you have of " + l.Address.Hex()})
		case l.Topics[0] == topicTransfer && len(l.Topics) == 4 && from == account && to != account:
			m.others = append(m.others, otherMove{l.Address,
				"token " + l.Topics[3].Big().String() + " of " + l.Address.Hex() + " goes to " + to.Hex()})
		}
	}
	return m
}

// differs compares what moved with what the calls of an operation say, which is what the review states of it: no more
// leaves than they send or let be taken, what they send arrives in full, and no one else may take more. there are
// declared allowances that they count on.
func (j *judge) differs(s Simulated, step SimulatedStep, m moves, there []allowance) (out []string) {
	calls, err := op.DecodeExecute(step.Data)
	if err != nil {
		return []string{"its calls cannot be read"} // refused before
	}
	var lines []line
	sent, allowed := map[payment]*big.Int{}, map[payment]*big.Int{}
	var order []payment
	send := func(a caip.Asset, to common.Address, v *big.Int) {
		if v == nil || v.Sign() == 0 || to == s.Account {
			return
		}
		at := payment{a, to}
		if sent[at] == nil {
			sent[at] = new(big.Int)
			order = append(order, at)
		}
		sent[at].Add(sent[at], v)
	}
	direct := map[common.Address]bool{}
	for _, c := range calls {
		lines, direct[c.To] = append(lines, line{call: c, role: RoleCall}), true
		send(caip.Native(s.Chain), c.To, c.Value)
		token := caip.ERC20(s.Chain, c.To)
		if to, v, ok := erc20.DecodeTransfer(c.Data); ok {
			send(token, to, v)
		} else if spender, v, ok := erc20.DecodeApprove(c.Data); ok {
			allowed[payment{token, spender}] = v
		} else if d, _, ok := escrow.DecodeDeposit(c.Data); ok && d.Token != (common.Address{}) {
			send(caip.ERC20(s.Chain, d.Token), c.To, d.Amount)
		}
	}
	for _, a := range there {
		lines = append(lines, line{call: op.Call{To: a.token, Data: erc20.Approve(a.spender, a.amount)}})
		allowed[payment{caip.ERC20(s.Chain, a.token), a.spender}] = a.amount
	}
	stated := j.outflow(s.Chain, s.Account, lines)
	for _, a := range m.assets {
		loses := new(big.Int).Neg(m.net[a])
		most := new(big.Int)
		if i := slices.IndexFunc(stated, func(x AmountView) bool { return x.Asset == a }); i >= 0 {
			most = stated[i].Amount
		}
		if loses.Cmp(most) > 0 {
			out = append(out, j.human(a, loses)+" leaves your account, not "+j.human(a, most))
		}
	}
	for _, at := range order {
		got := m.paid[at]
		if got == nil {
			got = new(big.Int)
		}
		if got.Cmp(sent[at]) < 0 {
			out = append(out, at.to.Hex()+" gets "+j.human(at.asset, got)+", not "+j.human(at.asset, sent[at]))
		}
	}
	var spenders []string
	for at, v := range m.allowed {
		if most := allowed[at]; v.Sign() > 0 && (most == nil || v.Cmp(most) > 0) {
			spenders = append(spenders, at.to.Hex()+" may take "+j.human(at.asset, v)+" afterwards")
		}
	}
	slices.Sort(spenders)
	out = append(out, spenders...)
	for _, x := range m.others {
		if !direct[x.of] { // a call to the collection itself is shown
			out = append(out, x.words)
		}
	}
	return out
}

// revertWords says why a call reverted, as its contract says it.
func revertWords(data []byte) string {
	if reason, err := abi.UnpackRevert(data); err == nil {
		return fmt.Sprintf("%q", text.Clean(reason, 120))
	}
	if len(data) >= 4 {
		return "error 0x" + hex.EncodeToString(data[:4])
	}
	return "no reason is given"
}
