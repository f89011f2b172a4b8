// Package netstatus is what an operator sees of a network on nodes of others: the figures of `coffer network status`,
// of the metrics and of the alerts in the log, which all come from one Status.
//
// Promise: a figure that could not be read is nil and reads "unknown", never zero. An alert is logged once when it
// begins and once when it ends; while its figure is unknown it neither begins nor ends. Of an endpoint only its host
// appears.
//
// Units: amounts in base units of their asset, worth in micro-USD.
package netstatus

import (
	"fmt"
	"io"
	"math/big"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/text"
)

// Where a status comes from: the service at work, the database of one that does not run, or the chains alone.
const (
	FromService  = "service"
	FromDatabase = "database"
	FromChains   = "chains"
)

// Status is a network at a moment. What comes from the service's database is nil where that was not read.
type Status struct {
	Source    string          `json:"source"`
	At        time.Time       `json:"at"`
	Network   string          `json:"network"`
	Kind      string          `json:"kind"`
	Filler    common.Address  `json:"filler"`
	Key       *common.Address `json:"key"` // what the service sends as
	Chains    []Chain         `json:"chains"`
	Deposits  *Deposits       `json:"deposits"`
	Exposure  *Exposure       `json:"exposure"`
	Sponsored *Sponsored      `json:"sponsored"`
	Attesters *Attesters      `json:"attesters"` // as the service that runs knows them
	Prices    []Price         `json:"prices"`
	Alerts    []Alert         `json:"alerts"`
}

// Chain is one chain. Problem is why not all of it is known. Hot says whether the filler knows the service's key.
type Chain struct {
	ID        uint64     `json:"id"`
	Name      string     `json:"name"`
	Problem   string     `json:"problem,omitzero"`
	Block     *uint64    `json:"block"`
	Quorum    Quorum     `json:"quorum"`
	Endpoints []Endpoint `json:"endpoints"`
	Gas       *Gas       `json:"gas"`
	Hot       *bool      `json:"hot"`
	Paused    *bool      `json:"paused"`
	Lane      *Lane      `json:"lane"`
	Inventory []Holding  `json:"inventory"`
}

// Quorum says how many endpoints must agree, and whether they do; Why is what keeps them from it.
type Quorum struct {
	Need   int    `json:"need"`
	Agrees bool   `json:"agrees"`
	Why    string `json:"why,omitzero"`
}

// Endpoint is one as its pool knows it. Fault is what keeps it from working.
type Endpoint struct {
	Host      string `json:"host"`
	State     string `json:"state"`
	Fault     string `json:"fault,omitzero"`
	Disagreed uint64 `json:"disagreed"` // answers that a quorum outvoted
}

// Gas is what the service's key has for gas, and for about how many operations that is.
type Gas struct {
	Coin       string   `json:"coin"`
	Has        *big.Int `json:"has"`
	Operations uint64   `json:"operations"`
}

// Lane is what the service's key sends on a chain. Stopped is why it sends nothing until an operator decides, Held why
// it waits for an explanation. Sent is how many transactions it sent, Used how many of the key the chain has.
type Lane struct {
	Stopped string   `json:"stopped,omitzero"`
	Held    string   `json:"held,omitzero"`
	Sent    uint64   `json:"sent"`
	Used    *uint64  `json:"used"`
	Open    []string `json:"open"`
	Alerted bool     `json:"-"` // the lane has logged why it is held
}

// Holding is what the filler has of an asset. Capacity is how much may leave at once, Refill how much more each second,
// and Left what the cap leaves now. Promised is what accepted quotes will still take. Delivered and Deposited are what
// quotes of the last FlowDays delivered of it, and what they brought in.
type Holding struct {
	Asset     string   `json:"asset"`
	Aggregate string   `json:"aggregate"`
	Symbol    string   `json:"symbol"`
	Decimals  int      `json:"decimals"`
	Has       *big.Int `json:"has"`
	Left      *big.Int `json:"left"`
	Capacity  *big.Int `json:"capacity"`
	Refill    *big.Int `json:"refillPerSecond"`
	Promised  *big.Int `json:"promised"`
	Delivered *big.Int `json:"delivered"`
	Deposited *big.Int `json:"deposited"`
}

// FlowDays is of how many days deliveries and deposits are.
const FlowDays = 7

// Deposits are the payments that lie in escrow.
type Deposits struct {
	Held []Deposit `json:"held"`
}

// Deposit is one of them. After its deadline anyone may send it back. Delivered says that what it pays for was.
type Deposit struct {
	Quote     string    `json:"quote"`
	Chain     uint64    `json:"chain"`
	ChainName string    `json:"chainName"`
	Asset     string    `json:"asset"`
	Symbol    string    `json:"symbol"`
	Decimals  int       `json:"decimals"`
	Amount    *big.Int  `json:"amount"`
	Deadline  time.Time `json:"deadline"`
	Delivered bool      `json:"delivered"`
}

// Exposure is what is in escrows or on its way there, and how much may be. Used is nil where a price is missing.
type Exposure struct {
	Used *big.Int `json:"usedMicroUSD"`
	Cap  *big.Int `json:"capMicroUSD"`
	Why  string   `json:"why,omitzero"`
}

// Sponsored is what gas cost the operator in the last 24 hours that no one paid for, in sum and of the account that
// cost most; Cap is what one account may cost.
type Sponsored struct {
	Sum      *big.Int `json:"sumMicroUSD"`
	Most     *big.Int `json:"mostMicroUSD"`
	Accounts int      `json:"accounts"`
	Cap      *big.Int `json:"capMicroUSD"`
}

// Attesters are those who let deposits be released, and how many of them must sign.
type Attesters struct {
	Threshold int        `json:"threshold"`
	Members   []Attester `json:"members"`
}

// Attester is one. Here says that it is in the service, Answers that it counts, Answered when it last answered that is
// elsewhere. Fault is what was wrong the last time.
type Attester struct {
	Address  common.Address `json:"address"`
	Here     bool           `json:"here"`
	Answers  bool           `json:"answers"`
	Answered *time.Time     `json:"answered"`
	Fault    string         `json:"fault,omitzero"`
}

// answering counts those that count.
func (a *Attesters) answering() (n int) {
	for _, m := range a.Members {
		if m.Answers {
			n++
		}
	}
	return n
}

// Price is that of an asset of the inventory; nil with a Problem where there is none now.
type Price struct {
	Asset   string   `json:"asset"`
	Symbol  string   `json:"symbol"`
	Micro   *big.Int `json:"microUSD"`
	Problem string   `json:"problem,omitzero"`
}

// sources say in words where a status comes from.
var sources = map[string]string{
	FromService: "the service, which runs",
	FromDatabase: "the chains and the database of the service, which does not run: what it knows of deposits, " +
		"promises and lanes is as it left it",
	FromChains: "the chains alone: no service has run here, so deposits, promises and lanes are unknown",
}

func coins(v *big.Int, decimals int, symbol string) string {
	if v == nil {
		return amount.Unknown
	}
	return amount.Human(v, decimals) + " " + symbol
}

func dollars(micro *big.Int) string {
	if micro == nil {
		return amount.Unknown
	}
	return "$" + amount.USD2(micro)
}

// Print writes it for a person. What nodes said is in it, of which only printable characters pass.
func (s *Status) Print(out io.Writer) error {
	var page, clean strings.Builder
	if err := s.page(&page); err != nil {
		return err
	}
	for line := range strings.Lines(page.String()) {
		line = strings.TrimRight(line, " \n")
		clean.WriteString(text.Clean(line, max(1, len(line))) + "\n")
	}
	_, err := io.WriteString(out, clean.String())
	return err
}

func (s *Status) page(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	key := amount.Unknown
	if s.Key != nil {
		key = s.Key.Hex()
	}
	fmt.Fprintf(w, "from\t%s\nat\t%s\nfiller\t%s\nhot key\t%s\n", sources[s.Source],
		s.At.UTC().Format("2006-01-02 15:04:05Z"), s.Filler.Hex(), key)
	s.money(w)
	if err := s.attest(w); err != nil {
		return err
	}
	for _, c := range s.Chains {
		if err := c.print(out); err != nil {
			return err
		}
	}
	if err := s.deposits(out); err != nil {
		return err
	}
	if len(s.Alerts) == 0 {
		_, err := io.WriteString(out, "\nno alerts\n")
		return err
	}
	fmt.Fprintln(w, "\nalerts")
	for _, a := range s.Alerts {
		fmt.Fprintf(w, "  %s\t%s\n", a.Code, a.Text)
	}
	return w.Flush()
}

// money writes exposure, gas that no one paid for, and prices that are missing.
func (s *Status) money(w io.Writer) {
	exposure, sponsored := amount.Unknown, amount.Unknown
	if e := s.Exposure; e != nil {
		exposure = fmt.Sprintf("%s in escrow of at most %s", dollars(e.Used), dollars(e.Cap))
		if e.Why != "" {
			exposure += ": " + e.Why
		}
	}
	if g := s.Sponsored; g != nil {
		sponsored = fmt.Sprintf("%s in 24 hours, for %d accounts; the most for one is %s of %s", dollars(g.Sum),
			g.Accounts, dollars(g.Most), dollars(g.Cap))
	}
	fmt.Fprintf(w, "exposure\t%s\nsponsored gas\t%s\n", exposure, sponsored)
	for _, p := range s.Prices {
		if p.Micro == nil {
			fmt.Fprintf(w, "no price\t%s: %s\n", p.Symbol, p.Problem)
		}
	}
}

// attest writes who lets deposits be released, and ends the table.
func (s *Status) attest(w *tabwriter.Writer) error {
	a := s.Attesters
	if a == nil {
		fmt.Fprintf(w, "attesters\t%s\n", amount.Unknown)
		return w.Flush()
	}
	fmt.Fprintf(w, "attesters\t%d of %d answer, %d must sign\n", a.answering(), len(a.Members), a.Threshold)
	if err := w.Flush(); err != nil {
		return err
	}
	for _, m := range a.Members {
		state := "answers"
		switch {
		case m.Here && m.Answers:
			state = "in this service"
		case !m.Answers && m.Answered == nil:
			state = "has not answered"
		case !m.Answers:
			state = "gone since " + m.Answered.UTC().Format("15:04:05Z")
		}
		if m.Fault != "" {
			state += ": " + m.Fault
		}
		fmt.Fprintf(w, "  %s\t%s\n", m.Address.Hex(), state)
	}
	return w.Flush()
}

func (c Chain) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s (%d)\n", c.Name, c.ID)
	block := amount.Unknown
	if c.Block != nil {
		block = fmt.Sprint(*c.Block)
	}
	quorum := fmt.Sprintf("block %s; %d of %d must agree, and do", block, c.Quorum.Need, len(c.Endpoints))
	if !c.Quorum.Agrees {
		quorum = fmt.Sprintf("LOST: %d of %d must agree: %s", c.Quorum.Need, len(c.Endpoints), c.Quorum.Why)
	}
	fmt.Fprintf(w, "  quorum\t%s\n", quorum)
	for _, e := range c.Endpoints {
		said := e.State
		if e.Fault != "" {
			said += ": " + e.Fault
		}
		if e.Disagreed > 0 {
			said += fmt.Sprintf("; outvoted %d times", e.Disagreed)
		}
		fmt.Fprintf(w, "  %s\t%s\n", e.Host, said)
	}
	if c.Problem != "" {
		fmt.Fprintf(w, "  problem\t%s\n", c.Problem)
	}
	gas := amount.Unknown
	if g := c.Gas; g != nil {
		gas = fmt.Sprintf("%s, for about %d operations", coins(g.Has, 18, g.Coin), g.Operations)
	}
	fmt.Fprintf(w, "  gas\t%s\n  lane\t%s\n  filler\t%s\n", gas, c.Lane, c.filler())
	for _, h := range c.Inventory {
		fmt.Fprintf(w, "  %s\t%s\t%s\tpromised %s\n", h.Symbol, coins(h.Has, h.Decimals, h.Symbol), h.bucket(),
			coins(h.Promised, h.Decimals, h.Symbol))
	}
	return w.Flush()
}

// bucket says what the cap lets out.
func (h Holding) bucket() string {
	switch {
	case h.Capacity == nil || h.Left == nil || h.Refill == nil:
		return "cap " + amount.Unknown
	case h.Capacity.Sign() == 0:
		return "no cap: nothing may leave"
	}
	return fmt.Sprintf("cap lets out %s of %s, %s more each second", amount.Human(h.Left, h.Decimals),
		amount.Human(h.Capacity, h.Decimals), amount.Human(h.Refill, h.Decimals))
}

// filler says whether hot keys can use it.
func (c Chain) filler() string {
	if c.Hot == nil && c.Paused == nil {
		return amount.Unknown
	}
	word := func(v *bool, yes, no string) string {
		switch {
		case v == nil:
			return "hot key " + amount.Unknown
		case *v:
			return yes
		}
		return no
	}
	return word(c.Hot, "knows the hot key", "does NOT know the hot key") + ", " +
		word(c.Paused, "PAUSED", "not paused")
}

// String says what a lane does.
func (l *Lane) String() string {
	if l == nil {
		return amount.Unknown
	}
	used := amount.Unknown
	if l.Used != nil {
		used = fmt.Sprint(*l.Used)
	}
	state := "sends"
	switch {
	case l.Stopped != "":
		state = "STOPPED: " + l.Stopped
	case l.Held != "":
		state = "waits: " + l.Held
	}
	return fmt.Sprintf("%s; %d sent, %s in blocks, %d under way", state, l.Sent, used, len(l.Open))
}

// deposits writes what lies in escrow, with the time that is left.
func (s *Status) deposits(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	switch {
	case s.Deposits == nil:
		fmt.Fprintf(w, "\nin escrow\t%s\n", amount.Unknown)
	case len(s.Deposits.Held) == 0:
		fmt.Fprintf(w, "\nin escrow\tnothing\n")
	default:
		fmt.Fprintln(w, "\nin escrow\tchain\tamount\tdelivered\ttime to its deadline")
		for _, d := range s.Deposits.Held {
			delivered := "no"
			if d.Delivered {
				delivered = "yes"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.Quote, d.ChainName, coins(d.Amount, d.Decimals, d.Symbol),
				delivered, d.left(s.At))
		}
	}
	return w.Flush()
}

// least is the earliest deadline.
func (d *Deposits) least() (at time.Time, any bool) {
	for _, one := range d.Held {
		if !any || one.Deadline.Before(at) {
			at, any = one.Deadline, true
		}
	}
	return at, any
}

// left says how long it is to the deadline.
func (d Deposit) left(now time.Time) string {
	if now.After(d.Deadline) {
		return "past: anyone may send it back"
	}
	return strings.TrimSuffix(d.Deadline.Sub(now).Round(time.Minute).String(), "0s")
}
