package check

import (
	"cmp"
	"math/big"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Call is review 1: what the prepared operation does, decoded from the bytes that get signed.
type Call struct {
	Chain      string      `json:"chain"`
	ChainName  string      `json:"chainName"`
	Account    string      `json:"account"`
	Type       string      `json:"type"`
	Signer     string      `json:"signer"`
	Lines      []Line      `json:"lines"`
	Leaves     []Amount    `json:"leaves,omitempty"` // what can leave the account on the chain
	Requires   []Amount    `json:"requires,omitempty"`
	From       string      `json:"from,omitzero"`
	Until      string      `json:"until,omitzero"`
	CallType   string      `json:"callType"`
	Routing    string      `json:"routing"` // the call type in plain words
	Deploys    bool        `json:"deploys"`
	OnlyOne    bool        `json:"onlySignature"` // with this signature the calls can run
	Delegation *Delegation `json:"delegation,omitzero"`
	Slippage   int         `json:"slippageBps,omitzero"` // what the request allows where payments follow
	Network    string      `json:"network,omitzero"`
	Worst      []Amount    `json:"worst,omitempty"`   // by asset: what this signature alone can make leave
	Sources    []Amount    `json:"sources,omitempty"` // balances that the service says are usable; not checked
	Assumed    []string    `json:"assumed,omitempty"` // addresses on whose assumed state the calls were tried
	Signatures int         `json:"signatures"`        // that follow from confirming
}

// Line is one call inside the operation. Data is set when the call could not be decoded.
type Line struct {
	Index     int     `json:"index"`
	Role      string  `json:"role"`
	To        string  `json:"to"`
	ToName    string  `json:"toName,omitzero"`
	Value     string  `json:"value"` // wei
	Function  string  `json:"function,omitzero"`
	Args      []Arg   `json:"args,omitempty"`
	Data      string  `json:"data,omitzero"`
	Decoded   bool    `json:"decoded"`
	Moves     *Amount `json:"moves,omitzero"`
	Recipient string  `json:"recipient,omitzero"`
	Asked     int     `json:"asked,omitzero"`     // the call of the request, from 1
	AsAsked   bool    `json:"asAsked"`            // it equals that call, or was added for a declared allowance
	FirstTime bool    `json:"firstTime,omitzero"` // the recipient was never used before
}

// Arg is one decoded argument.
type Arg struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Delegation is an EIP-7702 authorization that is signed beside an operation.
type Delegation struct {
	Chain     string `json:"chain"`
	Authority string `json:"authority"`
	Contract  string `json:"contract"`
	Name      string `json:"name,omitzero"`
	Nonce     uint64 `json:"nonce"`
}

// Quote is review 2. CostBps is -1 when the cost is unknown. FeeSays is the service's claim.
type Quote struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	CallType string   `json:"callType,omitzero"`
	Routing  string   `json:"routing"`
	Expires  string   `json:"expires"`
	Legs     []Leg    `json:"legs,omitempty"`
	Promise  *Promise `json:"promise,omitzero"`
	Pays     []Amount `json:"pays,omitempty"`
	// all that can leave if every signature of the operation runs and nothing is delivered
	Worst     []Amount `json:"worst,omitempty"`
	Delivers  Amount   `json:"delivers"`
	Minimum   Amount   `json:"minimum"`
	Recipient string   `json:"recipient"`
	Own       bool     `json:"recipientIsOwn"`
	Fees      []Amount `json:"fees,omitempty"`
	FeeSays   string   `json:"feeSaysUSD,omitzero"`
	CostUSD   string   `json:"costUSD,omitzero"`
	CostBps   int      `json:"costBps"`
	AtMinimum int      `json:"costBpsAtMinimum"` // the cost if no more than the minimum arrives; the limits apply to it
	Slippage  int      `json:"slippageBps"`
	SameChain bool     `json:"sameChainOnly"`
	// values in USD, absent where one is unknown
	PayUSD         string `json:"payUSD,omitzero"`
	DeliversUSD    string `json:"deliversUSD,omitzero"`
	FeesUSD        string `json:"feesUSD,omitzero"`
	AtMinimumUSD   string `json:"costUSDAtMinimum,omitzero"`
	UnexplainedUSD string `json:"unexplainedUSD,omitzero"`
	Explained      bool   `json:"explained"` // the fees explain the cost
	Needs          []Need `json:"needs,omitempty"`
	FirstTime      bool   `json:"recipientFirstTime,omitzero"`
}

// Promise is what the payments on EVM chains are released for: the minimums arrive by FillBy, and for a call it runs.
// Threshold of the attesters say so; both are 0 when they are not known.
type Promise struct {
	Minimums  []Amount `json:"minimums,omitempty"`
	FillBy    string   `json:"fillBy"`
	Threshold int      `json:"threshold"`
	Attesters int      `json:"attesters"`
}

// Need is what the calls need of an asset on their chain, and what the service says is there; absent where it is
// unknown.
type Need struct {
	Amount Amount `json:"amount"`
	Have   string `json:"have,omitzero"`
	Short  string `json:"short,omitzero"`
}

// Leg is one payment.
type Leg struct {
	Chain       string      `json:"chain"`
	ChainName   string      `json:"chainName"`
	Type        string      `json:"type"`
	Pays        Amount      `json:"pays"`
	Escrow      string      `json:"escrow,omitzero"`
	RefundAfter string      `json:"refundAfter,omitzero"`
	Until       string      `json:"until,omitzero"`
	Deploys     bool        `json:"deploys"`
	Delegation  *Delegation `json:"delegation,omitzero"`
	Parts       []Part      `json:"parts,omitempty"`
	Solana      *Solana     `json:"solana,omitzero"`
	Nonce       string      `json:"nonce,omitzero"`
	Hash        string      `json:"hash,omitzero"` // userOpHash, or the SHA-256 of a Solana message
}

// Part is a part of a payment into a contract that is not pinned.
type Part struct {
	To       string `json:"to"`
	ToName   string `json:"toName,omitzero"`
	Pays     Amount `json:"pays"`
	ShareBps int    `json:"shareBps"`
	Approval bool   `json:"approval"`
}

// Solana is a Solana message.
type Solana struct {
	FeePayer     string        `json:"feePayer"`
	BlockHash    string        `json:"blockHash"`
	Memo         string        `json:"memo,omitzero"`
	Instructions []Instruction `json:"instructions"`
	// Fee and Rent are what a transfer that pays its recipient itself costs its sender.
	Fee  *Amount `json:"fee,omitzero"`
	Rent *Amount `json:"rent,omitzero"`
}

// Instruction is one instruction of a message.
type Instruction struct {
	Program     string `json:"program"`
	ProgramName string `json:"programName,omitzero"`
	Name        string `json:"name"`
	Args        []Arg  `json:"args,omitempty"`
}

func callOf(v verify.PreparedView, d intent.Draft) *Call {
	c := &Call{
		Chain: v.Chain.CAIP, ChainName: clean(v.Chain.Name), Account: v.Sender, Type: v.AccountType, Signer: v.Signer,
		Leaves: amountsOf(v.Outflow), Requires: amountsOf(v.Requires),
		From: at(v.Window.From), Until: at(v.Window.Until), CallType: clean(v.CallType),
		Routing: clean(v.CallTypeWords), Deploys: v.Deploys, OnlyOne: v.WholeConsent,
		Delegation: delegationOf(v.Delegation), Network: v.Network, Worst: amountsOf(v.Worst),
		Sources: amountsOf(v.Sources), Assumed: present.Assumed(d), Signatures: v.Signatures,
	}
	if !v.WholeConsent {
		c.Slippage = d.SlippageBps
	}
	for _, l := range v.Lines {
		c.Lines = append(c.Lines, lineOf(l))
	}
	return c
}

func lineOf(l verify.CallView) Line {
	out := Line{
		Index: l.Index, Role: l.Role, To: l.To, ToName: clean(l.ToName), Value: cmp.Or(known(l.Value), amount.Unknown),
		Function: clean(l.Function), Args: argsOf(l.Args), Decoded: l.Decoded,
		Recipient: l.Recipient, Asked: l.Asked, AsAsked: l.AsAsked, FirstTime: l.FirstTime,
	}
	if !l.Decoded {
		out.Data = inFull(l.Data)
	}
	if l.Amount != nil {
		a := amountOf(*l.Amount)
		out.Moves = &a
	}
	return out
}

// known writes base units, "" for an unknown amount.
func known(v *big.Int) string {
	if v == nil {
		return ""
	}
	return v.String()
}

func argsOf(list []verify.ArgView) []Arg {
	var out []Arg
	for _, a := range list {
		out = append(out, Arg{clean(a.Name), clean(a.Type), inFull(a.Value)})
	}
	return out
}

func delegationOf(d *verify.DelegationView) *Delegation {
	if d == nil {
		return nil
	}
	return &Delegation{Chain: d.Chain.CAIP, Authority: d.Authority, Contract: d.Contract, Name: clean(d.ContractName),
		Nonce: d.Nonce}
}

func quoteOf(v verify.QuoteView) *Quote {
	q := &Quote{
		ID: v.ID, Kind: v.Kind, CallType: clean(v.CallType), Routing: clean(v.CallTypeWords), Expires: at(v.Expires),
		Pays: amountsOf(v.Pay), Delivers: amountOf(v.Delivered),
		Minimum: amountOf(v.Minimum), Recipient: v.Recipient, Own: v.RecipientOwn, Fees: amountsOf(v.Fees),
		FeeSays: clean(v.FeeUSD), CostUSD: usd(v.CostMicro), CostBps: v.CostBps,
		AtMinimum: v.MinimumCostBps, Worst: amountsOf(v.Worst), Slippage: v.SlippageBps, SameChain: v.SameChainOnly,
		PayUSD: usd(v.PayMicro), DeliversUSD: usd(v.DeliverMicro), FeesUSD: usd(v.FeesMicro),
		AtMinimumUSD: usd(v.MinimumCostMicro), UnexplainedUSD: usd(v.UnexplainedMicro), Explained: v.Explained,
		FirstTime: v.RecipientFirstTime,
	}
	for _, n := range v.Needs {
		q.Needs = append(q.Needs, Need{amountOf(n.Need), known(n.Have), known(n.Short)})
	}
	for _, l := range v.Legs {
		q.Legs = append(q.Legs, legOf(l))
	}
	if x := v.Promise; x != nil {
		q.Promise = &Promise{amountsOf(x.Minimums), at(x.FillBy), x.Threshold, x.Attesters}
	}
	return q
}

func legOf(l verify.LegView) Leg {
	out := Leg{
		Chain: l.Pays.Asset.Chain.String(), ChainName: clean(l.Chain.Name), Type: l.AccountType, Pays: amountOf(l.Pays),
		Escrow: l.Escrow, RefundAfter: at(l.RefundAfter), Until: at(l.Until),
		Deploys: l.Deploys, Delegation: delegationOf(l.Delegation), Nonce: l.Nonce, Hash: l.OpHash,
	}
	for _, p := range l.Parts {
		out.Parts = append(out.Parts, Part{To: p.To, ToName: clean(p.ToName), Pays: amountOf(p.Amount),
			ShareBps: p.ShareBps, Approval: p.Approval})
	}
	if s := l.Solana; s != nil {
		out.Solana = &Solana{FeePayer: s.FeePayer, BlockHash: s.BlockHash, Memo: clean(s.Memo)}
		for _, i := range s.Instructions {
			out.Solana.Instructions = append(out.Solana.Instructions,
				Instruction{i.Program, clean(i.ProgramName), clean(i.Name), argsOf(i.Args)})
		}
		if own := s.Own; own != nil {
			out.Solana.Fee = new(amountOf(own.Fee))
			if own.Rent != nil {
				out.Solana.Rent = new(amountOf(*own.Rent))
			}
		}
	}
	return out
}
