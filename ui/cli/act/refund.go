package act

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/networks"
	kept "coffer/api/op/escrow"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/reclaim"
)

// refundFlags are the flags of `coffer refund`.
type refundFlags struct {
	asJSON, show, yes bool
	rpc               []string
	keyFile           string
}

// Refund builds `coffer refund`.
func (c Commands) Refund(g *cli.Global) *cobra.Command {
	var o refundFlags
	cmd := &cobra.Command{
		Use:   "refund [QUOTE...]",
		Short: "Take payments back after their deadline, without the service",
		Long: `QUOTE is the id of a quote (0x...) that this wallet signed payments for; without one, the command takes
every quote that the service does not call COMPLETED. After the refund deadline anyone may send the refund call of a
payment for which nothing was delivered, from any account and without the service, and the payment goes to the account
that made it. The call moves nothing after a delivery or a refund. A payment on Solana has no such call: the service's
own account holds it.

--rpc names a node of the payment's chain; an embedded profile with rpc has its own. Coffer asks it whether the escrow
still holds the payment and whether the deadline has passed, shows that, and sends the call from a key that you type, or
that --key-file names. The key pays for gas and needs no account in this profile.

--print sends nothing. Without --rpc it reads the journal alone: chain, contract and call data, to paste into any wallet
or node, with no value.`,
		Example: `  coffer refund --print
  coffer refund --rpc https://node.example
  coffer refund --rpc http://127.0.0.1:8545/8453 --key-file payer.json --yes
  coffer refund --json | jq -r '.[] | select(.due and .serviceSays != "COMPLETED") | .data'`,
		Args: func(_ *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, func(a string) bool { return !reQuote.MatchString(a) }) {
				return usage("see `coffer history` and `coffer export`",
					"`coffer refund` takes ids of quotes: 0x and 64 digits")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.show, "print", false, "print the calls and send nothing")
	f.BoolVar(&o.asJSON, "json", false, "print a JSON list; without --rpc it sends nothing")
	f.StringArrayVar(&o.rpc, "rpc", nil, "a node of a payment's chain, as `URL`; may be given several times")
	f.StringVar(&o.keyFile, "key-file", "", "`FILE` with the key that pays for gas, - for standard input (default: "+
		"you type it)")
	f.BoolVar(&o.yes, "yes", false, "do not ask before sending")
	return c.works(g, cmd, func(cmd *cobra.Command, s *Session, args []string) error {
		for _, url := range o.rpc {
			if err := networks.CheckEndpoint(url); err != nil {
				return usage("", "--rpc: %s", err)
			}
		}
		return c.refund(cmd.Context(), s, args, o)
	})
}

// refundFact is a refund as JSON. State and Transaction are there where a node was asked.
type refundFact struct {
	QuoteID     string          `json:"quoteId"`
	Chain       string          `json:"chain"`
	To          string          `json:"to"`
	Data        string          `json:"data"`
	Value       string          `json:"value"`
	Depositor   string          `json:"depositor"`
	Pays        []journal.Spend `json:"pays,omitempty"`
	RefundAfter string          `json:"refundAfter,omitzero"`
	Due         bool            `json:"due"` // RefundAfter is past, or the node says so
	ServiceSays string          `json:"serviceSays,omitzero"`
	State       string          `json:"state,omitzero"`
	Transaction string          `json:"transaction,omitzero"`

	words string // what the chain says
	later bool   // it is held, and its deadline has not come
	blind bool   // no node could be asked
}

func (c Commands) refund(ctx context.Context, s *Session, quotes []string, o refundFlags) error {
	list, open, err := s.refunds(quotes)
	if err != nil {
		return err
	}
	if len(o.rpc) == 0 && !o.show && !o.asJSON {
		o.rpc = s.nodesOf(list[:open])
	}
	facts := make([]refundFact, len(list))
	for i, r := range list {
		facts[i] = refundFact{QuoteID: r.QuoteID, Chain: r.Chain, To: r.Escrow.Hex(), Data: hexutil.Encode(r.Data),
			Value: "0", Depositor: r.Depositor.Hex(), Pays: r.Pays, RefundAfter: at(r.After),
			Due: !r.After.IsZero() && c.Clock().After(r.After), ServiceSays: clean(r.Said)}
	}
	if len(o.rpc) > 0 && open > 0 {
		return c.refundOn(ctx, s, list[:open], facts[:open], o)
	}
	switch {
	case o.asJSON:
		return c.write(encode(facts))
	case o.show || open == 0:
		return c.write([]byte(s.refundPage(list, facts, open)))
	}
	return usage("or print the calls, for any wallet or node: coffer refund --print",
		"nothing was sent: name a node of the payment's chain with --rpc URL")
}

// nodesOf are the endpoints that the profile's own dashboard opens for the chains of payments.
func (s *Session) nodesOf(list []flow.Refund) (urls []string) {
	if s.RPC == "" {
		return nil
	}
	for _, chain := range refundChains(list) {
		urls = append(urls, fmt.Sprintf("http://%s/%d", s.RPC, chain))
	}
	return urls
}

func refundChains(list []flow.Refund) (chains []uint64) {
	for _, r := range list {
		if !slices.Contains(chains, r.ChainID) {
			chains = append(chains, r.ChainID)
		}
	}
	return chains
}

func (s *Session) refundPage(list []flow.Refund, facts []refundFact, open int) string {
	p := &page{}
	p.Line(present.Plural(open, "payment", "payments") + " that may be taken back")
	for i, r := range list {
		p.refund(s, r, facts[i], i < open)
	}
	return p.String()
}

// refundOn asks nodes about payments and sends the refunds that can be sent.
func (c Commands) refundOn(ctx context.Context, s *Session, list []flow.Refund, facts []refundFact,
	o refundFlags) error {
	nodes, err := reclaim.New(ctx, reclaim.Options{URLs: o.rpc, Chains: refundChains(list), Clock: c.Clock})
	if err != nil {
		return err
	}
	defer nodes.Close()
	var due []int
	for i, r := range list {
		if facts[i].look(ctx, s, nodes, r); facts[i].Due {
			due = append(due, i)
		}
	}
	text, told := []byte(s.refundPage(list, facts, len(list))), c.Out
	if !o.show && len(due) > 0 || o.asJSON {
		told = c.Err // the review; what is done follows on standard output
	}
	if _, err := told.Write(text); err != nil {
		return err
	}
	if !o.show && len(due) > 0 {
		err = c.sendRefunds(ctx, s, nodes, list, facts, due, o)
	}
	if o.asJSON {
		err = errors.Join(c.write(encode(facts)), err)
	}
	if err != nil || o.show {
		return err
	}
	return unsent(facts)
}

// unsent is the error of payments that can come back and did not.
func unsent(facts []refundFact) error {
	later, blind := 0, 0
	for _, f := range facts {
		if f.later {
			later++
		}
		if f.blind {
			blind++
		}
	}
	switch {
	case later > 0:
		return outcome(cli.ExitFailed, nil, "the refund deadline of %s has not come: send it after the time above",
			present.Plural(later, "payment", "payments"))
	case blind > 0:
		return outcome(cli.ExitFailed, nil, "no node said what became of %s",
			present.Plural(blind, "payment", "payments"))
	}
	return nil
}

// look asks a node about a payment.
func (f *refundFact) look(ctx context.Context, s *Session, nodes *reclaim.Nodes, r flow.Refund) {
	f.Due, f.State, f.later, f.blind = false, "unknown", false, false
	if !nodes.Has(r.ChainID) {
		f.words, f.blind = "not asked: no --rpc is a node of this chain", true
		return
	}
	k, err := nodes.Look(ctx, r)
	if err != nil {
		f.words, f.blind = "unknown: "+clean(err.Error()), true
		return
	}
	f.Due = k.Due
	if k.RefundDeadline > 0 && k.RefundDeadline <= math.MaxInt64 {
		r.After = time.Unix(int64(k.RefundDeadline), 0)
		f.RefundAfter = at(r.After)
	}
	switch {
	case k.Due:
		f.State, f.words = "held", "held, and past its deadline: it can be sent now"
	case k.State == kept.Held:
		f.State, f.later, f.words = "held", true, "held; the refund deadline has not come"
		if !r.After.IsZero() {
			f.words += ": it is " + stamp(r.After)
		}
	case k.State == kept.Released:
		f.State, f.words = "released", "released: it paid for what was delivered"
	case k.State == kept.Refunded:
		f.State, f.words = "refunded", "refunded already: it went back to "+s.namedOr(f.Depositor)
	case k.Known:
		f.State, f.words = "none", "nothing is held: this payment never reached the escrow"
	default:
		f.words = "nothing is held: it was released or refunded before, or never reached the escrow"
	}
}

// sendRefunds sends the calls that can be sent, after a confirmation.
func (c Commands) sendRefunds(ctx context.Context, s *Session, nodes *reclaim.Nodes, list []flow.Refund,
	facts []refundFact, due []int, o refundFlags) error {
	if !o.yes && !c.Terminal {
		return usage("give --yes", "this has to be confirmed, and there is no terminal to ask on; nothing was sent")
	}
	text, err := c.PayingKey(ctx, o.keyFile)
	if err != nil {
		return err
	}
	defer text.Wipe()
	key, err := crypto.ToECDSA(text.Reveal())
	if err != nil {
		return err
	}
	payer := crypto.PubkeyToAddress(key.PublicKey)
	bills, costs := make([]*reclaim.Bill, len(due)), &page{}
	for i, at := range due {
		if bills[i], err = nodes.Prepare(ctx, list[at], payer); err != nil {
			return fmt.Errorf("%w; nothing was sent", err)
		}
		costs.Row("gas", "at most "+present.Coins(s.Catalog, list[at].ChainID, bills[i].Cost)+" on "+
			s.chainName(list[at].Chain)+", paid by "+payer.Hex())
	}
	if _, err := io.WriteString(c.Err, costs.String()); err != nil {
		return err
	}
	if !o.yes {
		answer, err := c.Prompt.Line(ctx, "Type refund to send "+present.Plural(len(due), "call", "calls")+": ")
		if err == nil && !strings.EqualFold(answer, "refund") {
			err = usage("", "nothing was sent")
		}
		if err != nil {
			return err
		}
	}
	for i, at := range due {
		if err := c.sendRefund(ctx, s, nodes, bills[i], key, &facts[at], o.asJSON); err != nil {
			return err
		}
	}
	return nil
}

func (c Commands) sendRefund(ctx context.Context, s *Session, nodes *reclaim.Nodes, b *reclaim.Bill,
	key *ecdsa.PrivateKey, f *refundFact, quiet bool) error {
	hash, err := nodes.Send(ctx, b, key)
	var poor *reclaim.PoorError
	if errors.As(err, &poor) {
		return outcome(cli.ExitFailed, err, "%s has %s on %s and may need %s: send it coins, or take another key",
			poor.From.Hex(), present.Coins(s.Catalog, b.Refund.ChainID, poor.Has), s.chainName(f.Chain),
			present.Coins(s.Catalog, b.Refund.ChainID, poor.Cost))
	}
	if hash != (common.Hash{}) {
		f.Transaction = hash.Hex()
	}
	if err != nil && !errors.Is(err, reclaim.ErrReverted) {
		return err
	}
	f.look(ctx, s, nodes, b.Refund)
	switch {
	case err != nil && f.State != "refunded":
		return outcome(cli.ExitFailed, err, "quote %s: %s: %s", clean(f.QuoteID), err, f.words)
	case quiet:
		return nil
	}
	p := &page{}
	p.Row("refunded", s.paid(b.Refund)+" to "+s.namedOr(f.Depositor)+" on "+s.chainName(f.Chain))
	p.Sub("transaction", f.Transaction)
	if err != nil {
		p.Sub("note", "another call came first: this one cost gas and moved nothing")
	}
	return c.write([]byte(p.String()))
}

// refunds finds the payments of the quotes; without any those of every operation. The first so many are open: asked for
// by name, or not delivered even by what the service says.
func (s *Session) refunds(quotes []string) (out []flow.Refund, open int, err error) {
	b, err := s.Read()
	if err != nil {
		return nil, 0, err
	}
	var unsure []flow.Refund
	if b != nil {
		defer func() { _ = b.Close() }()
		for _, o := range b.Operations() {
			if len(quotes) > 0 || o.Outcome != api.StatusCompleted {
				out = append(out, flow.Refunds(s.Network, o)...)
			} else {
				unsure = append(unsure, flow.Refunds(s.Network, o)...)
			}
		}
	}
	if len(quotes) == 0 {
		return append(out, unsure...), len(out), nil
	}
	named := func(r flow.Refund) bool {
		return slices.ContainsFunc(quotes, func(q string) bool { return strings.EqualFold(q, r.QuoteID) })
	}
	for _, q := range quotes {
		if !slices.ContainsFunc(out, func(r flow.Refund) bool { return strings.EqualFold(q, r.QuoteID) }) {
			return nil, 0, usage("`coffer export` lists the operations",
				"this wallet sent no payment on an EVM chain for the quote %s", q)
		}
	}
	out = slices.DeleteFunc(out, func(r flow.Refund) bool { return !named(r) })
	return out, len(out), nil
}

// namedOr is an address with its name, where it has one.
func (s *Session) namedOr(address string) string {
	if name := s.nameOf(address); name != "" {
		return address + " (" + clean(name) + ")"
	}
	return address
}

// paid is what a payment was.
func (s *Session) paid(r flow.Refund) string {
	var paid []string
	for _, x := range r.Pays {
		paid = append(paid, present.Human(present.Base(s.Catalog, x.Asset, x.Amount)))
	}
	return strings.Join(paid, ", ")
}

// refund writes a call that takes a payment back; of one that the service calls delivered, how to get it.
func (p *page) refund(s *Session, r flow.Refund, f refundFact, open bool) {
	name := s.chainName(r.Chain)
	if name != r.Chain {
		name += " (" + r.Chain + ")"
	}
	p.Row("quote "+clean(r.QuoteID), s.paid(r))
	if !open {
		p.Sub("outcome", f.ServiceSays+", as the service says; whether the payment is still held is not known here")
		p.Sub("its call", "coffer refund --print "+clean(r.QuoteID))
		return
	}
	p.Sub("chain", name)
	p.Sub("contract", f.To)
	p.Sub("call data", f.Data)
	p.Sub("value", f.Value)
	p.Sub("goes to", f.Depositor)
	switch {
	case f.words != "":
		p.Sub("the node", f.words)
	case f.Due:
		p.Sub("since", stamp(r.After)+": it can be sent now")
	case r.After.IsZero():
		p.Sub("from", "a time that this wallet does not know")
	default:
		p.Sub("after", stamp(r.After)+": before that it does nothing")
	}
}
