package check

import (
	"errors"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/text"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// Result is everything that `coffer verify` found; it is what --json prints. Texts are cleaned, hashes and addresses
// are 0x hex or base58 in full, amounts are in base units with a readable form beside them.
type Result struct {
	Accepted bool     `json:"accepted"`
	Now      string   `json:"now"` // RFC 3339
	NowFrom  string   `json:"nowFrom"`
	Network  *Network `json:"network,omitzero"`
	Policy   string   `json:"policy,omitzero"` // file; "" for none
	Intent   *Intent  `json:"intent,omitzero"`
	Reasons  []Reason `json:"reasons,omitempty"` // about the files themselves, and what no file can show
	Reviews  []Review `json:"reviews,omitempty"`
}

// Network is the descriptor that the documents were judged with.
type Network struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Fingerprint string `json:"fingerprint"` // the id's first half, in groups
}

// Intent names the request.
type Intent struct {
	ID        string    `json:"id"`
	Hash      string    `json:"hash"`
	Kind      string    `json:"kind"`
	Interface string    `json:"interface"`
	Accounts  []Account `json:"accounts"`
}

// Account is one account of the intent with the keys behind it.
type Account struct {
	Type    string `json:"type"`
	Address string `json:"address"`
	Signer  string `json:"signer,omitzero"`
	Session string `json:"session,omitzero"`
	Admin   string `json:"admin,omitzero"`
}

// Review is the content of one document: the prepared call or a quote. Fingerprint is what the review screen shows;
// it, Call and Quote are absent when the document is refused.
type Review struct {
	Document    string      `json:"document"`
	Accepted    bool        `json:"accepted"`
	Fingerprint string      `json:"fingerprint,omitzero"`
	Phrase      string      `json:"phrase,omitzero"` // to be typed, because a gate is open
	Call        *Call       `json:"call,omitzero"`
	Quote       *Quote      `json:"quote,omitzero"`
	Operations  []Operation `json:"operations,omitempty"`
	Passed      []Passed    `json:"passed,omitempty"`
	Reasons     []Reason    `json:"reasons,omitempty"`
	Nodes       []Nodes     `json:"nodes,omitempty"` // what the person's own nodes see, by chain

	about present.Review // what text writes
}

// Of is a review as `coffer verify` and the commands that sign print it: the contents decoded from the bytes that get
// signed, and every check. Operations are left to the caller.
func Of(document string, about present.Review) Review {
	out := Review{Document: document, Accepted: !about.Report.Refused(), about: about}
	switch {
	case about.Quote != nil:
		v := about.Quote
		out.Fingerprint, out.Phrase, out.Quote = v.Fingerprint, v.Phrase, quoteOf(*v)
		out.Nodes = nodesOf(v.Seen, v.Simulated)
	case about.Call != nil:
		v := about.Call
		out.Fingerprint, out.Phrase, out.Call = v.Fingerprint, v.Phrase, callOf(*v, about.Intent)
		out.Nodes = nodesOf(v.Seen, v.Simulated)
	}
	for _, p := range about.Report.Passed {
		out.Passed = append(out.Passed, Passed{p.Code, clean(p.Title)})
	}
	for _, x := range about.Report.Reasons {
		out.Reasons = append(out.Reasons, reasonOf(x))
	}
	return out
}

// Nodes is what the person's own nodes of a chain saw of a review, or what they simulated: the balances that pay, and
// what leaves and arrives when the operations run. AsStated says that it is what the review states.
type Nodes struct {
	Chain     string   `json:"chain"`
	Block     uint64   `json:"block"`
	Simulated bool     `json:"simulated"`
	Has       []Amount `json:"has,omitempty"`
	Leaves    []Amount `json:"leaves,omitempty"`
	Arrives   []Amount `json:"arrives,omitempty"`
	AsStated  bool     `json:"asStated"`
}

func nodesOf(seen []verify.SeenView, simulated []verify.SimulationView) (out []Nodes) {
	for _, s := range seen {
		out = append(out, Nodes{Chain: s.Chain.CAIP, Block: s.Block, Has: amountsOf(s.Has), AsStated: s.As})
	}
	for _, s := range simulated {
		out = append(out, Nodes{Chain: s.Chain.CAIP, Block: s.Block, Simulated: true, Leaves: amountsOf(s.Out),
			Arrives: amountsOf(s.In), AsStated: s.As})
	}
	return out
}

// Prepared is Of for review 1, with the operation that gets signed.
func Prepared(document string, about present.Review) Review {
	out := Of(document, about)
	if v := about.Call; v != nil {
		out.Operations = []Operation{{
			Role: verify.RolePrepared, Type: v.AccountType, Chain: v.Chain.CAIP, Sender: v.Sender, Nonce: v.Nonce,
			Spends: amountsOf(v.Outflow), Hash: v.OpHash, Digest: v.Digest,
		}}
	}
	return out
}

// Passed is a check that passed.
type Passed struct {
	Code  string `json:"code"`
	Title string `json:"title"`
}

// Reason is a finding. Setting and Open belong to a gate.
type Reason struct {
	Code    string `json:"code"`
	Level   string `json:"level"`
	Title   string `json:"title"`
	Path    string `json:"path,omitzero"`
	Want    string `json:"want,omitzero"`
	Got     string `json:"got,omitzero"`
	Setting string `json:"setting,omitzero"`
	Open    bool   `json:"open,omitzero"`
}

// Operation is what gets signed. Hash is the userOpHash, or the SHA-256 of a Solana message; Digest is what the key
// signs.
type Operation struct {
	Role       string   `json:"role"`
	Type       string   `json:"type"`
	Chain      string   `json:"chain"`
	Sender     string   `json:"sender"`
	Nonce      string   `json:"nonce,omitzero"`
	BlockHash  string   `json:"blockHash,omitzero"`
	Spends     []Amount `json:"spends,omitempty"`
	Hash       string   `json:"hash"`
	Digest     string   `json:"digest"`
	Delegation string   `json:"delegationHash,omitzero"`
}

// Amount is an amount of an asset. Human is "unknown" and USD absent when the asset or its price is unknown.
type Amount struct {
	Asset  string `json:"asset"`
	Symbol string `json:"symbol,omitzero"`
	Amount string `json:"amount"`
	Human  string `json:"human"`
	USD    string `json:"usd,omitzero"`
}

// maxShown bounds a text of this program or of the intent, in characters; data in hex is longer and is shown in full.
const maxShown = 2000

func clean(s string) string { return text.Clean(s, maxShown) }

func inFull(s string) string { return text.Clean(s, len(s)) }

// unreadable is the reason for a document that is not what it should be.
func unreadable(title string, err error) Reason {
	code := "V5"
	var de *api.DocumentError
	if errors.As(err, &de) {
		code = de.Code
	}
	return Reason{Code: code, Level: string(verify.Refuse), Title: title, Got: clean(err.Error())}
}

func reasonOf(x verify.Reason) Reason {
	return Reason{
		Code: x.Code, Level: string(x.Level), Title: clean(x.Title), Path: clean(x.Path), Want: clean(x.Want),
		Got: clean(x.Got), Setting: x.Setting, Open: x.Open,
	}
}

// refuse adds a reason of this package.
func (r *Review) refuse(code, title string) {
	r.Accepted = false
	x := verify.Reason{Code: code, Level: verify.Refuse, Title: title}
	r.about.Report.Reasons = append(r.about.Report.Reasons, x)
	r.Reasons = append(r.Reasons, reasonOf(x))
}

func operationOf(d verify.Digests) Operation {
	s := d.Summary
	return Operation{
		Role: s.Role, Type: s.Kind, Chain: s.Chain, Sender: s.Sender, Nonce: s.Nonce, BlockHash: s.BlockHash,
		Spends: amountsOf(s.Spend),
		Hash:   d.Hash, Digest: d.Digest, Delegation: d.Delegation,
	}
}

func amountOf(a verify.AmountView) Amount {
	out := Amount{Asset: a.Asset.Display(), Symbol: clean(a.Symbol), Amount: amount.Unknown, Human: amount.Unknown}
	if a.Amount == nil {
		return out
	}
	out.Amount = a.Amount.String()
	if a.Decimals >= 0 {
		out.Human = amount.Human(a.Amount, a.Decimals)
	}
	out.USD = usd(a.Micro)
	return out
}

func amountsOf(list []verify.AmountView) []Amount {
	var out []Amount
	for _, a := range list {
		out = append(out, amountOf(a))
	}
	return out
}

func usd(micro *big.Int) string {
	if micro == nil {
		return ""
	}
	return amount.USD2(micro)
}

// at writes a time, "" for an unknown one.
func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// accountOf gives EVM addresses their checksum.
func accountOf(a api.Account) Account {
	show := func(s string) string {
		if v, err := caip.ParseAddress(s); err == nil {
			return v.Hex()
		}
		return clean(s)
	}
	return Account{Type: clean(a.Type), Address: show(a.AccountAddress), Signer: show(a.SignerAddress),
		Session: show(a.SessionAddress), Admin: show(a.AdminAddress)}
}
